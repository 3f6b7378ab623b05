"""Start: from a text and a recipe to a run in the queue."""

from __future__ import annotations

import streamlit as st

from rnnviz.networks import checkpoint
from rnnviz.runs import api as runs
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.train import listing
from rnnviz.ui.pages.train.settings import Recipe
from rnnviz.ui.pages.train.texts import Chosen


def button(refused: str) -> bool:
    """The Start button; `refused` says why it can't be pressed."""
    return st.button(
        _("Start"),
        type="primary",
        icon=":material/play_arrow:",
        key="train-start",
        disabled=bool(refused),
        width="stretch",
    )


def start(text: Chosen, recipe: Recipe) -> None:
    """Put the run in the queue and show it. Raises what rnnviz.runs.start raises."""
    id = runs.start(
        runs.Description(
            recipe.name,
            recipe.config,
            corpus=text.corpus,
            text=None if text.corpus else text.text,
            title=text.title,
            language=text.language,
            probe=recipe.probe,
            minutes=recipe.minutes,
            ngram=yardstick(text),
            example=recipe.probe or None,
        )
    )
    st.session_state["train.started"] = id
    st.query_params[listing.CHOSEN] = id
    st.rerun()


def yardstick(text: Chosen) -> str | None:
    """The n-gram model here that was counted on the same text, for the card."""
    for info in checkpoint.available()[0]:
        if info.kind == "ngram" and info.card.get("sha256") == text.sha256:
            return info.path.stem
    return None
