"""The reader's texts, from uploaded files, a pasted text and a corpus, and the choice of those to score.

The newest are scored, or those of the tab in view; others with them only on request.
"""

import hashlib
import io
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import streamlit as st

from rnnviz.errors import RnnvizError
from rnnviz.i18n import N_, _, ngettext
from rnnviz.networks.progress import Progress, Share
from rnnviz.page.formatting import size
from rnnviz.text import corpora
from rnnviz.text.characters import REWRITINGS
from rnnviz.text.decoding import binary_format, open_text
from rnnviz.text.files import MAX_NAME_CHARS, printable
from rnnviz.ui.jobs import clear_data
from rnnviz.ui.jobs.pending import ask
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.shell import address, example_text, fields
from rnnviz.ui.shell.address import MAX_ADDRESS_TEXT_CHARS, unpack_text
from rnnviz.ui.shell.error_messages import describe, plain
from rnnviz.ui.shell.fields import Field

FIELD = "files"
# Characters of the files' names in the address: enough to name the files that a reload has lost.
MAX_NAMES_CHARS = 80
# Keys of st.session_state.
_FOLDER = "perplexity.folder"  # whether the field takes a folder, not files
_UPLOADS = "perplexity.uploads"  # files by id
_RESETS = "perplexity.uploads.emptied"  # how often the field listed files that the server had lost
_LOST_NAMES = "perplexity.uploads.gone"  # names of files that the server has lost
_LISTED_IDS = "perplexity.uploads.shown"  # ids of the files that the field lists


def uploaded_files() -> list[Any]:
    """Draw the upload field and, below it, earlier uploads. Returns all files.

    Files are kept while the reader visits other pages; Streamlit's own field would drop them.
    """
    state = st.session_state
    folder = state.get(_FOLDER, False)
    field = _field_key()
    files = st.file_uploader(
        _("A folder with text files") if folder else _("Text files: drop them here or choose them"),
        accept_multiple_files="directory" if folder else True,
        key=field,
        on_change=_on_upload_change,
        help=_("Plain text in any language and encoding. Files stay on the machine that runs this app."),
    )
    st.toggle(_("Upload a folder"), key=_FOLDER, persist_state="session")
    # In the state, a lost file is a `DeletedFile` without bytes; the field's return value leaves it out.
    if has_lost_file(state[field]):
        _store_uploads(files)
        # Only a field of another key forgets what the browser lists.
        state[_RESETS] = state.get(_RESETS, 0) + 1
        state.setdefault(_LOST_NAMES, _("Your files"))
        st.rerun()
    _store_uploads(files)
    uploads: dict[str, Any] = state[_UPLOADS]
    if named := address.requested_value("files"):
        state[_LOST_NAMES] = named
    if uploads:
        state.pop(_LOST_NAMES, None)
    if _LOST_NAMES in state:
        warning = _("**{names}**: no longer here. A reload removes files; upload them again.")
        st.warning(
            warning.format(names=plain(state[_LOST_NAMES], MAX_NAMES_CHARS)), icon=":material/upload_file:"
        )
    address.set_values(files=", ".join(file.name for file in uploads.values())[:MAX_NAMES_CHARS] or None)
    earlier = [file for id, file in uploads.items() if id not in state[_LISTED_IDS]]
    if earlier:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(_("Uploaded before:"), width="content")
            for file in earlier:
                st.button(
                    plain(file.name),
                    key=f"forget-{file.file_id}",
                    icon=":material/close:",
                    help=_("Remove this file"),
                    on_click=_remove_file,
                    args=(file.file_id,),
                )
    return [file for file in (*earlier, *files) if not _is_hidden(file)]


def _is_hidden(file: Any) -> bool:
    """Whether a file in an uploaded folder, or a folder on its path, is hidden, as system files are."""
    return any(part.startswith(".") for part in file.name.split("/")[1:])


def _field_key() -> str:
    name = clear_data.upload_key(f"{FIELD}.folder" if st.session_state.get(_FOLDER) else FIELD)
    return f"{name}.{emptied}" if (emptied := st.session_state.get(_RESETS)) else name


def has_lost_file(files: list[Any]) -> bool:
    """Whether the browser lists files that the server has lost, as after a restart."""
    return any(not hasattr(file, "getvalue") for file in files)


def _remove_file(id: str) -> None:
    st.session_state[_UPLOADS].pop(id, None)
    clear_data.remove_upload(id)


