"""The script that Streamlit runs for every visit: navigation, the sidebar, and the chosen page."""

from __future__ import annotations

import importlib
from pathlib import Path

import streamlit as st

from rnnviz.ui import model_cache, sidebar, trouble
from rnnviz.ui.context import Context
from rnnviz.ui.i18n import _

HERE = Path(__file__).parents[1]

sidebar.adopt_language()
st.set_page_config(
    page_title="rnnviz",
    page_icon=str(HERE / "icon.svg"),  # an icon by name would be fetched from the network
    layout="wide",
    menu_items={"About": _("**rnnviz** · look inside a character-level recurrent network while you type")},
)
st.logo(str(HERE / "logo.svg"), size="large", icon_image=str(HERE / "icon.svg"))


def explore() -> None:
    """The live view of one network."""
    show("explore", ngrams=False)


def perplexity() -> None:
    """The perplexity of files."""
    show("perplexity", ngrams=True)


def inside() -> None:
    """What units respond to, what the network remembers, and what depends on it."""
    show("inside", ngrams=False)


def learn() -> None:
    """The lecture, which brings its own models."""
    try:
        importlib.import_module("rnnviz.ui.pages.learn.page").page()
    except Exception as error:
        trouble.show(error)


def train() -> None:
    """Runs of one's own; needs no model."""
    try:
        importlib.import_module("rnnviz.ui.pages.train.page").page(slot, EXPLORE)
    except Exception as error:
        trouble.show(error)


def show(name: str, *, ngrams: bool) -> None:
    """Run a page with what the sidebar chose; `ngrams`: whether it can work with count-based models too."""
    try:
        context = choose(ngrams)
        if context is not None:
            importlib.import_module(f"rnnviz.ui.pages.{name}.page").page(context)
    except Exception as error:
        trouble.show(error)


def choose(ngrams: bool) -> Context | None:
    """What the sidebar chose, with the model loaded; None where there is none, as the page then says."""
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
        trouble.show(error)
        st.info(_("Choose another model in the sidebar."), icon=":material/arrow_back:")
        return None
    yardstick = model_cache.yardstick(info, listed)
    with slot:
        sidebar.card(info, model)
        temperature = sidebar.temperature() if not ngrams else sidebar.TEMPERATURE
    return Context(model, yardstick, info, temperature)


EXPLORE = st.Page(
    explore,
    title=_("Explore"),
    icon=":material/waves:",
    url_path="explore",
    default=True,
    help=_("Type, and see what the network holds in its hidden state and expects next."),
)
chosen = st.navigation(
    [
        EXPLORE,
        st.Page(
            perplexity,
            title=_("Perplexity"),
            icon=":material/description:",
            url_path="perplexity",
            help=_("Upload text files and see how well a model predicts them."),
        ),
        st.Page(
            inside,
            title=_("Inside"),
            icon=":material/neurology:",
            url_path="inside",
            help=_(
                "Ask the network's units what they respond to, what is remembered, and what depends on them."
            ),
        ),
        st.Page(
            train,
            title=_("Train"),
            icon=":material/model_training:",
            url_path="train",
            help=_("Train a network of your own and watch its hidden state take shape."),
        ),
        st.Page(
            learn,
            title=_("Learn"),
            icon=":material/school:",
            url_path="learn",
            help=_("The story of the recurrent network in eight scenes, made for a projector."),
        ),
    ]
)
slot = st.sidebar.container()  # filled by the page; the switch below it is there before a slow page is done
with st.sidebar:
    sidebar.language_switch()
sidebar.fit()
chosen.run()
