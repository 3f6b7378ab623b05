"""The text as a file that the model compressed: as many bits as the perplexity promised."""

from functools import partial
from importlib.util import find_spec

import streamlit as st

from rnnviz.errors import install
from rnnviz.i18n import _
from rnnviz.scoring.perplexity import Report
from rnnviz.ui import model_cache
from rnnviz.ui.context import Context
from rnnviz.ui.error_messages import plain
from rnnviz.ui.formatting import size
from rnnviz.ui.hosting import permissions
from rnnviz.ui.jobs.pending import ask
from rnnviz.ui.pages.perplexity import work
from rnnviz.ui.pages.perplexity.texts import Text
from rnnviz.ui.pages.perplexity.work import Scored


def show(context: Context, text: Text, scored: Scored) -> None:
    """Compress, then decompress and compare."""
    report, model = scored.report, context.model
    promised = report.bits_per_character * report.characters / 8
    st.markdown(
        _(
            "A good prediction saves space: a likely character takes few bits, an unlikely one many. "
            "At {bits} bits per character, these {n} characters should fit in **{size}**. "
            "Compress the text and see."
        ).format(bits=f"{report.bits_per_character:.3f}", n=f"{report.characters:,}", size=size(promised))
    )
    if find_spec("constriction") is None:
        said = _("Compressing needs constriction, which is not installed. This brings it: {command}")
        st.caption(said.format(command=f"`{install('compress')}`"))
        return
    digest, place = model_cache.digest(context.info), st.empty()
    label = _("Compress this text with {model}").format(model=plain(context.info.path.stem))
    pressed = place.button(label, icon=":material/compress:", type="primary", key="pack")
    make = partial(work.compressing, model, scored)
    packed = ask(text.key("pack", digest), text.name, make, pressed=pressed, shared=True, patience=0.5)
    if packed.value is None:
        packed.show("compression")
        return
    place.empty()
    data = packed.value
    _compressed(report, promised, data)
    left, right = st.columns([1, 1])
    again = left.button(
        _("Decompress and compare"),
        icon=":material/unarchive:",
        type="primary",
        key="unpack",
        width="stretch",
    )
    if permissions.to_download():
        right.download_button(
            _("Download the compressed file"),
            data,
            f"{text.name}.rnnviz",
            "application/octet-stream",
            icon=":material/download:",
            on_click="ignore",
            width="stretch",
        )
    unpack = partial(work.restoring, model, data, scored)
    key = text.key("unpack", digest)
    if ask(key, text.name, unpack, pressed=again, shared=True, patience=0.5).show("restored"):
        st.success(
            _(
                "The {size} gave back all {n} characters, every one of them the same. "
                "So the perplexity foretold the size of this file."
            ).format(size=size(len(data)), n=f"{report.characters:,}"),
            icon=":material/verified:",
        )


def _compressed(report: Report, promised: float, data: bytes) -> None:
    """The file's size beside the promised size and the original's."""
    one, two, three = st.columns(3)
    about = _("Bits per character times characters, divided by 8.")
    one.metric(_("Predicted by the perplexity, in bytes"), f"{promised:,.0f}", help=about)
    off = _("{n} bytes from the prediction").format(n=f"{len(data) - promised:+,.0f}")
    times = _("{times} times as large").format(times=f"{report.bytes / len(data):.1f}")
    for place, label, value, delta in (
        (two, _("Compressed file, in bytes"), len(data), off),
        (three, _("Text in UTF-8, in bytes"), report.bytes, times),
    ):
        place.metric(label, f"{value:,}", delta=delta, delta_color="off", delta_arrow="off")
    st.caption(
        _(
            "The difference is the file's header and rounding. "
            "Only this model can decompress the file: it takes the same predictions."
        )
    )
