"""The text compressed by the model's predictions: the file's size beside the size that the perplexity
predicts.
"""

import math
from functools import partial
from importlib.util import find_spec
from typing import Any

import streamlit as st

from rnnviz.errors import install
from rnnviz.i18n import _, ngettext
from rnnviz.page.formatting import size
from rnnviz.ui.jobs.pending import ask
from rnnviz.ui.pages.perplexity import download, scoring_jobs
from rnnviz.ui.pages.perplexity.scoring_jobs import Scored
from rnnviz.ui.pages.perplexity.text_sources import Text
from rnnviz.ui.shell import model_cache
from rnnviz.ui.shell.error_messages import plain
from rnnviz.ui.shell.model_cache import Context


def show(context: Context, text: Text, scored: Scored) -> None:
    """Draw the button that compresses and decompresses the text; then the file's size beside the predicted
    and the original one.
    """
    score, model = scored.score, context.model
    promised = math.ceil(score.bits_per_character * score.characters / 8)
    st.markdown(
        _(
            "A good prediction saves space: a likely character takes few bits, an unlikely one many. "
            "At {bits} bits per character, this text should fit in **{size}**. Compress it and see."
        ).format(bits=f"{score.bits_per_character:.3f}", size=size(promised))
    )
    if find_spec("constriction") is None:
        said = _("Compressing needs constriction, which is not installed. This brings it: {command}")
        st.caption(said.format(command=f"`{install('compress')}`"))
        return
    place, make = st.empty(), partial(scoring_jobs.compressing, model, scored)
    label = _("Compress this text with {model}").format(model=plain(context.info.path.stem))
    pressed = place.button(label, icon=":material/compress:", type="primary", key="pack")
    key = text.key("pack", model_cache.digest(context.info))
    data = ask(key, text.name, make, pressed=pressed, shared=True, patience=0.5).show("compression")
    if data is None:
        return
    place.empty()
    more = len(data) - promised
    off = ngettext("{n} byte from the prediction", "{n} bytes from the prediction", abs(more))
    times = _("{times} times as large").format(times=f"{score.bytes / len(data):.1f}")
    plainly: dict[str, Any] = {"delta_color": "off", "delta_arrow": "off"}
    one, two, three = st.columns(3)
    about = _("Bits per character times characters, divided by 8 and rounded up.")
    one.metric(_("Predicted by the perplexity, in bytes"), f"{promised:,}", help=about)
    two.metric(_("Compressed file, in bytes"), f"{len(data):,}", delta=off.format(n=f"{more:+,}"), **plainly)
    three.metric(_("Text in UTF-8, in bytes"), f"{score.bytes:,}", delta=times, **plainly)
    st.caption(
        _(
            "The difference is the file's header and rounding. "
            "Only this model can decompress the file: it takes the same predictions."
        )
    )
    st.success(
        _(
            "The {size} gave back the text as the model read it, every character the same. "
            "So the perplexity foretold the size of this file."
        ).format(size=size(len(data))),
        icon=":material/verified:",
    )
    name = f"{text.name}.rnnviz"
    download.button(_("Download the compressed file"), lambda: data, name, "application/octet-stream")
