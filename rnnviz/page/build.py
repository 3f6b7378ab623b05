"""The page: the live view of networks as static files, for any static host at any path.

    index.html               its policy; the opening's answer, packed: the first picture needs no network
    page.HASH.js, .css       the app's browser modules and an engine in JavaScript, joined; colours, fonts
    NAME.HASH.safetensors    a network's own file
    NAME.HASH.data           its rows' orders, its units' reach, and the tables of an n-gram model beside it
    NAME.LANGUAGE.HASH.json  its words, examples, named units and axes: `initial_data.fixed_part`
    texts.LANGUAGE.HASH.json what the part for whole texts says: `text_viewer.text_fixed`
    training.LANGUAGE.HASH.json  dials and words of the part that trains: `training_words.training_fixed`
    NAME.HASH.txt            a text to train on
    worker.HASH.js           what reads whole texts, and trains, beside the page
    LANGUAGE.HASH.opening    the answer with which the page begins in that language
    offline.js               the service worker: the page opens again without the network
    NOTICE.txt               licences: rnnviz's own, the fonts', and those of the networks' texts

Every file but three bears the digest of its content, so a browser that has it never asks again. `single_file`
has the same contents in one HTML file, which opens from a folder too: each file is a block of it, by name.
"""

import base64
import gzip
import hashlib
import html
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from rnnviz.arrays import Array, Arrays
from rnnviz.errors import ConfigError
from rnnviz.figures.live import quantities, scale
from rnnviz.i18n import _, language, speaking
from rnnviz.networks import checkpoint
from rnnviz.networks.config import Activation, span
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.page import CELLS, shown_units
from rnnviz.page.initial_data import (
    FIRST_MODELS,
    first_heat_map,
    fixed_part,
    live_words,
    opening_text,
    shared_colours,
)
from rnnviz.page.live_session import LiveAsk, LiveSession
from rnnviz.page.modules import PACKAGE, bundle, style_sheet
from rnnviz.page.payload import pack, unpack
from rnnviz.page.text_viewer import scale_css, text_fixed
from rnnviz.page.training_words import WATCHED, training_corpora, training_fixed
from rnnviz.sentences import LANGUAGES
from rnnviz.text.characters import NORMALISERS
from rnnviz.text.vocabulary import Vocabulary

PAGE_FOLDER = Path(__file__).parent
VIEW = "ui/pages/explore/static"
TEXT_VIEWER = "ui/pages/perplexity/static"
KIT = "ui/browser/static"

OFFLINE = "offline.js"
"""The service worker, whose address never changes."""

NOTICE = "NOTICE.txt"

MAX_TABLE_BYTES = 2 << 20
"""Bytes of an n-gram model's tables, at most; a larger model is left out of the page."""

# The network's own predictions: a page has no setting of the app's that could say otherwise.
START_TEMPERATURE = 1.0

# `default-src 'none'` covers connections: what is typed into a page can't leave it. Styles are inline, as
# the view brings its own. WebAssembly needs a word of its own, which allows no other evaluation.
_FOLDER_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src data: blob:; font-src 'self'; base-uri 'none'; "
    "form-action 'none'"
)
# One file: the script runs by its hash, and nothing is fetched from anywhere.
_FILE_POLICY = (
    "default-src 'none'; script-src '{hash}' 'wasm-unsafe-eval'; worker-src blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
)
_PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<meta name="generator" content="rnnviz">
<title>{title}</title>
<link rel="icon" href="data:,">
{style}
{script}
</head>
<body data-failed="{failed}">
<noscript>{noscript}</noscript>
<header class="choices" hidden>
<b>rnnviz</b>
<select class="networks"></select>
<nav>
<button type="button" class="look"></button>
<button type="button" class="texts"></button>
<button type="button" class="train"></button>
</nav>
<p class="note"></p>
<a class="documentation" hidden></a>
<button type="button" class="language"></button>
<input type="file" class="file" accept=".safetensors" hidden>
<p class="alert" role="alert" hidden></p>
</header>
<progress class="reading" hidden aria-label="{reading}"></progress>
<section class="training" id="training" hidden></section>
<main class="view">{about}</main>
<main class="texts" id="texts" hidden></main>
{blocks}
</body>
</html>
"""


def networks() -> list[checkpoint.ModelInfo]:
    """The networks on this machine that a page can show: those that ship, and the user's own."""
    return [info for info in checkpoint.available()[0] if info.kind in CELLS]


