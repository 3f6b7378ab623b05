"""Downloads: the numbers of all texts, every character of one, and a self-contained page."""

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import streamlit as st

from rnnviz.figures import export
from rnnviz.i18n import _, language, translations
from rnnviz.scoring.score import Score
from rnnviz.ui.pages.perplexity.scoring_jobs import Scored
from rnnviz.ui.pages.perplexity.text_sources import Text
from rnnviz.ui.shell.error_messages import plain

MOST = 5_000_000  # characters of a text whose table the browser can download, at most


def show(scores: Sequence[Score], text: Text, scored: Scored) -> None:
    st.markdown(_("**The results of all texts above**"))
    with st.container(horizontal=True):
        button(_("Results as JSON"), lambda: as_json(scores).encode(), "perplexity.json", "application/json")
        button(_("Results as CSV"), lambda: as_csv(scores).encode(), "perplexity.csv", "text/csv")
    if scored.complete:  # else `offer_reading` has said above that the characters are missing
        _characters(text, scored)
    st.caption(
        _("The same in a terminal: {command}").format(
            command=f"`python -m rnnviz perplexity FILE --model {scored.score.model} --json`"
        )
    )


def _characters(text: Text, scored: Scored) -> None:
    st.markdown(
        _("**Every character of {name}**: position, character, −ln P in nats, rank and entropy").format(
            name=plain(scored.score.file)
        )
    )
    spoken, stem = language(), Path(text.name).stem or "text"

    def page() -> bytes:
        """The HTML page, in the language read above: the thread that makes the file has no session."""
        out = io.BytesIO()
        translate = translations(spoken).gettext
        export.html(scored.record, out, translate=translate, language=spoken)
        return out.getvalue()

    def table(kind: Literal["csv", "parquet"]) -> bytes:
        out = io.BytesIO()
        export.per_character(scored.record, out, kind)
        return out.getvalue()

    if scored.score.characters > MOST:
        st.info(
            _(
                "For more than {most} characters, write straight to a file in a terminal: "
                "`python -m rnnviz perplexity FILE --model {model} --per-character out.parquet`"
            ).format(most=f"{MOST:,}", model=scored.score.model),
            icon=":material/terminal:",
        )
    else:
        with st.container(horizontal=True):
            parquet = "application/vnd.apache.parquet"
            button(_("Characters as CSV"), lambda: table("csv"), f"{stem}.csv", "text/csv")
            button(_("Characters as Parquet"), lambda: table("parquet"), f"{stem}.parquet", parquet)
    st.markdown(_("**One HTML page**: results, curve and coloured text in a single file that works offline"))
    button(_("HTML page"), page, f"{stem}.html", "text/html")


def button(label: str, make: Callable[[], bytes], name: str, kind: str) -> None:
    """Draw a button for a file, which `make` makes at the click.

    `name` is the file's name, `kind` its MIME type.
    """
    key = f"take-{label}"
    st.download_button(label, make, name, kind, icon=":material/download:", on_click="ignore", key=key)


def as_csv(scores: Sequence[Score]) -> str:
    """The figures as CSV: a header, and a row a text."""
    return export.of([score.to_json() for score in scores])


def as_json(scores: Sequence[Score]) -> str:
    return json.dumps([score.to_json() for score in scores], indent=1, ensure_ascii=False)