def _on_upload_change() -> None:
    # Only files that this field listed and no longer lists: those uploaded before, on an earlier visit of the
    # page, were never in it.
    files = [file for file in st.session_state[_field_key()] or [] if not has_lost_file([file])]
    removed = st.session_state.get(_LISTED_IDS, set()) - {file.file_id for file in files}
    for id in removed:
        st.session_state[_UPLOADS].pop(id, None)


def _store_uploads(files: list[Any]) -> None:
    state = st.session_state
    state[_LISTED_IDS] = {file.file_id for file in files}
    state.setdefault(_UPLOADS, {}).update({file.file_id: file for file in files})


# Keys of st.session_state.
ENCODINGS = "perplexity.encodings"  # chosen encodings, by the file's checksum
STOPPED = "perplexity.stopped"  # characters after which the reader stopped, by the text's identity
_REWRITTEN = "perplexity.rewritten"  # what each text was rewritten by, by the checksum of its first form
_FORMS = "perplexity.forms"  # rewritten texts, by their first form and by what they were rewritten by
CORPUS = Field[str | None]("corpus", address="corpus", title=N_("Corpus"))
PART = Field("corpus-part", "held out")
SOURCES = Field[tuple[str, ...]]("sources", ())
PASTED = Field("pasted", "", address="text", title=N_("Text"), parse=unpack_text)
_TAB = "perplexity.source"  # the label of the tab in view
_LAST_TEXTS = "perplexity.sources.seen"  # the checksums of each source's texts at the last run


@dataclass(frozen=True)
class ReaderText:
    """A text to score.

    sha256           the checksum of its bytes, or of its UTF-8
    data             a file's bytes; None for a `text`
    encoding         the file's encoding if the reader has chosen one, else None
    stopped_at       characters after which the reader stopped, else None
    original_sha256  that of the text which the reader has had rewritten; "" for a text as it came
    """

    name: str
    sha256: str
    data: bytes | None = None
    text: str | None = None
    encoding: str | None = None
    stopped_at: int | None = None
    original_sha256: str = ""

    @property
    def identity(self) -> Hashable:
        """The values that its result depends on, apart from the model and `stopped_at`."""
        return self.sha256, self.encoding, self.data is None

    def key(self, kind: str, *rest: Hashable) -> Key:
        """The key of a result of this `kind` on this text; `rest` has all else that it depends on, such as a
        model's digest.
        """
        return Key(kind, self.sha256, (self.identity, self.stopped_at, *rest))

    @property
    def size(self) -> int:
        """Bytes of the file or characters of the text."""
        return len(self.data if self.data is not None else self.text or "")

    def source(self, check: Callable[[], None]) -> dict[str, Any]:
        """The text as keywords of `rnnviz.perplexity`; each read of the file calls `check`."""
        # A job reads the file in pieces, so that it can be cancelled while its encoding is being detected.
        file = _NamedBytes(self.data, self.name, check) if self.data is not None else None
        return {"path": file, "text": self.text, "encoding": self.encoding, "name": self.name}

    def beginning(self, max_chars: int, encoding: str | None) -> str:
        """The first `max_chars` characters; a file's bytes are decoded by `encoding`, as detected."""
        if self.data is None:
            return (self.text or "")[:max_chars]
        # The first piece alone: decoding all of a large file would hold up the page.
        return next(iter(open_text(io.BytesIO(self.data), encoding=encoding, name=self.name)), "")[:max_chars]


class _NamedBytes(io.BytesIO):
    """Bytes as a file with a name, for messages; `check`, called at each read, may raise to end it."""

    def __init__(self, data: bytes, name: str, check: Callable[[], None]) -> None:
        super().__init__(data)
        self.name, self._check = name, check

    def read(self, size: int | None = -1, /) -> bytes:
        self._check()
        return super().read(size)