def check_network(info: checkpoint.ModelInfo) -> NumpyModel:
    """The network of a file. Raises ConfigError for an n-gram model and for a cell not in CELLS,
    CheckpointError for a damaged file.
    """
    model = checkpoint.load_numpy(info.path)
    if not isinstance(model, NumpyModel):
        raise ConfigError("a page shows networks; received the n-gram model {name}", name=model.name)
    if model.config.cell not in CELLS:
        raise ConfigError(
            "a page can show networks of these cells: {cells}; the cell of {name} is {cell}",
            cells=", ".join(CELLS),
            name=model.name,
            cell=model.config.cell,
        )
    return model


def network_header(
    model: NumpyModel, ngram_model: NgramModel | None, choosable_models: Sequence[checkpoint.ModelInfo] = ()
) -> dict[str, Any]:
    """A network's part of the page besides arrays, in the session's language (PageModel in types.d.ts).

    ngram_model       the n-gram model beside it, if its tables fit: see `table_arrays`
    choosable_models  the networks of the page
    """
    fixed, digest = fixed_part(model, ngram_model, START_TEMPERATURE, choosable_models)
    fixed["suggests"] = False  # no server searches for a network that reads a text better
    fixed["words"] |= page_words()
    fixed["notes"] = {info.path.stem: shown_units.followed_targets(info.card) for info in choosable_models}
    del fixed["themes"]  # the colours are the script's, the same for all networks
    return {
        "fixed": fixed,
        "digest": digest,
        "opening": opening_text(model),
        "config": model.config.to_json() | ({"end": model.vocabulary.end} if model.vocabulary.ends else {}),
        "normaliser": NORMALISERS[model.normaliser],
        "unknownCost": model.vocabulary.unknown_cost,
    }


def page_words() -> dict[str, str]:
    """The page's own words, and those of the live view that say something else here."""
    return {
        "limit.link": "",  # these link to pages of the app
        "step.link": "",
        "step.weighted.link": "",
        "waiting": _("The page is still reading the network or the text."),
        "page.network": _("Network"),
        "page.look": _("Look inside"),
        "page.texts": _("Perplexity of a text"),
        "page.train": _("Train"),
        "page.documentation": _("What is this?"),
        "page.own": _("Your own file …"),
        "page.missing": _("{name} could not be loaded ({error}). Check the connection, and choose it again."),
        "page.damaged": _("The text in the address is damaged or too long; ask for the address again."),
        "file.refused": _("{file} can't be shown: {reason}"),
        "file.large": _("it has {n} bytes, and the page reads at most {most}."),
        "file.cut": _("it is cut off after {n} bytes. Copy or download it again."),
        "file.none": _("it is not a safetensors file."),
        "file.foreign": _("it is a safetensors file, but rnnviz didn't write it."),
        "file.size": _(
            "its size isn't the one that its header gives: it has {n} bytes. Copy or download it again."
        ),
        "file.damaged": _("its description is damaged or incomplete. Copy or download it again."),
        "file.newer": _("it has format {n}, which needs a newer version."),
        "file.ngram": _("it is an n-gram model; the page shows networks."),
        "file.cell": _("its cell is {cell}; the page shows {cells}."),
        "file.shape": _("tensor {name} should have shape {expected} and has {received}."),
        "file.type": _("its weights are of type {type}; the page reads float32 and float16."),
        "file.infinite": _("tensor {name} has values that are not finite."),
        "file.unnamed": _("Its units have no names here: the app can find some in a text."),
    }


def network_arrays(model: NumpyModel, ngram_model: NgramModel | None) -> Arrays:
    """The rows' orders, the units' reach, and the tables of `ngram_model` if they fit."""
    return {**table_arrays(ngram_model, model.vocabulary), **order_arrays(model)}


def table_arrays(model: NgramModel | None, vocabulary: Vocabulary) -> Mapping[str, Array]:
    """Every level's arrays, see ngram.js; {} if they exceed MAX_TABLE_BYTES or if the vocabulary differs."""
    arrays: Arrays = {}
    if model is None or model.vocabulary != vocabulary:
        return arrays
    for k, level in enumerate(model.levels):
        # A key numbers a sequence of characters; JavaScript's Uint32Array holds none that is larger.
        if level.keys[:-1].max(initial=0) >= 2**32:  # the last key is a sentinel, larger than any other
            return {}
        arrays[f"level:{k}.keys"] = level.keys.astype("<u4")
        arrays[f"level:{k}.share"] = level.share.astype("<f4")
        arrays[f"level:{k}.backoff"] = level.backoff.astype("<f4")
    return arrays if sum(array.nbytes for array in arrays.values()) <= MAX_TABLE_BYTES else {}


