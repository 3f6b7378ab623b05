"""The text as a file that the model compressed: as many bits as the perplexity promised."""

from functools import partial
from importlib.util import find_spec

import streamlit as st

from rnnviz.errors import install
from rnnviz.i18n import _
from rnnviz.reading.scoring import Report
from rnnviz.ui import model_cache
from rnnviz.ui.context import Context
from rnnviz.ui.hosting import allowed
from rnnviz.ui.jobs import progress, store
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import OVER, Jobs, Make
from rnnviz.ui.pages.perplexity import work
from rnnviz.ui.pages.perplexity.text import Text
from rnnviz.ui.pages.perplexity.work import Scored
from rnnviz.ui.trouble import plain
from rnnviz.ui.words import size

PATIENCE = 0.5


def show(context: Context, jobs: Jobs, text: Text, scored: Scored) -> list[Key]:
    """Compress, then decompress and compare. Returns the jobs it wants."""
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
        return []
    kept, digest = store.shared(), model_cache.digest(context.info)
    pack, unpack = text.key("pack", digest), text.key("unpack", digest)
    data: bytes | None = kept.get(pack)
    if data is None:
        label = _("Compress this text with {model}").format(model=plain(context.info.path.stem))
        if st.button(label, icon=":material/compress:", type="primary", key="pack"):
            jobs.forget([unpack])
            start(jobs, pack, text, partial(work.compressing, pack, model, scored))
            data = kept.get(pack)
    if data is None:
        wait(jobs, pack)
        return [pack]
    compressed(report, promised, data)
    left, right = st.columns([1, 1])
    again = left.button(
        _("Decompress and compare"),
        icon=":material/unarchive:",
        type="primary",
        key="unpack",
        width="stretch",
    )
    if allowed.to_download():
        right.download_button(
            _("Download the compressed file"),
            data,
            f"{text.name}.rnnviz",
            "application/octet-stream",
            icon=":material/download:",
            on_click="ignore",
            width="stretch",
        )
    if again:
        start(jobs, unpack, text, partial(work.restoring, unpack, model, data, scored))
    restored(jobs, unpack, report, data)
    return [pack, unpack]


def restored(jobs: Jobs, key: Key, report: Report, data: bytes) -> None:
    """Whether the text came back, once asked for."""
    if store.shared().get(key) is None:
        wait(jobs, key)
        return
    st.success(
        _(
            "The {size} gave back all {n} characters, every one of them the same. "
            "So the perplexity foretold the size of this file."
        ).format(size=size(len(data)), n=f"{report.characters:,}"),
        icon=":material/verified:",
    )


def start(jobs: Jobs, key: Key, text: Text, make: Make) -> None:
    """Start a job on a button's click, and wait as long as a short text takes."""
    jobs.ask(key, text.name, make, again=OVER, size=text.size)
    jobs.wait([key], PATIENCE)


def wait(jobs: Jobs, key: Key) -> None:
    """The bar of a started job, or why it failed; nothing after a cancel, as its button is there again."""
    job = jobs.get(key)
    if job is not None and job.state != "cancelled":
        progress.without_result(jobs, job, "compression")


def compressed(report: Report, promised: float, data: bytes) -> None:
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
