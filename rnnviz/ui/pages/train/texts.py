"""The text to train on: a corpus by name, an uploaded file, a pasted text; and its contents."""

import hashlib
import io
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import streamlit as st

from rnnviz.errors import ConfigError, RnnvizError
from rnnviz.i18n import _
from rnnviz.text import corpora
from rnnviz.text.characters import visible
from rnnviz.text.files import LONGEST_NAME, printable
from rnnviz.training.presets import twice
from rnnviz.ui import forgetting, pasting
from rnnviz.ui.hosting import allowed
from rnnviz.ui.jobs.worker import Jobs
from rnnviz.ui.pages.perplexity import texts as shared
from rnnviz.ui.pages.perplexity import uploads
from rnnviz.ui.sidebar import preformatted
from rnnviz.ui.trouble import describe, plain
from rnnviz.ui.words import size

UPLOAD, PASTE = "own:upload", "own:paste"
TOY = "machine"
FIRST = (TOY, "timemachine")
"""What a newcomer meets first: a word, then a book."""

KEY = "train-text"
_KEPT = "train.own"  # the reader's own text outlives the widget it came from


@dataclass(frozen=True)
class Chosen:
    """A text to train on: a `corpus`, or the reader's `text`; `symbols` is V of a model that reads it."""

    corpus: str
    name: str
    title: str
    language: str
    text: str
    sha256: str
    characters: int
    distinct: int
    symbols: int
    parts: tuple[int, int, int]

    @property
    def toy(self) -> bool:
        """Whether it is too short to split, as the textbook's word is."""
        return not self.parts[1]


def choose(jobs: Jobs) -> Chosen | None:
    """The picker, with the options of the choice; None if there is no text yet."""
    about = {name: corpora.describe(name) for name in corpora.names()}
    first = [n for n in FIRST if n in about]
    names = [*first, *(n for n in about if n not in first), UPLOAD, PASTE]

    def label(name: str) -> str:
        if name == UPLOAD:
            return _("Your own file")
        if name == PASTE:
            return _("Your own text, pasted")
        info = about[name]
        fetch = " · " + _("download") if info.needs_download else ""
        return f"{_title(info)} · {size(info.bytes)}{fetch}"

    picked = st.selectbox(
        _("1 · Text"),
        names,
        key=KEY,
        persist_state="session",
        format_func=label,
        help=_("The network reads it again and again, and learns which character comes next."),
    )
    return None if picked is None else _load(jobs, picked, about)


def _title(info: corpora.CorpusInfo) -> str:
    return _("“machine”, the toy") if info.name == TOY else info.title


def _load(jobs: Jobs, picked: str, about: dict[str, corpora.CorpusInfo]) -> Chosen | None:
    with st.container(key="train-own"):
        try:
            if picked == UPLOAD:
                return _uploaded()
            if picked == PASTE:
                return _pasted()
            info = about[picked]
            if info.needs_download:
                st.caption(
                    _("**{title}**: {size} from {source}, licence: {licence}.").format(
                        title=plain(info.title),
                        size=size(info.bytes),
                        source=plain(info.source),
                        licence=plain(info.licence),
                    )
                )
                if not shared.fetched(jobs, info):
                    return None
            return _named(picked)
        except RnnvizError as error:
            st.error(describe(error), icon=":material/error:")
            return None


def _uploaded() -> Chosen | None:
    file = st.file_uploader(
        _("A text file"),
        key=(key := forgetting.fresh("train-file")),
        max_upload_size=allowed.megabytes(),
        help=_("Plain text, in any language and encoding. It stays on the machine that runs this app."),
    )
    if file is not None:
        data = file.getvalue()
        if not allowed.to_read(len(data)):
            raise too_large(len(data))
        digest = hashlib.sha256(data).hexdigest()
        if st.session_state.get(_KEPT, ("",))[0] != digest:
            source: Any = io.BytesIO(data)
            source.name = printable(file.name, LONGEST_NAME)
            from rnnviz.text.decoding import open_text

            text = "".join(open_text(source))
            st.session_state[_KEPT] = (digest, source.name, text)
    if _KEPT not in st.session_state:
        if st.session_state.get(key) is not None:  # the browser's field still lists it
            uploads.say_lost()
        return None
    digest, name, text = st.session_state[_KEPT]
    if file is None:
        st.caption(_("Still here: **{name}**").format(name=plain(name)))
    return _own(text, name)