def order_arrays(model: NumpyModel) -> Arrays:
    named_units = shown_units.named_units(model)
    orders: Arrays = {
        f"rows:{order},{layer},{quantity}": shown_units.unit_order(
            model, order, layer, quantity, shown_units.named_among(named_units, quantity, layer)
        ).astype("<u2")
        for order in shown_units.ORDERS
        if order != "index"
        for layer in range(model.config.layers)
        for quantity in quantities(model.config.cell)
    }
    for name, values in shown_units.unit_reach(model).items():
        orders[f"reach:{name}"] = values
        rows = [
            np.append(finding.weighted.weights, [finding.bias, finding.layer])
            for finding in shown_units.weighted_sums(model, name)
            if finding.weighted is not None
        ]
        if rows:
            orders[f"sums:{name}"] = np.array(rows, "<f4")
    return orders


def opening_answer(model: NumpyModel, ngram_model: NgramModel | None, header: Mapping[str, Any]) -> bytes:
    """The first answer to a reader of the page."""
    fixed, text = (header["fixed"], header["digest"]), header["opening"]
    session = LiveSession(model, ngram_model, temperature=START_TEMPERATURE, fixed=fixed)
    ask = LiveAsk(**first_heat_map(shown_units.named_units(model)), text=text, fresh=True)
    return visible_answer(session, ask, text=text, offer=1, opening=text)


def visible_answer(session: LiveSession, ask: LiveAsk, /, **extra: Any) -> bytes:
    """A session's first answer, of the rows that the heat map begins with, and of the symbols in its
    predictions alone: of a Chinese network's 4,500 these are a few dozen. A later answer has all others.
    """
    answer, arrays = unpack(session.answer(ask, **extra))
    answer["revision"] = 1  # the session may have answered others: what is sent is the same for all
    fixed = answer["fixed"]
    listed = set(arrays["next"].ravel().tolist())
    fixed["symbols"] = [c if n in listed else "" for n, c in enumerate(fixed["symbols"], start=1)]
    if ask.order != "steady":  # all rows are visible
        return pack(answer, arrays)
    # A reader sees the named and the steadiest units. What is the same in all others packs into nothing: so
    # the answer of 384 units takes some 5 kB, and the page opens before the network has come.
    hidden = arrays["unitOfRow"][fixed["steadyUnits"] + len(fixed["named"]) :]
    states = arrays["states"].copy()
    states[:, hidden] = states.dtype.type(0)
    for sides in fixed["reach"].values():
        for layers in sides:
            for layer, reach in enumerate(layers):
                visible = set(range(len(reach))) - set(hidden.tolist()) if layer == answer["layer"] else set()
                layers[layer] = [
                    round(value, 3) if unit in visible else 0 for unit, value in enumerate(reach)
                ]
    # Nobody sees more digits before the next answer comes, and fewer pack into less. The bars, of the last
    # prediction, show a few more.
    rounded = {name: arrays[name].round(4) for name in ("nll", "chances", "entropy")}
    rounded["chances"][-1] = arrays["chances"][-1].round(6)
    return pack(answer, {**arrays, **rounded, "states": states})


# ---- the folder ----


@dataclass
class Files:
    """The files of a page, by name. `add` puts the digest of a file's content into its name."""

    contents: dict[str, bytes] = field(default_factory=dict)

    def add(self, stem: str, suffix: str, content: bytes) -> str:
        """The name of a file `stem` of that content."""
        name = f"{stem}.{hashlib.sha256(content).hexdigest()[:12]}{suffix}"
        self.contents[name] = content
        return name


def folder_files(
    infos: Sequence[checkpoint.ModelInfo], *, first: str = "", documentation: str = ""
) -> dict[str, bytes]:
    """The files of the page of these networks, by name; the languages are all of LANGUAGES.

    first          the network that the page begins with; "": the one of FIRST_MODELS
    documentation  the address of a page that explains, to which this one links; "" for none

    Raises as `check_network` does, and ConfigError for none, or for two of one name.
    """
    files = Files()
    index = add_contents(files, infos, list(LANGUAGES), first)
    index |= {"offline": OFFLINE, "documentation": documentation}
    style = files.add("page", ".css", (font_css(partial(_add_font, files)) + _style()).encode())
    script = files.add("page", ".js", page_script().encode())
    # Without a digest in its name: this is the address that people know.
    files.contents["index.html"] = _html(
        index,
        policy=_FOLDER_POLICY,
        style=f'<link rel="stylesheet" href="{style}">',
        script=f'<script type="module" src="{script}"></script>',
        # In English: a Chinese reader's page fetches its own opening, as early as the script.
        blocks={index["openings"][language()]: files.contents[index["openings"][language()]]},
    ).encode()
    # A first visit puts these into the cache, some 8 MB; other networks follow when they are chosen.
    opened = index["networks"][index["first"][language()]]
    at_once = [style, script, *index["openings"].values(), opened["weights"], opened["data"]]
    at_once += opened["fixed"].values()
    files.contents[OFFLINE] = _offline_script(at_once, sorted(files.contents)).encode()
    files.contents[NOTICE] = notice().encode()
    return files.contents


