"""The text as a file that the model compressed: as many bits as the perplexity promised."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import streamlit as st

from rnnviz.reading import compression
from rnnviz.ui import model_cache
from rnnviz.ui.i18n import _
from rnnviz.ui.jobs import progress, store
from rnnviz.ui.pages.perplexity import work
from rnnviz.ui.trouble import describe, plain
from rnnviz.ui.words import size

if TYPE_CHECKING:
    from rnnviz.reading.scoring import Report
    from rnnviz.ui.context import Context
    from rnnviz.ui.jobs.worker import Jobs
    from rnnviz.ui.pages.perplexity.texts import Text
    from rnnviz.ui.pages.perplexity.work import Scored

PATIENCE = 0.5


def show(context: Context, jobs: Jobs, text: Text, scored: Scored) -> list[Hashable]:
    """Compress, then decompress and compare. Returns the jobs it wants."""
    report = scored.report
    promised = report.bits_per_character * report.characters / 8
    st.markdown(
        _(
            "Who predicts well can write briefly: a likely character gets few bits, an unlikely one many. "
            "At {bits} bits a character the perplexity promises that these {n} characters fit in **{size}**. "
            "Compress the text with the model, and see whether it was true."
        ).format(bits=f"{report.bits_per_character:.3f}", n=f"{report.characters:,}", size=size(promised))
    )
    if report.characters > compression.LIMIT:
        st.info(
            _("This is for texts of up to {limit} characters; it takes a step of the model for each.").format(
                limit=f"{compression.LIMIT:,}"
            ),
            icon=":material/compress:",
        )
        return []
    kept, digest = store.shared(), model_cache.digest(context.info)
    pack, unpack = (("pack", digest, text.identity), ("unpack", digest, text.identity))
    data: bytes | None = kept.get(pack)
    label = _("Compress this text with {model}").format(model=plain(context.info.path.stem))
    if data is None:
        if st.button(label, icon=":material/compress:", type="primary", key="pack"):
            jobs.forget([pack, unpack])
            jobs.ask(pack, text.name, lambda check: work.squeezing(kept, pack, context.model, scored))
            jobs.wait([pack], PATIENCE)
            data = kept.get(pack)
        wait(jobs, pack, data is not None)
    if data is None:
        return [pack]
    compressed(report, promised, data)
    left, right = st.columns([1, 1])
    with left:
        again = st.button(
            _("Decompress and compare"),
            icon=":material/unarchive:",
            type="primary",
            key="unpack",
            width="stretch",
        )
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
        jobs.forget([unpack])
        jobs.ask(unpack, text.name, lambda check: work.restoring(kept, unpack, context.model, data, scored))
        jobs.wait([unpack], PATIENCE)
    same = kept.get(unpack)
    wait(jobs, unpack, same is not None)
    if same:
        st.success(
            _(
                "The {size} gave back all {n} characters, every one of them the same. "
                "So the perplexity is no opinion: it is the size of a file."
            ).format(size=size(len(data)), n=f"{report.characters:,}"),
            icon=":material/verified:",
        )
    elif same is False:
        st.error(
            _("What came back is not the text. Reload the page and compress it again."),
            icon=":material/error:",
        )
    return [pack, unpack]


def wait(jobs: Jobs, key: Hashable, there: bool) -> None:
    """The bar of a job, or why it came to nothing."""
    job = jobs.get(key)
    if there or job is None:
        return
    if jobs.busy([key]):
        progress.bar(jobs, [key], "squeeze")
    elif job.error is not None:
        st.error(describe(job.error), icon=":material/error:")


def compressed(report: Report, promised: float, data: bytes) -> None:
    """The file's size beside the promise and the text as it was."""
    one, two, three = st.columns(3)
    one.metric(
        _("Promised by the perplexity"),
        f"{promised:,.0f}",
        help=_("Bits per character times characters, divided by 8."),
    )
    two.metric(
        _("The compressed file, in bytes"),
        f"{len(data):,}",
        delta=_("{n} bytes off the promise").format(n=f"{len(data) - promised:+,.0f}"),
        delta_color="off",
        delta_arrow="off",
    )
    three.metric(
        _("The text in UTF-8, in bytes"),
        f"{report.bytes:,}",
        delta=_("{times} times as much").format(times=f"{report.bytes / len(data):.1f}"),
        delta_color="off",
        delta_arrow="off",
    )
    st.caption(
        _(
            "The difference is the file's beginning, which says what it is and which model reads it, and "
            "the rounding "
            "of its last bits. Only this very model can read the file again: the knowledge is in the model."
        )
    )