def choose_texts() -> tuple[list[ReaderText], list[ReaderText]]:
    """Draw the tabs. Returns the texts to score, and all texts: uploaded files, pasted text, corpus."""
    # Back resets a field whose value its address lacks. A long text is in no address, so what the field holds
    # is its default here, and Back leaves it.
    PASTED.resolve(usual=PASTED.get())
    upload, paste, corpus = _tabs()
    with upload:
        files = uploaded_files()
    # A form: without it the text would be scored whenever the reader leaves the field.
    with paste, st.form("paste", border=False):
        pasted = fields.paste_field("pasted", height=140, placeholder=_("Paste or type a text here."))
        st.form_submit_button(_("Score this text"), type="primary")
    with corpus:
        picked = _choose_corpus()
    by_source = {
        "files": [_file_text(file) for file in files],
        "paste": [plain_text(_("pasted text"), pasted)] if pasted else [],
        "corpus": picked,
    }
    # A rewritten text is as large as its original: it goes once the reader has removed that.
    checksums = {text.sha256 for texts in by_source.values() for text in texts}
    forms: dict[Hashable, ReaderText] = st.session_state.get(_FORMS, {})
    st.session_state[_FORMS] = {key: form for key, form in forms.items() if form.original_sha256 in checksums}
    by_source = {name: [apply_choices(text) for text in texts] for name, texts in by_source.items()}
    texts = _texts_to_score(by_source)
    address_text = (
        pasted
        if by_source["paste"] and by_source["paste"][0] in texts and len(pasted) <= MAX_ADDRESS_TEXT_CHARS
        else None
    )
    address.set_values(text=address_text)  # so that a reload finds it
    return _unique_texts(texts), _unique_texts(chain.from_iterable(by_source.values()))


def apply_choices(text: ReaderText) -> ReaderText:
    """The text with the reader's choices: rewritten, and read as far as the reader let it be."""
    for name in st.session_state.get(_REWRITTEN, {}).get(text.sha256, ()):
        text = rewritten_text(text, name)
    return replace(text, stopped_at=st.session_state.get(STOPPED, {}).get(text.identity))


def rewritten_text(text: ReaderText, name: str) -> ReaderText:
    """The text rewritten by one of REWRITINGS: another text, made once."""
    forms: dict[Hashable, ReaderText] = st.session_state[_FORMS]  # `choose_texts` has made it
    # Made once and kept: each run of the page would decode and rewrite the whole text again.
    key = text.identity, name
    if key not in forms:
        original = text.text or ""
        if text.data is not None:
            original = "".join(open_text(io.BytesIO(text.data), encoding=text.encoding, name=text.name))
        new_name = {
            "composed": _("{name}, accents composed"),
            "straight": _("{name}, straight quotes"),
            "plain": _("{name}, plain dashes"),
        }[name].format(name=text.name)
        forms[key] = replace(
            plain_text(new_name, REWRITINGS[name](original)),
            original_sha256=text.original_sha256 or text.sha256,
        )
    return forms[key]


def request_rewriting(sha256: str, name: str) -> None:
    """Have the text with this checksum rewritten; a pasted one in its field."""
    # A pasted text is changed where the reader sees it, and can edit it further.
    if plain_text("", PASTED.get()).sha256 == sha256:
        PASTED.request(REWRITINGS[name](PASTED.get()))
        return
    rewritings: dict[str, tuple[str, ...]] = st.session_state.setdefault(_REWRITTEN, {})
    rewritings[sha256] = (*rewritings.get(sha256, ()), name)


def undo_rewriting(sha256: str) -> None:
    """Show the text with this checksum as it came."""
    # The second of two quick clicks finds no entry: both were made on a page that still had the button.
    st.session_state[_REWRITTEN].pop(sha256, None)


def _unique_texts(texts: Iterable[ReaderText]) -> list[ReaderText]:
    """The texts without duplicates, with unique names, by which tables and choices identify them."""
    # Two files of one name and one content are one text; of two contents, the second becomes "name (2)".
    by_name: dict[str, ReaderText] = {}
    for text in texts:
        name, number = text.name, 1
        while name in by_name and by_name[name].identity != text.identity:
            number += 1
            name = f"{text.name} ({number})"
        by_name.setdefault(name, replace(text, name=name))
    return list(by_name.values())


def _file_text(file: Any) -> ReaderText:
    """An uploaded file; its checksum is cached, because every click reruns the page."""
    digests: dict[str, str] = st.session_state.setdefault("perplexity.digests", {})
    data = file.getvalue()
    if file.file_id not in digests:
        digests[file.file_id] = hashlib.sha256(data).hexdigest()
    sha256 = digests[file.file_id]
    encoding = st.session_state.get(ENCODINGS, {}).get(sha256)
    return ReaderText(printable(file.name, MAX_NAME_CHARS), sha256, data=data, encoding=encoding)


def plain_text(name: str, text: str) -> ReaderText:
    return ReaderText(name, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), text=text)


def example(card: Mapping[str, Any]) -> ReaderText:
    """The example text for the model of this `card`, shown until the reader chooses a text."""
    return plain_text(_("an example"), example_text.example(card))


# The tabs, and the choice of sources to score.


def _labels() -> dict[str, str]:
    return {"files": _("Upload files"), "paste": _("Paste a text"), "corpus": _("Pick a corpus")}