def _pasted() -> Chosen | None:
    text = pasting.field(
        "train-paste",
        height=120,
        placeholder=_("Paste a story, a poem or a program: a few thousand characters or more."),
    )
    if text and not allowed.to_read(len(text.encode("utf-8", "surrogatepass"))):
        raise too_large(len(text))
    return _own(text, _("pasted text")) if text else None


def too_large(bytes: int) -> ConfigError:
    """That a visitor's text is too large."""
    return ConfigError(
        "a visitor's text has at most {most} MB; received {size:.1f}. Choose a shorter one.",
        most=allowed.megabytes(),
        size=bytes / 1e6,
    )


@st.cache_data(max_entries=8, show_spinner=False)
def _named(name: str) -> Chosen:
    return _described(corpora.read(name), corpus=name, name=name)


@st.cache_data(max_entries=2, show_spinner=False, scope="session")
def _own(text: str, title: str) -> Chosen:
    name = file_name(title.rsplit(".", 1)[0])
    return _described(corpora.from_text(text, title=title), corpus="", name=name)


def _described(about: corpora.Corpus, *, corpus: str, name: str) -> Chosen:
    split = about.split()
    counts = Counter(split.train)
    often = 1 if not split.validation else 2
    return Chosen(
        corpus=corpus,
        name=name,
        title=about.title,
        language=about.language,
        text=about.text,
        sha256=about.sha256,
        characters=about.characters,
        distinct=len(set(about.text)),
        symbols=1 + sum(n >= often for n in counts.values()),
        parts=(len(split.train), len(split.validation), len(split.held_out)),
    )


def file_name(title: str) -> str:
    """A title as a valid file name."""
    kept = re.sub(r"[^A-Za-z0-9_-]", "-", title)
    return re.sub(r"--+", "-", kept).strip("-_")[:40].lower() or "own-text"


def facts(text: Chosen) -> None:
    """A text's length, its split, and its beginning."""
    n = text.characters
    st.markdown(
        _("**{title}**: {characters} characters, {distinct} of them different.").format(
            title=plain(text.title), characters=f"{n:,}", distinct=f"{text.distinct:,}"
        )
    )
    if text.toy:
        st.caption(
            _(
                "Too short to be split: it is all training text, and nothing is held out. The network reads "
                "it twice in a row, and so learns what follows its end."
            )
            if twice(text.text) != text.text
            else _("Too short to be split: it is all training text, and nothing is held out.")
        )
    else:
        train, validation, held_out = text.parts
        st.html(_bar(text.parts))
        st.caption(
            _(
                "Split in order. Training text: **{train}** characters. Validation text: **{validation}**, "
                "measured while it learns. Held-out text: **{held_out}**, measured once at the end."
            ).format(train=f"{train:,}", validation=f"{validation:,}", held_out=f"{held_out:,}")
        )
    beginning = text.text[:300].replace("\t", "    ")
    if len(text.text) <= 40:
        beginning = "".join(map(visible, beginning))
    st.html(preformatted(beginning + (" …" if n > 300 else "")))


def _bar(parts: tuple[int, int, int]) -> str:
    """The three parts as a bar; numbers only, so there is nothing to escape."""
    total = max(1, sum(parts))
    pieces = "".join(
        f"<span style='width:{100 * part / total:.2f}%;background:currentColor;opacity:{strength}'></span>"
        for part, strength in zip(parts, (0.75, 0.45, 0.2), strict=True)
    )
    style = "display:flex;gap:2px;height:8px;border-radius:4px;overflow:hidden"
    return f"<div aria-hidden='true' style='{style}'>{pieces}</div>"
