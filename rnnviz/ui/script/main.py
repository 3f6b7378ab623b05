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
from rnnviz.ui.shell.model_cache import Context

HERE = Path(__file__).parents[1]

streamlit_workarounds.stop_file_watchers()
streamlit_workarounds.due_fragment()
sidebar.adopt_language()
st.set_page_config(
    page_title="rnnviz",
    page_icon=str(HERE / "icon.svg"),  # a file, because Streamlit fetches an icon by name from the network
    layout="wide",
    menu_items={"About": _("**rnnviz** · look inside a character-level recurrent network while you type")},
)
st.logo(str(HERE / "logo.svg"), size="large", icon_image=str(HERE / "icon.svg"))


def noticed(info: ModelInfo, models: list[ModelInfo]) -> str:
    """Sentences on a network's named units, on targets without one, and on a missing MLP."""
    said = [shown_units.follows(info.card), shown_units.unnamed(info.card)]
    if info.kind not in ("mlp", "ngram") and not model_cache.mlps(info.card, models):
        said.append(_("Without memory: no MLP of this text here."))
    return together(filter(None, said))


def choose(ngrams: bool, temperature: bool) -> Context | None:
    """Draw the sidebar's choices. Returns them with the model loaded; None without a model, with a note on
    the page.
    """
    listed, damaged = model_cache.listed()
    models = [m for m in listed if ngrams or m.kind != "ngram"]
    with slot:
        info = sidebar.pick(models, damaged)
    if info is None:
        st.title(_("No model yet"))
        st.info(sidebar.no_model(), icon=":material/inventory_2:")
        return None
    try:
        model = model_cache.load(info, to_read=not ngrams)
    except Exception as error:
        error_messages.show(error)
        st.info(_("Choose another model in the sidebar."), icon=":material/arrow_back:")
        return None
    yardstick = model_cache.yardstick(info, listed)
    with slot:
        sidebar.card(info, model, noticed(info, models), share=lambda: sharing.share_buttons(info))
        chosen = sidebar.temperature() if temperature else sidebar.TEMPERATURE
    return Context(model, yardstick, info, chosen)


def entry(name: str, run: Callable[[], None], title: str, icon: str, about: str) -> Any:
    """A page of the navigation, which shows its own errors."""

    def safely() -> None:
        try:
            run()
        except Exception as error:
            error_messages.show(error)

    first = name == "explore"
    return st.Page(safely, title=title, icon=f":material/{icon}:", url_path=name, default=first, help=about)


def of_model(module: str, *, ngrams: bool = False, temperature: bool = False) -> Callable[[], None]:
    """The function that draws a page for the chosen model.

    ngrams       whether the page works with n-gram models too
    temperature  whether the sidebar has the temperature of sampled continuations
    """

    def run() -> None:
        context = choose(ngrams, temperature)
        if context is not None:
            importlib.import_module(module).page(context)

    return run


def learn() -> None:
    """Draw the lecture, which needs no chosen model."""
    importlib.import_module("rnnviz.ui.pages.learn.page").page()


def of_another_house(page: registry.Page) -> Callable[[], None]:
    """The function that draws a registered page."""
    if page.of_model:
        return of_model(page.module, temperature=True)
    return lambda: importlib.import_module(page.module).page(slot, pages[0])


pages = [
    entry(
        "explore",
        of_model("rnnviz.ui.pages.explore.page"),
        _("Explore"),
        "waves",
        _("Type, and see what the network holds in its hidden state and expects next."),
    ),
    entry(
        "perplexity",
        of_model("rnnviz.ui.pages.perplexity.page", ngrams=True),
        _("Perplexity"),
        "description",
        _("Upload text files and see how well a model predicts them."),
    ),
    *(
        entry(page.name, of_another_house(page), _(page.title), page.icon, _(page.about))
        for page in registry.pages()
    ),
    entry(
        "learn",
        learn,
        _("Learn"),
        "school",
        _("The story of the recurrent network in nine scenes, made for a projector."),
    ),
]
chosen = st.navigation(pages)
address.begin(chosen.url_path)
slot = st.sidebar.container()  # filled by the page; the language switch below appears before a slow page
with st.sidebar, st.container(horizontal=True, vertical_alignment="center", key="always"):
    sidebar.language_switch()
    share = st.container(width="content")
sidebar.fit()
top = st.container()
chosen.run()
with top:
    fields.refused()
with share:
    address.mount()
streamlit_workarounds.rerun_for_old_timers()