def _tabs() -> Sequence[Any]:
    """The tabs of "files", "paste" and "corpus"; at first the one of the scored texts is in view."""
    state, labels = st.session_state, _labels()
    if state.get(_TAB) not in labels.values():  # the reader has returned, or has changed the language
        arrived = [
            name
            for name, field in (("paste", "text"), ("corpus", "corpus"))
            if address.requested_value(field)
        ]
        candidates = (*arrived, *SOURCES.get(), "files")
        state[_TAB] = labels[candidates[0]]
    return st.tabs(list(labels.values()), key=_TAB, on_change=_on_tab_change)


def _in_view() -> str:
    return next(name for name, label in _labels().items() if label == st.session_state[_TAB])


def _on_tab_change() -> None:
    """Score the texts of the tab in view, if it has any."""
    name = _in_view()
    if name in st.session_state.get(_LAST_TEXTS, {}) and name not in SOURCES.get():
        SOURCES.request((name,))


def _show_chosen_tab() -> None:
    """Bring a tab of the chosen texts into view."""
    chosen = SOURCES.get()
    if chosen and _in_view() not in chosen:
        st.session_state[_TAB] = _labels()[chosen[0]]


def _texts_to_score(texts: Mapping[str, Sequence[ReaderText]]) -> list[ReaderText]:
    """The texts to score, among those of each source ("files", "paste", "corpus"). A source with new texts
    replaces the chosen ones, unless it is among them.
    """
    # What is new is what the reader has just brought: compared with the last run, source by source.
    state, sources = st.session_state, [name for name in texts if texts[name]]
    last_texts = state.get(_LAST_TEXTS, {})
    state[_LAST_TEXTS] = {name: {text.sha256 for text in texts[name]} for name in sources}
    fresh = tuple(name for name in sources if state[_LAST_TEXTS][name] - last_texts.get(name, set()))
    if not set(fresh) <= set(SOURCES.get()):
        # An address may name a corpus and a text: the first is scored, not both together.
        SOURCES.request(fresh[:1] if address.has_just_arrived() else fresh)
    chosen = SOURCES.resolve(sources) or SOURCES.resolve(sources, tuple(sources[:1]))
    if len(sources) > 1:
        st.pills(
            _("Texts to score"),
            sources,
            selection_mode="multi",
            format_func=lambda name: _source_label(name, texts[name]),
            help=_("New texts are scored alone. Choose the others here to score them too."),
            on_change=_show_chosen_tab,
            **SOURCES.widget,
        )
    elif sources and _in_view() not in sources:
        name = plain(_source_label(sources[0], texts[sources[0]]))
        st.markdown(_("**{name}**, until you choose a text here:").format(name=name))
    return [text for name in sources if name in chosen for text in texts[name]]


def _source_label(name: str, texts: Sequence[ReaderText]) -> str:
    if name == "files":
        return ngettext("{n} uploaded file", "{n} uploaded files", len(texts)).format(n=len(texts))
    return _("Pasted text") if name == "paste" else texts[0].name if texts else ""


# A corpus.


def _choose_corpus() -> list[ReaderText]:
    """Draw the choice of a corpus. Returns its text or its held-out part; [] if there is none yet."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    infos = {name: corpora.describe(name) for name in corpora.names()}
    words = {name: f"{corpus.title} · {size(corpus.bytes)}" for name, corpus in infos.items()}
    name = CORPUS.choose(
        _("Corpus"), words, draw=left.selectbox, index=None, placeholder=_("Choose a corpus")
    )
    words = {"held out": _("The last 10 % (held out)"), "all": _("The whole corpus")}
    help = _("The shipped models trained on this corpus have not read its last tenth.")
    with right:
        part = PART.choose(_("Part"), words, help=help)
    if name is None or (infos[name].needs_download and not offer_download(infos[name])):
        return []
    try:
        sha256, text = _read_corpus(name, part)
    except RnnvizError as error:
        st.error(describe(error), icon=":material/error:")
        return []
    return [ReaderText(infos[name].title, sha256, text=text)]


# A resource, not data: Streamlit copies cached data at each use, and this text may have many megabytes.
@st.cache_resource(max_entries=4, show_spinner=False)
def _read_corpus(name: str, part: str) -> tuple[str, str]:
    """The checksum and the text of a corpus's `part`, "all" or "held out"; all if too short to split."""
    corpus = corpora.read(name)
    text = corpus.text if part == "all" else corpus.split().held_out or corpus.text
    return hashlib.sha256(text.encode("utf-8")).hexdigest(), text


