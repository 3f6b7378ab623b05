"""The script that Streamlit runs for each ask of a page: navigation, the sidebar, and the chosen page."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from rnnviz import registry
from rnnviz.i18n import _
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.page import shown_units
from rnnviz.page.formatting import together
from rnnviz.ui.serving import sharing, streamlit_workarounds
from rnnviz.ui.shell import address, error_messages, fields, model_cache, sidebar
from rnnviz.ui.shell.model_cache import ModelContext

UI_FOLDER = Path(__file__).parents[1]

# The order below matters: workarounds first, so that they run even where a page fails; the language before
# any word is drawn; `set_page_config` before anything else is drawn, as Streamlit demands.
streamlit_workarounds.stop_file_watchers()
streamlit_workarounds.due_fragment()
sidebar.adopt_language()
st.set_page_config(
    page_title="rnnviz",
    page_icon=str(
        UI_FOLDER / "icon.svg"
    ),  # a file, because Streamlit fetches an icon by name from the network
    layout="wide",
    menu_items={"About": _("**rnnviz** · look inside a character-level recurrent network while you type")},
)
st.logo(str(UI_FOLDER / "logo.svg"), size="large", icon_image=str(UI_FOLDER / "icon.svg"))


def model_notes(info: ModelInfo, models: list[ModelInfo]) -> str:
    """Sentences on a network's named units, on targets without one, and on a missing MLP."""
    notes = [shown_units.followed_targets(info.card), shown_units.unnamed_targets(info.card)]
    if info.kind not in ("mlp", "ngram") and not model_cache.mlps(info.card, models):
        notes.append(_("Without memory: there is no MLP for this text."))
    return together(filter(None, notes))


def with_model(ngrams: bool, temperature: bool, draw: Callable[[ModelContext], None]) -> None:
    """Draw the sidebar's choices, the page with the chosen model by `draw`, then the model's card; without a
    model, a note on the page.
    """
    listed, damaged = model_cache.list_models()
    models = [m for m in listed if ngrams or m.kind != "ngram"]
    with slot:
        info = sidebar.choose_model(models, damaged)
    if info is None:
        st.title(_("No model yet"))
        st.info(sidebar.no_model(), icon=":material/inventory_2:")
        return
    try:
        model = model_cache.load(info, to_read=not ngrams)
    except Exception as error:
        error_messages.show_error(error)
        st.info(_("Choose another model in the sidebar."), icon=":material/arrow_back:")
        return
    ngram_model = model_cache.load_ngram_model(info, listed)
    with slot:
        card = st.container()
        chosen = sidebar.choose_temperature() if temperature else sidebar.DEFAULT_TEMPERATURE
    show_errors(lambda: draw(ModelContext(model, ngram_model, info, chosen)))
    # A browser draws in this order, and a reader waits for the page.
    with card:
        sidebar.draw_card(
            info,
            model,
            notes=lambda: model_notes(info, models),
            share=lambda: sharing.share_buttons(info),
        )


def show_errors(run: Callable[[], None]) -> None:
    """Run a page, and show its error; Streamlit would show a traceback, with paths and code."""
    try:
        run()
    except Exception as error:
        error_messages.show_error(error)


def navigation_page(name: str, run: Callable[[], None], title: str, icon: str, about: str) -> Any:
    """A page of the navigation, which shows its own errors."""

    def safely() -> None:
        show_errors(run)

    first = name == "explore"
    return st.Page(safely, title=title, icon=f":material/{icon}:", url_path=name, default=first, help=about)


def model_page(module: str, *, ngrams: bool = False, temperature: bool = False) -> Callable[[], None]:
    """The function that draws a page for the chosen model.

    ngrams       whether the page works with n-gram models too
    temperature  whether the sidebar has the temperature of sampled continuations
    """

    def draw(context: ModelContext) -> None:
        # Imported when the page is first opened: the modules of all pages together take seconds.
        importlib.import_module(module).page(context)

    return lambda: with_model(ngrams, temperature, draw)


def learn() -> None:
    """Draw the lecture, which needs no chosen model."""
    importlib.import_module("rnnviz.ui.pages.learn.page").page()


def registered_page(page: registry.Page) -> Callable[[], None]:
    """The function that draws a registered page."""
    if page.of_model:
        return model_page(page.module, temperature=True)
    return lambda: importlib.import_module(page.module).page(slot, pages[0])


pages = [
    navigation_page(
        "explore",
        model_page("rnnviz.ui.pages.explore.page"),
        _("Explore"),
        "waves",
        _("Type, and see the network's hidden state and what it expects next."),
    ),
    navigation_page(
        "perplexity",
        model_page("rnnviz.ui.pages.perplexity.page", ngrams=True),
        _("Perplexity"),
        "description",
        _("Upload text files and see how well a model predicts them."),
    ),
    *(
        navigation_page(page.name, registered_page(page), _(page.title), page.icon, _(page.about))
        for page in registry.pages()
    ),
    navigation_page(
        "learn",
        learn,
        _("Learn"),
        "school",
        _("The story of the recurrent network in nine scenes, made for a projector."),
    ),
]
chosen = st.navigation(pages)
# Before any field is resolved: each looks up this arrival.
address.record_arrival(chosen.url_path)
slot = st.sidebar.container()  # filled by the page; the language switch below appears before a slow page
with st.sidebar, st.container(horizontal=True, vertical_alignment="center", key="always"):
    sidebar.language_switch()
    share = st.container(width="content")
sidebar.add_styles()
# Filled after the page has run: only then is it known which requested values it could not offer.
top = st.container()
chosen.run()
with top:
    fields.show_rejected_values()
with share:
    address.mount()
streamlit_workarounds.rerun_for_old_timers()
