"""The texts that a reader chose, from uploaded files, a pasted text and a corpus, and which are scored:
the newest, or those of the tab that is looked at; others beside them only when asked.
"""

import hashlib
import io
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import streamlit as st

from rnnviz.errors import RnnvizError
from rnnviz.i18n import N_, _, ngettext
from rnnviz.text import corpora
from rnnviz.text.files import LONGEST_NAME, printable
from rnnviz.ui import address, example_text, paste_field
from rnnviz.ui.compressed_text import LONGEST, unpack
from rnnviz.ui.error_messages import describe, plain
from rnnviz.ui.fields import Field
from rnnviz.ui.hosting import permissions
from rnnviz.ui.jobs.pending import ask
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import Check, Step, Steps
from rnnviz.ui.pages.perplexity import uploads

ENCODINGS = "perplexity.encodings"  # those that the reader chose, by the checksums of files
STOPPED = "perplexity.stopped"  # the characters after which the reader stopped, by a text's identity
STRAIGHT = "perplexity.straight"  # the checksums of the texts whose curly quotes are read as straight ones
CORPUS = Field[str | None]("corpus", address="corpus", title=N_("Corpus"))
PART = Field("corpus-part", "held out")
SOURCES = Field[tuple[str, ...]]("sources", ())
PASTED = Field("pasted", "", address="text", title=N_("Text"), check=unpack)
_TAB = "perplexity.source"  # the label of the tab in view
_SEEN = "perplexity.sources.seen"  # the checksums of each source's texts at the last run


@dataclass(frozen=True)
class Text:
    """A file's bytes or a text; `content` is the SHA-256, `encoding` the reader's choice or None, `straight`
    whether curly quotes are read as straight ones, `most` the characters after which the reader stopped, or
    None.
    """

    name: str
    content: str
    data: bytes | None = None
    text: str | None = None
    encoding: str | None = None
    straight: bool = False
    most: int | None = None

    @property
    def identity(self) -> Hashable:
        """What decides its figures, beside the model and how much of it is read."""
        return self.content, self.encoding, self.data is None, self.straight

    def key(self, what: str, *rest: Hashable) -> Key:
        """The key of what is made of it; the `rest` decides that too, as a model's digest."""
        return Key(what, self.content, (self.identity, self.most, *rest))

    @property
    def size(self) -> int:
        """Bytes of the file or characters of the text."""
        return len(self.data if self.data is not None else self.text or "")

    def source(self, check: Check) -> dict[str, Any]:
        """As keyword arguments of `rnnviz.perplexity`; `check` is called at each read of the file."""
        file = _Named(self.data, self.name, check) if self.data is not None else None
        return {"path": file, "text": self.text, "encoding": self.encoding, "name": self.name}

    def beginning(self, most: int, encoding: str | None) -> str:
        """The first characters; of a file, in the `encoding` that was found."""
        if self.data is None:
            return (self.text or "")[:most]
        try:
            return self.data[: 4 * most].decode(encoding or "utf-8", "ignore")[:most]
        except LookupError:
            return ""


class _Named(io.BytesIO):
    """Bytes as a file with a name, for messages about it; `check` may end the reading."""

    def __init__(self, data: bytes, name: str, check: Check) -> None:
        super().__init__(data)
        self.name, self._check = name, check

    def read(self, size: int | None = -1, /) -> bytes:
        self._check()
        return super().read(size)

    def readline(self, size: int | None = -1, /) -> bytes:
        self._check()
        return super().readline(size)


def chosen() -> tuple[list[Text], list[Text]]:
    """The texts to score, and all that are there: uploaded files, the pasted text, the corpus."""
    PASTED.now(usual=PASTED.get())  # going back takes nothing away: an address holds short texts alone
    upload, paste, corpus = _tabs()
    with upload:
        files = uploads.files()
    with paste, st.form("paste", border=False):
        pasted = paste_field.field("pasted", height=140, placeholder=_("Paste or type a text here."))
        st.form_submit_button(_("Score this text"), type="primary")
        if pasted and not permissions.to_read(len(pasted.encode("utf-8", "surrogatepass"))):
            said = _("A visitor's text has at most {size} MB.").format(size=permissions.megabytes())
            st.warning(said, icon=":material/block:")
            pasted = ""
    with corpus:
        picked = _from_corpus()
    there = {
        "files": [_uploaded(file) for file in files],
        "paste": [given(_("pasted text"), pasted)] if pasted else [],
        "corpus": picked,
    }
    there = {name: [_as_asked(text) for text in found] for name, found in there.items()}
    wanted = _scored(there)
    kept = pasted if there["paste"] and there["paste"][0] in wanted and len(pasted) <= LONGEST else None
    address.say(text=kept)  # so that a reload finds it
    return _distinct(wanted), _distinct(chain.from_iterable(there.values()))


def _as_asked(text: Text) -> Text:
    """The text as the reader asked to read it."""
    text = replace(text, straight=text.content in st.session_state.get(STRAIGHT, ()))
    return replace(text, most=st.session_state.get(STOPPED, {}).get(text.identity))


def _distinct(texts: Iterable[Text]) -> list[Text]:
    """The texts without duplicates, with unique names: a name stands for its text in tables and choices."""
    found: dict[str, Text] = {}
    for text in texts:
        name, number = text.name, 1
        while name in found and found[name].identity != text.identity:
            number += 1
            name = f"{text.name} ({number})"
        found.setdefault(name, replace(text, name=name))
    return list(found.values())


def _uploaded(file: Any) -> Text:
    """An uploaded file, whose checksum is computed once, not at every click."""
    digests: dict[str, str] = st.session_state.setdefault("perplexity.digests", {})
    data = file.getvalue()
    if file.file_id not in digests:
        digests[file.file_id] = hashlib.sha256(data).hexdigest()
    content = digests[file.file_id]
    encoding = st.session_state.get(ENCODINGS, {}).get(content)
    return Text(printable(file.name, LONGEST_NAME), content, data=data, encoding=encoding)