def offer_download(info: corpora.CorpusInfo) -> bool:
    """Whether a corpus has just been downloaded; until then, draws the button that downloads it."""
    # Called twice below: each run looks at the download, and only a press starts it.
    fetch = partial(
        ask, Key("fetch", rest=info.name), info.title, partial(_fetch, info.name), kind="download"
    )
    result = fetch(pressed=False)
    if result.waits or result.value:
        return result.show("fetch") is not None
    if result.job is not None and result.job.error is not None:
        st.error(describe(result.job.error), icon=":material/cloud_off:")
    label = _("Download it ({size} MB)").format(size=f"{info.bytes / 1e6:.1f}")
    if st.button(label, icon=":material/download:", key="fetch"):
        fetch(pressed=True)
        st.rerun()
    st.caption(_("From {source}. It is kept on this machine.").format(source=info.source))
    return False


def _fetch(name: str, progress: Progress) -> bool:
    corpora.fetch(name, progress=lambda received, expected: progress(Share(received / max(1, expected))))
    return True


# Labels by Python's names of encodings; after the dot, the languages that use it.
COMMON_ENCODINGS = {
    "utf-8": "UTF-8",
    "gb18030": "GB18030 / GBK · 简体中文",
    "big5": "Big5 · 繁體中文",
    "shift_jis": "Shift-JIS · 日本語",
    "euc_jp": "EUC-JP · 日本語",
    "euc_kr": "EUC-KR · 한국어",
    "cp1252": "Windows-1252 · Western",
    "iso8859-1": "Latin-1 · Western",
    "cp1250": "Windows-1250 · Central European",
    "cp1251": "Windows-1251 · Кириллица",
    "koi8-r": "KOI8-R · Кириллица",
    "cp1253": "Windows-1253 · Ελληνικά",
    "cp1254": "Windows-1254 · Türkçe",
    "cp1255": "Windows-1255 · עברית",
    "cp1256": "Windows-1256 · العربية",
    "utf-16-le": "UTF-16 LE",
    "utf-16-be": "UTF-16 BE",
    "utf-32-le": "UTF-32 LE",
    "utf-32-be": "UTF-32 BE",
}


def encoding_control(text: ReaderText, encoding: str | None, certainty: str | None) -> None:
    """Draw the `encoding` of a file, its certainty ("declared", "verified" or "guessed"), and the
    choice of another.
    """
    if text.data is None:
        return
    how, why = {
        "declared": (
            _("declared"),
            _("The file begins with a byte order mark, which names its encoding."),
        ),
        "verified": (
            _("verified"),
            _(
                "Every byte is valid UTF-8. A text in another encoding hardly ever is, unless it is plain "
                "ASCII."
            ),
        ),
        "guessed": (
            _("guessed"),
            _(
                "The file doesn't name its encoding, and this one fits best. "
                "Choose another if the text looks wrong."
            ),
        ),
    }[str(certainty)]
    label = COMMON_ENCODINGS.get(str(encoding), str(encoding)).split(" · ")[0]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="encoding"):
        st.markdown(
            _("Encoding **{encoding}**, {how}").format(encoding=plain(label), how=how),
            help=why if text.encoding is None else _("You chose this encoding."),
            width="content",
        )
        encoding_picker(text, beside=True)


def mend_encoding(text: ReaderText) -> None:
    """Draw the choice of an encoding for a file that could not be read; nothing for a binary one."""
    if text.data and not binary_format(text.data[:512]):
        encoding_picker(text)


def encoding_picker(text: ReaderText, *, beside: bool = False) -> None:
    # Both, as two files of one content each have a choice, and Streamlit refuses two widgets of one key.
    key = f"encoding-{text.sha256[:16]}-{text.name}"
    words = {"": _("Detect automatically")}
    for encoding in (*COMMON_ENCODINGS, *filter(None, [text.encoding])):
        words[encoding] = _("Read as {encoding}").format(encoding=COMMON_ENCODINGS.get(encoding, encoding))

    def picked(sha256: str) -> None:  # Streamlit keeps a callback's arguments: the checksum, not the text
        st.session_state.setdefault(ENCODINGS, {})[sha256] = st.session_state[key] or None

    # ENCODINGS holds the choice; the widget only shows it, whatever it held before.
    st.session_state[key] = text.encoding or ""
    st.selectbox(
        _("Encoding") if beside else _("Encoding of {name}").format(name=plain(text.name)),
        list(words),
        key=key,
        format_func=words.__getitem__,
        on_change=picked,
        args=(text.sha256,),
        label_visibility="collapsed" if beside else "visible",
        width=300,
    )
