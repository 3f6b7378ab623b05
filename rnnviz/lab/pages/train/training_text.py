"""The text to train on: a corpus, an uploaded file or a pasted text; and a description of it."""

import contextlib
import io
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import streamlit as st

from rnnviz.errors import RnnvizError, TextError
from rnnviz.i18n import _, language
from rnnviz.lab.fit.presets import textbook_text, twice
from rnnviz.page.formatting import size
from rnnviz.text import corpora
from rnnviz.text.characters import visible
from rnnviz.text.corpora import Corpus
from rnnviz.text.decoding import open_text
from rnnviz.text.files import MAX_NAME_CHARS, printable
from rnnviz.text.row_files import format_of, open_rows
from rnnviz.text.vocabulary import END, usual_min_count
from rnnviz.ui.jobs import clear_data
from rnnviz.ui.pages.perplexity import text_sources as shared
from rnnviz.ui.shell import fields
from rnnviz.ui.shell.error_messages import describe, plain, translate_error
from rnnviz.ui.shell.sidebar import preformatted

UPLOAD, PASTE = "own:upload", "own:paste"
TOY = "machine"
TOYS = {"en": (TOY, "machine"), "zh": ("chunjiang", "春江潮水连海平")}
"""The toy's name and its 7 different characters, by language: the textbook's word, or a line of verse."""

FIRST = (TOY, "timemachine")
"""The first texts of the list: the toy, then a book."""

KEY = "train-text"
_UPLOAD = "train.own"  # a key of st.session_state: the reader's file, decoded; it outlives its upload field


@dataclass(frozen=True)
class TrainingText:
    """A text to train on.

    from_reader  whether it is the reader's own
    symbols      the vocabulary size V of a model that is trained on it
    parts        characters of the training, validation and held-out parts
    rare         characters of the training part that are so rare that they are read as <unk>
    left_out     why rows of the reader's file are left out, by their numbers
    """

    corpus: Corpus
    from_reader: bool
    symbols: int
    parts: tuple[int, int, int]
    rare: int = 0
    left_out: Mapping[int, TextError] = field(default_factory=dict)

    @property
    def trained_on(self) -> str:
        """What a run reads: a text too short to split, unless it ends, twice."""
        return twice(self.corpus.text) if self.toy and not self.corpus.ends else self.corpus.text

    @property
    def toy(self) -> bool:
        """Whether the text is too short to split, as the textbook's word is."""
        return not self.parts[1]


def choose() -> TrainingText | None:
    """Draw the choice of a text, and its fields. Returns the text; None if there is none yet."""
    toy, word = TOYS[language()]
    # dict.fromkeys drops repetitions and keeps the order: FIRST stands at the top.
    about = {name: corpora.describe(name) for name in dict.fromkeys((*FIRST, *corpora.names()))}
    labels = {}
    for name, info in about.items():
        fetch = " · " + _("download") if info.needs_download else ""
        labels[name] = f"{info.title} · {size(info.bytes)}{fetch}"
    labels[TOY] = _("“{word}”, the toy").format(word=word) + f" · {size(len(word.encode()))}"
    labels |= {UPLOAD: _("Your own file"), PASTE: _("Your own text, pasted")}
    picked = st.selectbox(
        _("1 · Text"),
        list(labels),
        key=KEY,
        persist_state="session",
        format_func=labels.__getitem__,
        help=_("The network reads it again and again, and learns which character comes next."),
    )
    with st.container(key="train-own"):
        try:
            if picked == UPLOAD:
                return _uploaded()
            if picked == PASTE:
                return _pasted()
            if picked == TOY != toy:
                return _split_text(
                    corpora.from_text(word, toy, title=f"“{word}”", language=language()), from_reader=False
                )
            return _fetched(about[picked])
        except RnnvizError as error:
            st.error(describe(error), icon=":material/error:")
            return None


def _fetched(info: corpora.CorpusInfo) -> TrainingText | None:
    if info.needs_download:
        st.caption(
            _("**{title}**: {size} from {source}, licence: {licence}.").format(
                title=plain(info.title),
                size=size(info.bytes),
                source=plain(info.source),
                licence=plain(info.licence),
            )
        )
        if not shared.offer_download(info):
            return None
    return _corpus_text(info.name)


def _uploaded() -> TrainingText | None:
    state, key = st.session_state, clear_data.upload_key("train-file")
    file = st.file_uploader(
        _("A text file, or a table of texts"),
        key=key,
        help=_(
            "Plain text, in any language and encoding, or rows: .csv, .jsonl, .parquet. It stays on the "
            "machine that runs this app."
        ),
    )
    # Kept: the field forgets its file when the reader leaves the page.
    if file is not None and state.get(_UPLOAD, ("",))[0] != file.file_id:
        name, data = printable(file.name, MAX_NAME_CHARS), file.getvalue()
        state[_UPLOAD] = file.file_id, name, data, _columns(data, name)
    if _UPLOAD not in state:
        if state.get(key) is not None:  # the browser's field still lists the file, as after a restart
            message = _("The app was restarted, so your files are no longer here. Upload them again.")
            st.warning(message, icon=":material/upload_file:")
        return None
    id, name, data, columns = state[_UPLOAD]
    if file is None:
        st.caption(_("Still here: **{name}**").format(name=plain(name)))
    column = None
    if columns:
        column = st.selectbox(
            _("Column of the texts"),
            [*columns, None],
            key=f"train-column.{id}",
            persist_state="session",
            format_func=lambda column: _("none: read it as plain text") if column is None else column,
            help=_("Each row of this column is one text, start to end. The network learns the end, too."),
        )
    text = _reader_text(data, name, column, lines=column is None and _lines_tick(id))
    if text.left_out:
        rows = [
            _("row {number}: {reason}").format(number=f"{number:,}", reason=plain(translate_error(error)))
            for number, error in list(text.left_out.items())[: corpora.MAX_LEFT_OUT]
        ]
        count = _("Rows left out: {n}.").format(n=f"{len(text.left_out):,}")
        st.warning("  \n".join([count, *rows]), icon=":material/playlist_remove:")
    return text