def add_contents(
    files: Files, infos: Sequence[checkpoint.ModelInfo], languages: Sequence[str], first: str = ""
) -> dict[str, Any]:
    """Add the files of networks; returns the page's index (types.d.ts: Index)."""
    if not infos:
        raise ConfigError("a page shows at least one network; received none")
    names = [info.path.stem for info in infos]
    if len(set(names)) < len(names):
        raise ConfigError(
            "two networks of a page have the same name; received {names}", names=", ".join(names)
        )
    # By name, as an address chooses one by it: the app's do too, so that a link leads from one to the other.
    networks: dict[str, Any] = {}
    openings: dict[str, str] = {}
    first_models = {
        spoken: first or (FIRST_MODELS[spoken] if FIRST_MODELS[spoken] in names else names[0])
        for spoken in languages
    }
    for info in infos:
        model = check_network(info)
        ngram_model = checkpoint.load_ngram_model(info.card)
        ngram_model = ngram_model if table_arrays(ngram_model, model.vocabulary) else None
        fixed = {}
        for spoken in languages:
            with speaking(spoken):
                header = network_header(model, ngram_model, infos)
                fixed[spoken] = files.add(f"{info.path.stem}.{spoken}", ".json", _json(header))
                if first_models[spoken] == info.path.stem:
                    answer = gzip.compress(opening_answer(model, ngram_model, header), 9, mtime=0)
                    openings[spoken] = files.add(spoken, ".opening", answer)
        networks[info.path.stem] = {
            "weights": files.add(info.path.stem, ".safetensors", info.path.read_bytes()),
            "data": files.add(info.path.stem, ".data", pack({}, network_arrays(model, ngram_model))),
            "fixed": fixed,
        }
    texts = {}
    for spoken in languages:
        with speaking(spoken):
            texts[spoken] = files.add(f"texts.{spoken}", ".json", _json(text_fixed()))
    training = {}
    for spoken in languages:
        with speaking(spoken):
            training[spoken] = files.add(f"training.{spoken}", ".json", _json(training_fixed()))
    worker = files.add("worker", ".js", worker_script().encode())
    return {
        "first": first_models,
        "networks": networks,
        "successors": {old: new for old, new in checkpoint.SUCCESSORS.items() if new in networks},
        "openings": openings,
        "texts": texts,
        "training": training,
        "corpora": {
            corpus.name: {
                "file": files.add(corpus.name, ".txt", corpus.text.encode()),
                "watched": WATCHED[corpus.name],
                **{name: getattr(corpus, name) for name in ("name", "title", "licence", "language", "ends")},
            }
            for corpus in training_corpora()
        },
        "worker": worker,
    }


def _offline_script(at_once: Sequence[str], every: Sequence[str]) -> str:
    source = (PAGE_FOLDER / OFFLINE).read_text("utf-8")
    return f"const AT_ONCE = {json.dumps(list(at_once))};\nconst FILES = {json.dumps(list(every))};\n{source}"


# ---- one file ----


def single_file(info: checkpoint.ModelInfo) -> str:
    """The page of one network as one HTML file, in the session's language. Raises as `check_network` does."""
    files = Files()
    index = add_contents(files, [info], [language()])
    blocks = {
        name: content if name.endswith(".opening") else _gzipped(content)
        for name, content in files.contents.items()
    }
    script = page_script()
    # The hash must be of the very bytes between <script> and </script>, or the browser runs nothing.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = _html(
        index,
        policy=_FILE_POLICY.format(hash=f"sha256-{digest}"),
        style=f"<style>{font_css(_embedded_font)}{_style()}</style>",
        script=f'<script type="module">{script}</script>',
        blocks=blocks,
        title=f"{info.name} · rnnviz",
    )
    return f"{page}<!--\n{notice()}-->\n"


@lru_cache(maxsize=16)  # the same network stands in several pages
def _gzipped(content: bytes) -> bytes:
    return gzip.compress(content, 9, mtime=0)


# ---- both ----