def given(name: str, text: str) -> Text:
    return Text(name, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), text=text)


def example(card: Mapping[str, Any]) -> Text:
    """An example that suits the model, before anyone chose a text."""
    return given(_("an example"), example_text.example(card))


# The tabs, and which of them are scored.


def _labels() -> dict[str, str]:
    return {"files": _("Upload files"), "paste": _("Paste a text"), "corpus": _("Pick a corpus")}


def _tabs() -> Sequence[Any]:
    """A tab for each of "files", "paste" and "corpus"; at first that of what is scored is in view."""
    state, labels = st.session_state, _labels()
    if state.get(_TAB) not in labels.values():  # the reader has come back, or speaks another language now
        arrived = [name for name, field in (("paste", "text"), ("corpus", "corpus")) if address.asked(field)]
        asked = (*arrived, *SOURCES.get(), "files")
        state[_TAB] = labels[asked[0]]
    return st.tabs(list(labels.values()), key=_TAB, on_change=_turned)


def _in_view() -> str:
    return next(name for name, label in _labels().items() if label == st.session_state[_TAB])


def _turned() -> None:
    """Score the texts of the tab that was turned to, if it has any."""
    name = _in_view()
    if name in st.session_state.get(_SEEN, {}) and name not in SOURCES.get():
        SOURCES.put((name,))


def _follow() -> None:
    """Turn to a tab of the texts that were chosen."""
    chosen = SOURCES.get()
    if chosen and _in_view() not in chosen:
        st.session_state[_TAB] = _labels()[chosen[0]]


def _scored(texts: Mapping[str, Sequence[Text]]) -> list[Text]:
    """The texts to score, of those from "files", "paste" and "corpus". A source whose texts are new takes the
    place of the others, unless it was chosen together with them.
    """
    state, there = st.session_state, [name for name in texts if texts[name]]
    seen = state.get(_SEEN, {})
    state[_SEEN] = {name: {text.content for text in texts[name]} for name in there}
    fresh = tuple(name for name in there if state[_SEEN][name] - seen.get(name, set()))
    if not set(fresh) <= set(SOURCES.get()):
        SOURCES.put(fresh[:1] if address.arrived() else fresh)  # an address may name more than one
    chosen = SOURCES.now(there) or SOURCES.now(there, tuple(there[:1]))
    if len(there) > 1:
        st.pills(
            _("Texts to score"),
            there,
            selection_mode="multi",
            format_func=lambda name: _called(name, texts[name]),
            help=_("New texts are scored alone. Choose the others here to score them too."),
            on_change=_follow,
            **SOURCES.widget,
        )
    elif there and _in_view() not in there:
        name = plain(_called(there[0], texts[there[0]]))
        st.markdown(_("**{name}**, until you choose a text here:").format(name=name))
    return [text for name in there if name in chosen for text in texts[name]]


def _called(name: str, texts: Sequence[Text]) -> str:
    if name == "files":
        return ngettext("{n} uploaded file", "{n} uploaded files", len(texts)).format(n=len(texts))
    return _("Pasted text") if name == "paste" else texts[0].name if texts else ""


# A corpus.


def _from_corpus() -> list[Text]:
    """The chosen corpus, or the part of it that a model trained on it has never read."""
    which, how = st.columns([3, 2], vertical_alignment="bottom")
    about = {name: corpora.describe(name) for name in corpora.names()}
    words = {name: f"{one.title} · {one.bytes / 1e6:.1f} MB" for name, one in about.items()}
    name = CORPUS.choose(
        _("Corpus"), words, draw=which.selectbox, index=None, placeholder=_("Choose a corpus")
    )
    words = {"held out": _("The last 10 % (held out)"), "all": _("The whole corpus")}
    help = _("The shipped models trained on this corpus have not read its last tenth.")
    with how:
        part = PART.choose(_("Part"), words, help=help)
    if name is None or (about[name].needs_download and not fetched(about[name])):
        return []
    try:
        content, text = _read(name, part)
    except RnnvizError as error:
        st.error(describe(error), icon=":material/error:")
        return []
    return [Text(about[name].title, content, text=text)]


@st.cache_resource(max_entries=4, show_spinner=False)
def _read(name: str, part: str) -> tuple[str, str]:
    """The checksum and the text of a part of a corpus; all of it if too short to split."""
    corpus = corpora.read(name)
    text = corpus.text if part == "all" else corpus.split().held_out or corpus.text
    return hashlib.sha256(text.encode("utf-8")).hexdigest(), text


def fetched(info: corpora.CorpusInfo) -> bool:
    """Whether a corpus was just downloaded; until then, shows the button for it."""
    if not permissions.to_fetch():
        st.info(_("This text is not on this machine yet. The lecturer can download it."))
        return False
    fetch = partial(
        ask, Key("fetch", rest=info.name), info.title, partial(_fetching, info.name), kind="download"
    )
    found = fetch(pressed=False)
    if found.waits or found.value:
        return found.show("fetch") is not None
    if found.job is not None and found.job.error is not None:
        st.error(describe(found.job.error), icon=":material/cloud_off:")
    label = _("Download it ({size} MB)").format(size=f"{info.bytes / 1e6:.1f}")
    if st.button(label, icon=":material/download:", key="fetch"):
        fetch(pressed=True)
        st.rerun()
    st.caption(_("From {source}. It is kept on this machine.").format(source=info.source))
    return False


def _fetching(name: str, check: Check) -> Steps[bool]:
    yield Step(0.0)
    corpora.fetch(name, progress=lambda received, expected: check())
    return True
