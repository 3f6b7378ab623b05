"""Downloads: the numbers of all texts, every character of one, a self-contained page, and the text compressed
by the model's predictions.
"""

import io
import json
import math
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from rnnviz.errors import install
from rnnviz.figures import export
from rnnviz.i18n import _, language, ngettext, translations
from rnnviz.page.formatting import size
from rnnviz.scoring.score import Score
from rnnviz.ui.jobs.pending import ask
from rnnviz.ui.pages.perplexity import scoring_jobs
from rnnviz.ui.pages.perplexity.scoring_jobs import TextScore
from rnnviz.ui.pages.perplexity.text_sources import ReaderText
from rnnviz.ui.shell import downloads, model_cache
from rnnviz.ui.shell.error_messages import plain
from rnnviz.ui.shell.model_cache import ModelContext

# Characters of a text whose table the browser can download, at most: the server makes the file in memory.
MAX_TABLE_CHARS = 5_000_000


def show(scores: Sequence[Score], text: ReaderText, text_score: TextScore) -> None:
    st.markdown(_("**The results of all texts above**"))
    with st.container(horizontal=True):
        button(_("Results as JSON"), lambda: as_json(scores).encode(), "perplexity.json", "application/json")
        button(_("Results as CSV"), lambda: as_csv(scores).encode(), "perplexity.csv", "text/csv")
    if text_score.has_record:  # else `offer_reading` has said above that the characters are missing
        _characters(text, text_score)
    st.caption(
        _("The same in a terminal: {command}").format(
            command=f"`python -m rnnviz perplexity FILE --model {text_score.score.model} --json`"
        )
    )


def _characters(text: ReaderText, text_score: TextScore) -> None:
    st.markdown(
        _("**Every character of {name}**: position, character, −ln P in nats, rank and entropy").format(
            name=plain(text_score.score.file)
        )
    )
    spoken, stem = language(), Path(text.name).stem or "text"

    def page() -> bytes:
        """The HTML page, in the language read above: the thread that makes the file has no session."""
        out = io.BytesIO()
        translate = translations(spoken).gettext
        export.html(text_score.record, out, translate=translate, language=spoken)
        return out.getvalue()

    def table(write: Callable[..., None], kind: Literal["csv", "parquet"]) -> bytes:
        out = io.BytesIO()
        write(text_score.record, out, kind)
        return out.getvalue()

    if text_score.score.characters > MAX_TABLE_CHARS:
        st.info(
            _(
                "For more than {most} characters, write straight to a file in a terminal: "
                "`python -m rnnviz perplexity FILE --model {model} --per-character out.parquet`"
            ).format(most=f"{MAX_TABLE_CHARS:,}", model=text_score.score.model),
            icon=":material/terminal:",
        )
    else:
        with st.container(horizontal=True):
            parquet, characters = "application/vnd.apache.parquet", partial(table, export.per_character)
            button(_("Characters as CSV"), partial(characters, "csv"), f"{stem}.csv", "text/csv")
            button(_("Characters as Parquet"), partial(characters, "parquet"), f"{stem}.parquet", parquet)
            words = partial(table, export.per_word, "csv")
            button(_("Words as CSV"), words, f"{stem}-words.csv", "text/csv")
    st.markdown(_("**One HTML page**: results, curve and coloured text in a single file that works offline"))
    button(_("HTML page"), page, f"{stem}.html", "text/html")


def button(label: str, make: Callable[[], bytes], name: str, kind: str) -> None:
    """Draw a button for a file, which `make` makes at the click.

    `name` is the file's name, `kind` its MIME type.
    """
    # `make` is called at the click, on another thread.
    downloads.button(label, make, name, kind, icon=":material/download:", key=f"take-{label}")


def as_csv(scores: Sequence[Score]) -> str:
    """The figures as CSV: a header, and a row a text."""
    return export.csv_text([score.to_json() for score in scores])


def as_json(scores: Sequence[Score]) -> str:
    return json.dumps([score.to_json() for score in scores], indent=1, ensure_ascii=False)


def show_compressed(context: ModelContext, text: ReaderText, text_score: TextScore) -> None:
    """Draw the button that compresses and decompresses the text; then the file's size beside the predicted
    and the original one.
    """
    score, model = text_score.score, context.model
    # Whole bytes: 9 bits take two.
    predicted = math.ceil(score.bits_per_character * score.characters / 8)
    st.markdown(
        _(
            "A good prediction saves space: a likely character takes few bits, an unlikely one many. "
            "At {bits} bits per character, this text should fit in **{size}**. Compress it and see."
        ).format(bits=f"{score.bits_per_character:.3f}", size=size(predicted))
    )
    if find_spec("constriction") is None:
        message = _("Compressing needs constriction, which is not installed. Install it with {command}")
        st.caption(message.format(command=f"`{install('compress')}`"))
        return
    # The button makes room for the result, so it is drawn into a place that can be emptied.
    place, work = st.empty(), partial(scoring_jobs.compress_text, model, text_score)
    label = _("Compress this text with {model}").format(model=plain(context.info.path.stem))
    pressed = place.button(label, icon=":material/compress:", type="primary", key="pack")
    key = text.key("pack", model_cache.digest(context.info))
    data = ask(key, text.name, work, pressed=pressed, shared=True, patience=0.5).show("compression")
    if data is None:
        return
    place.empty()
    excess = len(data) - predicted
    off = ngettext("{n} byte from the prediction", "{n} bytes from the prediction", abs(excess))
    times = _("{times} times as large").format(times=f"{score.bytes / len(data):.1f}")
    plainly: dict[str, Any] = {"delta_color": "off", "delta_arrow": "off"}
    left, middle, right = st.columns(3)
    about = _("Bits per character times characters, divided by 8 and rounded up.")
    left.metric(_("Predicted by the perplexity, in bytes"), f"{predicted:,}", help=about)
    middle.metric(
        _("Compressed file, in bytes"), f"{len(data):,}", delta=off.format(n=f"{excess:+,}"), **plainly
    )
    right.metric(_("Text in UTF-8, in bytes"), f"{score.bytes:,}", delta=times, **plainly)
    st.caption(
        _(
            "The difference is the file's header and rounding. "
            "Only this model can decompress the file: it takes the same predictions."
        )
    )
    st.success(
        _(
            "Decompressing the {size} gave back the text as the model read it, character for character. So "
            "the perplexity predicted the size of this file."
        ).format(size=size(len(data))),
        icon=":material/verified:",
    )
    name = f"{text.name}.rnnviz"
    button(_("Download the compressed file"), lambda: data, name, "application/octet-stream")