def _html(
    index: Mapping[str, Any],
    *,
    policy: str,
    style: str,
    script: str,
    blocks: Mapping[str, bytes],
    title: str = "rnnviz",
) -> str:
    """The HTML of a page with packed files in it: `blocks` has them by name, compressed by gzip."""
    # Base64 adds a third, but survives every editor, mail program and encoding that a file may pass through.
    packed = [
        f'<script type="text/plain" id="{html.escape(name)}">{base64.b64encode(content).decode()}</script>'
        for name, content in blocks.items()
    ]
    listing = _json(index).decode().replace("<", "\\u003c")
    return _PAGE.format(
        language=language(),
        policy=policy,
        title=html.escape(title),
        style=style,
        script=script,
        failed=_("The page has stopped; load it again."),
        noscript=_("This page needs JavaScript."),
        reading=_("Reading"),
        about="\n".join(map(_first_words, index["openings"])),
        blocks="\n".join([f'<script type="application/json" id="index">{listing}</script>', *packed]),
    )


def _first_words(code: str) -> str:
    """What is to be read until the script runs, seconds on a phone, in a language. Only the script knows the
    reader's, so the page has these words in all of its own.
    """
    with speaking(code):
        wait = _("One moment … If nothing else appears here, open this page in a browser from 2023 or later.")
        return f'<p lang="{code}">{html.escape(live_words()["intro"])}</p><p lang="{code}">{wait}</p>'


def page_look() -> dict[str, Any]:
    """What the page's script has beside its modules (types.d.ts: Look)."""
    return {
        "markup": (PACKAGE / VIEW / "view.html").read_text("utf-8"),
        "styles": style_sheet(f"{KIT}/shared.css", f"{VIEW}/view.css"),
        "texts": {
            "markup": (PAGE_FOLDER / "text_page.html").read_text("utf-8"),
            "viewer": {
                "markup": (PACKAGE / TEXT_VIEWER / "view.html").read_text("utf-8"),
                "styles": style_sheet(f"{KIT}/shared.css", f"{TEXT_VIEWER}/view.css"),
            },
        },
        "training": (PAGE_FOLDER / "training_page.html").read_text("utf-8"),
        "colours": shared_colours(),
        "normalisers": NORMALISERS,
        "scales": {
            cell: {
                activation: {name: asdict(scale(name, span(cell, activation))) for name in quantities(cell)}
                for activation in get_args(Activation)
            }
            for cell in CELLS
        },
    }


@cache
def worker_script() -> str:
    """The script of the worker that reads texts and trains networks."""
    return f"const {{ serve }} = {bundle('page/worker.js')};\nserve(self);\n"


@cache
def page_script() -> str:
    """The page's script: all modules, and its look."""
    # No "<" in the JSON: the script may stand between <script> and </script>.
    look = _json(page_look()).decode().replace("<", "\\u003c")
    source = bundle("page/page.js")
    if "</script" in source.lower():
        raise ValueError("a module has </script in it, which would end the page's script")
    return f"const {{ start }} = {source};\nstart(document, {look});\n"


def _style() -> str:
    return style_sheet("page/page.css", "page/text_page.css", "page/training_page.css") + scale_css()


def notice() -> str:
    """The licences of what a page holds: LICENSE and NOTICE."""
    beside = PACKAGE.parent  # a checkout's folder, or where packages are installed
    folder = next(beside.glob("rnnviz-*.dist-info/licenses"), beside)
    return "\n\n".join((folder / name).read_text("utf-8") for name in ("LICENSE", "NOTICE"))


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        errors="replace"
    )


def _add_font(files: Files, file: Path) -> str:
    return files.add(file.name.split("-")[0], ".woff2", file.read_bytes())


def _embedded_font(file: Path) -> str:
    return f"data:font/woff2;base64,{base64.b64encode(file.read_bytes()).decode()}"


def font_css(address: Callable[[Path], str]) -> str:
    """CSS with Streamlit's upright fonts, each at the `address` of its file; "" if they are not found: the
    browser's then serve.
    """
    streamlit_spec = find_spec("streamlit")
    media = (
        Path(cast(str, streamlit_spec.origin)).parent / "static" / "static" / "media"
        if streamlit_spec
        else PAGE_FOLDER
    )
    # The variable fonts, upright only: one file each for all weights. Without them a page would look unlike
    # the app, and its columns of characters would have the widths of another font.
    rules = []
    for family, pattern in (
        ("Source Sans", "SourceSansVF-Upright*.woff2"),
        ("Source Code Pro", "SourceCodeVF-Upright*.woff2"),
    ):
        for file in sorted(media.glob(pattern))[:1]:
            rules.append(
                f'@font-face {{ font-family: "{family}"; font-weight: 200 900; font-display: swap; '
                f'src: url("{address(file)}") format("woff2"); }}\n'
            )
    return "".join(rules)
