"""Every control of the app's pages, and who may use it; what acts on others' things, and whether it asks."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import rnnviz.ui

UI = Path(rnnviz.ui.__file__ or "").parent

ACTS = {
    "button",
    "form_submit_button",
    "download_button",
    "link_button",
    "file_uploader",
    "mount",
    "switch_page",
}
"""Calls that draw what a reader can press or fill with files, or that take a browser's own messages."""

RUNS = {"start", "stop", "resume", "delete", "keep", "set_limit", "restore", "remove"}
GUARDED = {
    **{(module, name): "runs" for module in ("runs", "visitors") for name in RUNS},
    ("rooms", "open_for"): "rooms",
    ("rooms", "claim"): "rooms",
    ("modelfile", "copy"): "models",
}
"""Calls, and functions handed on, that write, delete, start or fetch: who makes them asks what is allowed."""


@cache
def _functions() -> dict[str, ast.FunctionDef]:
    """The functions of the app's pages, by module and name."""
    made = {}
    for path in sorted(UI.rglob("*.py")):
        module = ".".join(path.relative_to(UI).with_suffix("").parts)
        for node in ast.parse(path.read_text("utf-8")).body:
            for one in [node, *(node.body if isinstance(node, ast.ClassDef) else [])]:
                if isinstance(one, ast.FunctionDef):
                    made[f"{module}.{one.name}"] = one
    return made


def _controls(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            named = {word.arg for word in node.keywords}
            if node.func.attr in ACTS:
                yield node.func.attr
            elif named & {"on_click", "on_change"}:
                yield f"{node.func.attr}, which calls"


def found() -> set[str]:
    """Every control, as the function that draws it and its kind."""
    return {f"{name} {kind}" for name, function in _functions().items() for kind in _controls(function)}


def guarded() -> list[str]:
    """Functions that use one of GUARDED without asking who may."""
    careless = []
    for name, function in _functions().items():
        named = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        asks = named & {"permissions", "environment"}
        for node in ast.walk(function):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and (node.value.id, node.attr) in GUARDED
                and not asks
            ):
                careless.append(f"{name}: {node.value.id}.{node.attr}")
    return careless


EVERYBODY, FILES = "everybody, with what is theirs", "everybody, few and short"
LECTURER = "the lecturer alone"

CONTROLS: dict[str, str | tuple[str, ...]] = {
    "address.mount mount": EVERYBODY,
    "standalone.sharing.buttons link_button": EVERYBODY,
    "standalone.sharing.buttons button": EVERYBODY,
    "standalone.sharing.shown button": "everybody, where the app isn't hosted",
    "clear_data.button button": EVERYBODY,
    "jobs.progress._bar button": EVERYBODY,
    "jobs.progress._so_far button": EVERYBODY,
    "jobs.progress.offer button": EVERYBODY,
    "pages.explore.page._live mount": EVERYBODY,
    "dashboard.mount mount": EVERYBODY,
    "pages.inside.cause._rank mount": EVERYBODY,
    "pages.inside.unit_changes.show mount": EVERYBODY,
    "pages.inside.compare._continuations mount": EVERYBODY,
    "pages.inside.compare._show_letter mount": EVERYBODY,
    "pages.inside.compare._compared mount": EVERYBODY,
    "pages.inside.units._coloured mount": EVERYBODY,
    "pages.inside.match._show mount": EVERYBODY,
    "pages.inside.match.section mount": EVERYBODY,
    "pages.inside.memory._attribution mount": EVERYBODY,
    "pages.inside.memory._connectivity mount": EVERYBODY,
    "pages.inside.memory._how_far mount": EVERYBODY,
    "pages.inside.memory._mixed mount": EVERYBODY,
    "pages.inside.memory._opened mount": EVERYBODY,
    "pages.inside.page._text button": EVERYBODY,
    "pages.inside.parts.found button": EVERYBODY,
    "pages.inside.patch._place mount": EVERYBODY,
    "pages.inside.search_texts.pick file_uploader": FILES,
    "pages.inside.search_texts.propose button": EVERYBODY,
    "pages.inside.units._ask button": EVERYBODY,
    "pages.inside.units._card mount": EVERYBODY,
    "pages.inside.units._looked button": EVERYBODY,
    "pages.inside.units._said mount": EVERYBODY,
    "pages.learn.page._scene mount": "everybody, but no room",
    "pages.perplexity.model_comparison.show button": EVERYBODY,
    "pages.perplexity.answer._cut button": EVERYBODY,
    "pages.perplexity.answer._quotes button": EVERYBODY,
    "pages.perplexity.compression.show button": EVERYBODY,
    "pages.perplexity.encodings.picker selectbox, which calls": EVERYBODY,
    "pages.perplexity.answer._lead button": EVERYBODY,
    "pages.perplexity.surprise._viewer mount": EVERYBODY,
    "pages.perplexity.page.page button": EVERYBODY,
    "pages.perplexity.text_sources._scored pills, which calls": EVERYBODY,
    "pages.perplexity.text_sources._tabs tabs, which calls": EVERYBODY,
    "pages.perplexity.download.button download_button": LECTURER,
    "pages.perplexity.text_sources.chosen form_submit_button": FILES,
    "pages.perplexity.text_sources.fetched button": ("fetch", "fetch to train"),
    "pages.perplexity.uploads.files button": EVERYBODY,
    "pages.perplexity.uploads.files file_uploader": FILES,
    "pages.train.actions._explore button": ("keep", "keep a visitor's"),
    "pages.train.actions._explore switch_page": ("keep", "keep a visitor's"),
    "pages.train.actions._over button": ("delete", "delete a visitor's", "resume", "resume a visitor's"),
    "pages.train.actions._over download_button": LECTURER,
    "pages.train.actions._stopping button": ("stop", "stop a visitor's"),
    "pages.train.add_model.show button": ("bring",),
    "pages.train.add_model.show file_uploader": ("bring",),
    "pages.train.run_comparison.show button": LECTURER,
    "pages.train.listing.limit number_input, which calls": ("limit",),
    "pages.train.page.new button": "everybody, one small run",
    "pages.train.training_text._uploaded file_uploader": FILES,
    "pages.train.selected_run.choose_replay button": EVERYBODY,
    "pages.train.run_view._follow mount": EVERYBODY,
}
"""Who may use each control; names are those of actions in test_isolation.py, tried there."""