def _columns(data: bytes, name: str) -> list[str]:
    """The columns of a file of rows, those with texts first; none of another file."""
    with contextlib.suppress(RnnvizError):  # it is then read as plain text, which says what is wrong
        if format_of(name) is not None:
            # No column is chosen yet.
            columns = (file := open_rows(io.BytesIO(data), column="", name=name)).columns
            return list(dict.fromkeys((*file.text_columns(columns), *columns)))
    return []


def _lines_tick(id: str) -> bool:
    """Draw the tick by which the lines of a text are texts that end."""
    return st.checkbox(
        _("Each line is a separate text"),
        key=f"train-lines.{id}",
        persist_state="session",
        help=_("For names, words or verses: the network also learns where a line ends, and stops there."),
    )


def _pasted() -> TrainingText | None:
    text = fields.paste_field(
        "train-paste",
        height=120,
        placeholder=_("Paste a story, a poem or a program: a few thousand characters or more."),
    )
    lines = _lines_tick("paste")
    return _reader_text(text, _("pasted text"), lines=lines) if text else None


@st.cache_data(max_entries=8, show_spinner=False)
def _corpus_text(name: str) -> TrainingText:
    # Cached for all sessions. A reader's own text, below, is cached in its session alone.
    return _split_text(corpora.read(name), from_reader=False)


@st.cache_data(max_entries=1, show_spinner=False)
def textbook() -> TrainingText:
    """The beginning of The Time Machine as the textbook reads it, in no corpus: a run keeps it as it does a
    reader's text.
    """
    book = corpora.read("timemachine")
    return _split_text(replace(book, text=textbook_text(book.text)), from_reader=True)


@st.cache_data(max_entries=2, show_spinner=False, scope="session")
def _reader_text(
    source: str | bytes, title: str, column: str | None = None, *, lines: bool = False
) -> TrainingText:
    """A pasted text, or an uploaded file's bytes; texts that end in a column or in lines."""
    name, left_out = file_name(title.rsplit(".", 1)[0]), dict[int, TextError]()
    if column is not None and isinstance(source, bytes):
        texts, left_out = corpora.column_texts(io.BytesIO(source), column, name=title)
        corpus = corpora.from_texts(texts, name, title=title)
    else:
        text = source if isinstance(source, str) else "".join(open_text(io.BytesIO(source), name=title))
        corpus = corpora.from_text(text, name, title=title)
        if lines:
            corpus = corpora.from_texts(corpus.text.split("\n"), name, title=title)
    return replace(_split_text(corpus, from_reader=True), left_out=left_out)


def _split_text(corpus: Corpus, *, from_reader: bool) -> TrainingText:
    split = corpus.split()
    counts, rarest = Counter(split.train), usual_min_count(len(split.train))
    rare = sum(n < rarest for n in counts.values())
    parts = len(split.train), len(split.validation), len(split.held_out)
    # V: the characters that occur often enough, and <unk>.
    return TrainingText(corpus, from_reader, 1 + len(counts) - rare, parts, rare)


def file_name(title: str) -> str:
    """A title as a valid file name, at most 40 characters of [a-z0-9_-]."""
    safe = re.sub(r"[^A-Za-z0-9_-]+", "-", title)
    return re.sub(r"--+", "-", safe).strip("-_")[:40].lower() or "own-text"


def facts(text: TrainingText) -> None:
    """Draw a text's length, its split, and its beginning."""
    corpus, end = text.corpus, END if END in text.corpus.text else "\n"
    sentence = _("**{title}**: {characters} characters, {distinct} of them different.")
    if corpus.ends:
        sentence = _("**{title}**: {texts} texts that end, {characters} characters with their ends.")
    st.markdown(
        sentence.format(
            title=plain(corpus.title),
            texts=f"{corpus.text.count(end):,}",
            characters=f"{corpus.characters:,}",
            distinct=f"{corpus.distinct:,}",
        )
    )
    train, validation, held_out = text.parts
    if not text.toy:
        sentence = _(
            "Split in order. Training text: **{train}** characters. Validation text: **{validation}**, "
            "measured while it learns. Held-out text: **{held_out}**, measured once at the end."
        ).format(train=f"{train:,}", validation=f"{validation:,}", held_out=f"{held_out:,}")
        if corpus.ends:
            sentence += " " + _("The texts are shuffled first, so that the three parts are alike.")
    elif text.trained_on != corpus.text:
        sentence = _(
            "Too short to be split: it is all training text, and nothing is held out. The network reads "
            "it twice in a row, and so learns what follows its end."
        )
    else:
        sentence = _("Too short to be split: it is all training text, and nothing is held out.")
    if text.rare:
        sentence += " " + _(
            "{count} characters occur only once in the training text: the network reads them as one unknown "
            "character, and never writes them."
        ).format(count=f"{text.rare:,}")
    st.caption(sentence)
    beginning = corpus.text[:300].replace("\t", "    ").replace(END, f"{visible(END)}\n")
    # In so short a text single characters count: spaces and line breaks are made visible.
    if corpus.characters <= 40:
        beginning = "".join(map(visible, beginning))
    st.html(preformatted(beginning + (" …" if corpus.characters > 300 else "")))
