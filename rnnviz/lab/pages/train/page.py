"""The layout of the Train page."""

import tempfile
from pathlib import Path
from typing import Any

import streamlit as st

from rnnviz.errors import CheckpointError, RnnvizError, TorchMissingError
from rnnviz.i18n import N_, _
from rnnviz.lab.pages.train import (
    actions,
    forecast,
    listing,
    run_comparison,
    run_view,
    settings,
    training_text,
)
from rnnviz.lab.pages.train.selected_run import choose_replay, find, show_next, start_number
from rnnviz.lab.pages.train.settings import FormValues
from rnnviz.lab.pages.train.training_text import TrainingText, file_name
from rnnviz.lab.run import runs
from rnnviz.networks import checkpoint, engines, modelfile
from rnnviz.ui.browser.component import presenting_style
from rnnviz.ui.jobs.pending import working
from rnnviz.ui.shell import error_messages, sidebar
from rnnviz.ui.shell.error_messages import describe, plain


def page(slot: Any, explore: Any) -> None:
    """Draw the page. `slot` is its place in the sidebar, `explore` the page to open with a model."""
    st.html(f"<style>{_STYLE}{sidebar.HEADER_CSS}{presenting_style(run_view.KEY)}</style>")
    chosen = listing.choose_run()
    with slot:
        listing.show(chosen)
    st.title(_("Train your own"))
    if chosen is None:
        st.markdown(
            _("Choose a text and press **Start**. A network learns to predict its next character; you watch.")
        )
    # In a container: elements that open and close in it don't shift the view, which Streamlit would remount.
    with st.container(), working("train"):
        text = draw_new_run()
    if chosen is not None and (selected := find(chosen)) is not None:
        st.divider()
        with st.container():
            actions.show(selected, explore)
        run_view.show(selected, started=start_number(chosen))
    elif text is not None and text.toy and not text.from_reader:
        with st.container(key="train-toy"):
            st.divider()
            word = text.corpus.text
            st.markdown(_(TOY).format(word=word, first=word[0], twice=2 * word))
    choose_replay()
    with st.expander(_("Compare runs"), icon=":material/stacked_line_chart:", key="train-comparing"):
        run_comparison.show(runs.listed(), chosen)
    with st.expander(_("Add a model trained elsewhere"), icon=":material/upload_file:"):
        add_model()


def draw_new_run() -> TrainingText | None:
    """Draw the choice of a text and a recipe, and Start. Returns the text; None if there is none yet."""
    text_column, recipe_column = st.columns([5, 6], vertical_alignment="top", gap="medium")
    with text_column:
        text = training_text.choose()
    with recipe_column:
        preset_key = settings.choose_preset(text)
    if text is None:
        st.caption(_("Choose a text, then press Start."))
        return None
    if preset_key == "textbook":
        text = training_text.textbook()
    settings.resolve_fields(text, preset_key)
    sentence_column, start_column = st.columns([8, 3], vertical_alignment="bottom", gap="medium")
    with sentence_column:
        settings.watch_text_field()
    line_column, pills_column = st.columns([8, 3], vertical_alignment="center", gap="medium")
    # The forecast's slot, filled further down: what the reader sets below it decides the forecast.
    forecast_slot = line_column.container()
    with pills_column:
        opened = _choose_section()
    if opened is not None:
        with st.container(border=True, key=f"train-more-{opened}"):
            if opened == "settings":
                settings.draw_settings()
            else:
                training_text.facts(text)
    with forecast_slot:
        form = _startable_form(text, preset_key)
    # After the forecast, because values that can't be started disable Start.
    pressed = start_column.button(
        _("Start"),
        type="primary",
        icon=":material/play_arrow:",
        key="train-start",
        disabled=form is None,
        width="stretch",
    )
    if pressed and form is not None:
        with forecast_slot:
            start(text, form)
    return text


def _startable_form(text: TrainingText, preset_key: str) -> FormValues | None:
    """Draw the forecast and return the form's values; if they can't be started, draw the reason and return
    None.
    """
    try:
        engines.require_torch()
        form = settings.read_form(text, preset_key)
        # A trial beside a run would slow the run and measure too low a speed.
        busy = any(run.state in ("running", "starting") for run in runs.listed())
        run_forecast = forecast.make_forecast(text, form, measure=not busy)
        if run_forecast.run_estimate.refusal is not None:
            raise run_forecast.run_estimate.refusal
    except TorchMissingError as error:
        st.info(describe(error), icon=":material/download:")
        return None
    except RnnvizError as error:
        st.error(describe(error), icon=":material/block:")
        return None
    forecast.show(text, form, run_forecast)
    return form


def _choose_section() -> str | None:
    parts = {"settings": ":material/tune: " + _("Settings"), "text": ":material/article: " + _("The text")}
    return st.pills(
        _("Show"),
        list(parts),
        key="train-more",
        persist_state="session",
        label_visibility="collapsed",
        format_func=lambda part: parts[part],
    )


def start(text: TrainingText, form: FormValues) -> None:
    """Queue a run and show it, or show the error that prevents it."""
    corpus = text.corpus
    # The card compares with counting on the same text, known by its checksum.
    ngram_names = (
        info.path.stem
        for info in checkpoint.available()[0]
        if info.kind == "ngram" and info.card.get("sha256") == corpus.sha256
    )
    description = runs.Description(
        form.name,
        form.config,
        corpus="" if text.toy or text.from_reader else corpus.name,
        text=text.trained_on if text.toy or text.from_reader else None,
        lines=corpus.ends and text.from_reader,
        title=corpus.title,
        language=corpus.language,
        watch_text=form.watch_text,
        minutes=form.minutes,
        ngram=next(ngram_names, None),  # the n-gram model of the same text, for the card
        example=form.watch_text or None,
    )
    try:
        id = runs.start(description)
    except RnnvizError as error:
        error_messages.show_error(error)
        return
    show_next(id)
    st.rerun()


TOY = N_(
    "## A first run: one word\n"
    "A network of 8 hidden units learns the word **{word}** in a few seconds. Its perplexity "
    "falls from 8, a uniform guess, to about 1.\n\n"
    "You watch its hidden state after each of the 7 characters. Once it has learnt the word, "
    "given **{first}** it writes *{twice}…*\n\n"
    "Then choose *The Time Machine* above, and give it a minute."
)
"""The text below the choice of the toy, while no run is in view."""

# Curves and text use a projector's full width.
_STYLE = """
[data-testid="stMainBlockContainer"] { padding: 1.2rem 2.2rem 3rem; max-width: 90rem; }
[data-testid="stMainBlockContainer"] hr { margin: 0.2rem 0; }
[data-testid="stHeader"] { background: transparent; pointer-events: none; }
[data-testid="stHeader"] button { pointer-events: auto; }
.st-key-train-toolbar { flex-wrap: nowrap; }
.st-key-train-toolbar > [data-testid="stElementContainer"]:first-child { flex: 1 1 0; min-width: 0; }
.st-key-train-toolbar h2 { padding: 0; font-size: 1.1rem; }
.st-key-train-toy h2 { padding: 0.4rem 0 0; font-size: 1.1rem; }
.st-key-train-toolbar :is(h2, p) { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
@media (max-width: 700px) {
  .st-key-train-toolbar { flex-wrap: wrap; }
  .st-key-train-toolbar > [data-testid="stElementContainer"]:first-child { flex: 1 1 100%; }
}
"""


def add_model() -> None:
    """Draw the upload field, a name for the model, and the button that saves it."""
    st.caption(
        _(
            "A `.safetensors` file that this app made, here or on another machine. It contains numbers and "
            "a model card: nothing in it is run as a program."
        )
    )
    file = st.file_uploader(_("Model file"), type=["safetensors"], key="train-add")
    if file is None:
        return
    usual, key = file_name(Path(file.name).stem), f"train-add-name.{file.file_id}"
    name = st.text_input(_("Name of the model"), usual, key=key)
    if not st.button(_("Save among the models"), key="train-add-save", icon=":material/save:"):
        return
    try:
        path = save_model(file.getvalue(), name.strip())
    except RnnvizError as error:
        error_messages.show_error(error)
    else:
        st.success(_("Saved. The model picker lists it as **{name}**.").format(name=plain(path.stem)))


def save_model(data: bytes, name: str) -> Path:
    """Add an uploaded file to the models and return its path.

    Raises CheckpointError for a damaged file and an invalid or taken name.
    """
    target = checkpoint.folders()[0] / f"{modelfile.check_name(name)}{modelfile.SUFFIX}"
    if any((folder / target.name).exists() for folder in checkpoint.folders()):
        raise CheckpointError("there is a model called {name!r} already; choose another name", name=name)
    # Checked in another folder first: a damaged file never stands among the models.
    with tempfile.TemporaryDirectory(prefix="rnnviz-") as folder:
        path = Path(folder) / target.name
        path.write_bytes(data)
        checkpoint.load_numpy(path)  # a check of the whole file: the weights too, not the header alone
        return modelfile.copy(path, target)
