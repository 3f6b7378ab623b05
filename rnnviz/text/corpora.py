"""Texts to train on, by name.

    python-source    the running Python's own standard library, a fixed list of modules
    python-library   all of it that people wrote: without tests, tables and generated files
    python-docs      the language reference that Python's help() shows
    machine          the word of the textbook's toy example
    timemachine      H. G. Wells, The Time Machine, which comes with the package
    names            first names, each a text that ends, a name a line, which come with the package
    tinyshakespeare  scenes from Shakespeare; fetched on request

and the user's own file or text. Only `fetch` uses the network.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import os
import re
import sys
import sysconfig
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import platformdirs

from rnnviz.checks import check_path, check_text, checked, received
from rnnviz.errors import ConfigError, CorpusError, DownloadError, ExportError, TextError
from rnnviz.reprs import ReprMixin
from rnnviz.text import files
from rnnviz.text.characters import normalise
from rnnviz.text.decoding import Source, open_text, warn_of_guess
from rnnviz.text.row_files import open_rows
from rnnviz.text.vocabulary import END, code_points

DownloadProgress = Callable[[int, int], object]  # bytes received, bytes expected

STALL_S, TOTAL_S = 20.0, 600.0
"""Seconds that a download may take: between two arrivals of bytes, and altogether."""

DOWNLOAD_BLOCK_BYTES = 1 << 12
"""Bytes of a download between two looks at the clock."""


def cache_folder() -> Path:
    """The folder for downloads: the environment's RNNVIZ_CACHE, else in the user's cache folder."""
    if folder := os.environ.get("RNNVIZ_CACHE"):
        return Path(os.path.expanduser(folder))
    return platformdirs.user_cache_path("rnnviz")


def _download(url: str, remote: Remote, progress: DownloadProgress | None) -> bytes:
    """The bytes at `url`, with the expected size and checksum. Raises DownloadError.

    An exception of `progress` ends the download.
    """
    import requests  # costs 0.1 s, and most runs download nothing

    deadline, data = time.monotonic() + TOTAL_S, b""
    # Compression would make the size on the way differ from the size of the file.
    headers = {"Accept-Encoding": "identity", "User-Agent": "rnnviz"}
    try:
        with requests.get(url, stream=True, timeout=STALL_S, headers=headers) as response:
            response.raise_for_status()
            for part in response.iter_content(DOWNLOAD_BLOCK_BYTES):
                data += part
                if progress is not None:
                    progress(len(data), remote.bytes)
                if len(data) > remote.bytes or time.monotonic() > deadline:
                    break
    except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError):
        raise DownloadError(
            "{url} needs a connection to {host}: are you offline? Try again, or save the file yourself",
            url=url,
            host=urlsplit(url).hostname,
        ) from None
    except requests.RequestException as error:
        raise DownloadError(
            "{url} can't be fetched ({error}); try again, or save the file yourself", url=url, error=error
        ) from None
    if hashlib.sha256(data).hexdigest() != remote.sha256:
        raise DownloadError(
            "{url} arrived altered or cut off, with {received:,} bytes where there should be {size:,}; try "
            "again, or save the file yourself",
            url=url,
            received=len(data),
            size=remote.bytes,
        )
    return data


# Texts that every Python brings along: its own standard library's source, and its language reference.


VERSION = f"Python {sys.version_info.major}.{sys.version_info.minor}"

# Written in Python, varied, of everyday style, and in every CPython from 3.11 on. The order is part of the
# corpus: the last modules are the ones held out, and they are typical ones.
_MODULES = """
asyncio.locks asyncio.streams asyncio.tasks base64 bdb calendar cmd collections configparser contextlib
dataclasses dis email.message functools gzip http.client http.cookies html.parser json.decoder
json.encoder logging os pickle pkgutil pprint random shlex shutil socket socketserver subprocess
threading traceback urllib.parse uuid weakref xml.etree.ElementPath zoneinfo._zoneinfo statistics copy
selectors sched tokenize textwrap fractions heapq csv glob queue timeit
"""
PYTHON_MODULES = tuple(_MODULES.split())


def _module_file(library: Path, module: str) -> Path:
    # Found by path, not imported: importing runs code, and a file of the same name nearby would shadow it.
    base = library.joinpath(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


def source() -> tuple[str, tuple[str, ...]]:
    """The modules' source, one after another, each under its name; and the names that this machine lacks.

    Raises CorpusError where most are missing.
    """
    parts, skipped, library = [], [], Path(sysconfig.get_path("stdlib"))
    for module in PYTHON_MODULES:
        try:
            code = _module_file(library, module).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            skipped.append(module)
            continue
        parts.append(f"# {module}\n\n{code.strip()}\n")
    if len(skipped) > len(PYTHON_MODULES) // 2:
        raise _no_sources(library)
    return "\n\n".join(parts), tuple(skipped)


# Folders of other people's modules, of tests, of tables and of demonstrations.
_LEFT_OUT = frozenset(
    (
        *("site-packages", "dist-packages", "test", "tests", "idle_test"),
        *("encodings", "pydoc_data", "turtledemo", "__phello__"),
    )
)
_GENERATED = re.compile(r"generated (automatically )?(by|from)|auto-?generated|_sysconfigdata", re.IGNORECASE)
_HEAD_CHARS, _SHORTEST_MODULE, _MAX_FOREIGN_SHARE = 1500, 400, 0.002


def library() -> tuple[str, tuple[str, ...]]:
    """The standard library's modules that people wrote, each under its path; and no missing parts.

    Left out are tests, tables of encodings, generated files, files of a few lines, and files with more than
    two characters in a thousand that no keyboard has. Raises CorpusError where nothing is left.
    """
    folder, parts = Path(sysconfig.get_path("stdlib")), {}
    for file in folder.rglob("*.py"):
        path = file.relative_to(folder)
        if not _LEFT_OUT.isdisjoint(path.parts):
            continue
        with contextlib.suppress(OSError, UnicodeDecodeError):
            code = file.read_text(encoding="utf-8").strip()
            foreign = len(code) - len(code.encode("ascii", "ignore"))
            generated = _GENERATED.search(file.name + code[:_HEAD_CHARS])
            if len(code) >= _SHORTEST_MODULE and foreign <= len(code) * _MAX_FOREIGN_SHARE and not generated:
                parts[path.as_posix()] = f"# {path.as_posix()}\n\n{code}\n"
    if not parts:
        raise _no_sources(folder)
    # By a hash of the path and not by the path: packages lie apart, and the last tenth is like the rest.
    return "\n\n".join(parts[path] for path in sorted(parts, key=sha256)), ()


OF_PYTHON = ("python-source", "python-library", "python-docs")
"""Corpora of the running Python: another version has other texts, with other checksums."""


def _no_sources(library: Path) -> CorpusError:
    return CorpusError(
        "this Python has no source files of its standard library in {library}; "
        "use another corpus, or a Python installed with its sources",
        library=library,
    )


def reference() -> tuple[str, tuple[str, ...]]:
    """The topics of Python's help(), one after another; and no missing parts.

    Raises CorpusError where this Python has no help().
    """
    try:
        from pydoc_data.topics import topics
    except ImportError:
        raise CorpusError(
            "this Python was installed without pydoc_data, the text of its help(); use another corpus"
        ) from None
    return "\n\n".join(topics[key].strip() for key in sorted(topics)) + "\n", ()


# Texts that come with the package; shipped/README.md has their sources and licences.


SHIPPED = Path(__file__).with_name("shipped")


def _read_shipped(file_name: str) -> tuple[str, tuple[str, ...]]:
    """The text of a file in SHIPPED, and no missing parts. Raises CorpusError if the file can't be read."""
    path = SHIPPED / file_name
    try:
        return path.read_text(encoding="utf-8"), ()
    except OSError as error:
        raise CorpusError(
            "{path}, which comes with rnnviz, can't be read ({strerror}); install rnnviz again",
            path=path,
            strerror=error.strerror,
        ) from None


# Shorter texts are not split: a held-out part of a few characters would measure nothing.
SHORTEST_SPLIT = 200


@dataclass(frozen=True)
class CorpusInfo:
    """A corpus's description; `bytes` is the size of the text in UTF-8."""

    name: str
    title: str
    licence: str
    source: str
    language: str
    bytes: int
    needs_download: bool


@dataclass(frozen=True, repr=False)
class Split(ReprMixin):
    """The parts of a text: for training, for choosing settings, for measuring. The last two may be empty."""

    train: str
    validation: str
    held_out: str


@checked
@dataclass(frozen=True, repr=False)
class Corpus(ReprMixin):
    """A text with its provenance.

    `text` has LF line ends. `language` is a BCP 47 code, "python" for source code, or empty where unknown.
    `skipped` names parts of a corpus that this machine lacks. `ends`: it holds texts that end, each in a
    line or, where one of them has several, with U+0003 behind it; a network learns where they end.
    """

    name: str
    title: str
    licence: str
    source: str
    language: str
    text: str
    skipped: tuple[str, ...] = ()
    ends: bool = False

    @cached_property
    def sha256(self) -> str:
        """The checksum of the text in UTF-8."""
        return sha256(self.text)

    @cached_property
    def distinct(self) -> int:
        """The number of different characters."""
        return len(set(self.text))

    @property
    def characters(self) -> int:
        """The length of the text in characters (code points)."""
        return len(self.text)

    @property
    def sample(self) -> str:
        """The beginning, as an example."""
        return self.text[:400]

    def split(self, validation: float = 0.05, held_out: float = 0.10) -> Split:
        """Cut the text in order into training, validation and held-out parts, by shares of the characters.

        Borders are rounded down; texts that end stay whole. A text shorter than 200 characters is all
        training. Raises ConfigError for shares that are negative or leave nothing to train on.

        >>> from rnnviz import corpora
        >>> [len(part) for part in vars(corpora.open_corpus("ab " * 500).split()).values()]
        [1275, 75, 150]
        """
        if not (validation >= 0 and held_out >= 0 and validation + held_out < 1):
            raise ConfigError(
                "validation and held_out are shares of the text, not negative and together below 1; "
                "received {validation} and {held_out}",
                validation=validation,
                held_out=held_out,
            )
        n = len(self.text)
        if n < SHORTEST_SPLIT:
            return Split(self.text, "", "")
        # Rounded first, so that 1 - 0.1 - 0.05 is 0.85 for every n.
        first, second = int(n * round(1 - held_out - validation, 9)), int(n * round(1 - held_out, 9))
        if self.ends:
            end = END if END in self.text else "\n"
            first, second = (self.text.find(end, border - 1) + 1 or n for border in (first, second))
        return Split(self.text[:first], self.text[first:second], self.text[second:])


def sha256(text: str) -> str:
    """The checksum of a text in UTF-8.

    >>> sha256("machine")[:12]
    'bc020a35b7f9'
    """
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def from_text(
    text: str, name: str = "text", *, title: str = "", language: str = "", licence: str = ""
) -> Corpus:
    """The user's own text as a corpus. Raises CorpusError for an empty text, TextError for a lone surrogate.

    >>> from_text("one line\\r\\n").text
    'one line\\n'
    """
    if not check_text(text):
        raise CorpusError("the text {name!r} is empty; a corpus needs at least one character", name=name)
    code_points(text)  # refuses half a surrogate pair
    return Corpus(name, title or name, licence, "your own text", language, normalise(text))


MAX_LEFT_OUT = 5
"""Rows left out that a warning names, at most."""


def from_texts(
    texts: Iterable[str], name: str = "texts", *, title: str = "", language: str = "", licence: str = ""
) -> Corpus:
    """Texts that end, such as names, as a corpus. Empty ones are left out. The order is by a hash, so that
    its parts are alike and equal texts stand in one part. Raises CorpusError for none and for one with
    U+0003 inside.

    >>> from_texts(["Bob", "Ann"]).text
    'Ann\\nBob\\n'
    """
    normalised = [normalise(text) for text in texts if check_text(text)]
    end = END if any("\n" in text for text in normalised) else "\n"
    corpus = from_text("".join(text + end for text in sorted(normalised, key=sha256)), name)
    if corpus.text.count(END) > (len(normalised) if end == END else 0):
        raise CorpusError("{name} has a text with U+0003 inside, which marks a text's end", name=name)
    return replace(corpus, title=title or name, language=language, licence=licence, ends=True)


def column_texts(
    source: Source, column: str, *, name: str, encoding: str | None = None
) -> tuple[list[str], dict[int, TextError]]:
    """The texts in a column of a file of rows, called `name`; and why other rows are left out, by their
    numbers from 0.
    """
    texts, left_out = list[str](), dict[int, TextError]()
    for rows in open_rows(source, column=column, encoding=encoding, name=name).batches():
        for number, (text, fault) in enumerate(zip(rows.texts, rows.faults, strict=True), rows.start):
            if fault is not None:
                left_out[number] = fault.error
            elif not text or END in text:
                left_out[number] = TextError("it can't be trained on: it is empty, or has U+0003 inside")
            else:
                texts.append(text)
    return texts, left_out


def from_file(
    path: str | os.PathLike[str],
    *,
    name: str = "",
    title: str = "",
    language: str = "",
    licence: str = "",
    encoding: str | None = None,
    column: str | None = None,
) -> Corpus:
    """A text file as a corpus, named after the file; with `column`, the texts of that column of a file of
    rows.

    Raises TextError for an unreadable path, DecodingError for a file that is no text, CorpusError for an
    empty file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = Path(folder, "book.txt").write_text("A book.", "utf-8")
    ...     from_file(Path(folder, "book.txt")).name
    'book'
    """
    path = Path(check_path(path))
    if column is not None:
        texts, left_out = column_texts(path, column, name=path.name, encoding=encoding)
        if left_out:
            first = list(left_out.items())[:MAX_LEFT_OUT]
            reasons = [f"{path.name}, row {number:,}: {error}" for number, error in first]
            count = f"{len(left_out):,} of {len(left_out) + len(texts):,} rows are left out"
            warnings.warn("; ".join([*reasons, count]), stacklevel=3)
        about = {"title": title or path.name, "language": language, "licence": licence}
        return replace(from_texts(texts, name or path.stem, **about), source=path.name)
    stream = open_text(path, encoding=encoding)
    warn_of_guess(path.name, stream.encoding, stream.certainty)
    text = "".join(stream)
    if not text:
        raise CorpusError("{path} is empty; a corpus needs at least one character", path=path)
    return Corpus(name or path.stem, title or path.name, licence, path.name, language, normalise(text))


def names() -> tuple[str, ...]:
    """The names that `open_corpus` and `describe` know, first the names that need no download.

    >>> from rnnviz import corpora
    >>> corpora.names()
    ('python-source', 'python-library', 'python-docs', 'machine', 'timemachine', 'names', 'tinyshakespeare')
    """
    return (*_LOCAL, *REMOTE)


@checked
def describe(name: str) -> CorpusInfo:
    """A corpus's description, without a download. Raises CorpusError for an unknown name.

    >>> from rnnviz import corpora
    >>> corpora.describe("timemachine").title
    'H. G. Wells, The Time Machine (1898)'
    """
    _check(name)
    if name in _LOCAL:
        return CorpusInfo(name, *_LOCAL[name][0], bytes=_bytes(name), needs_download=False)
    remote = REMOTE[name]
    return CorpusInfo(name, *remote.about, bytes=remote.bytes, needs_download=not remote.path.is_file())


@cache
def _bytes(name: str) -> int:
    """The size in UTF-8 of a corpus that needs no download; 0 where this machine lacks the corpus."""
    try:
        return len(read(name).text.encode())
    except CorpusError:
        return 0


def read(name: str) -> Corpus:
    """A corpus by name, from this machine.

    >>> read("machine").text
    'machine'

    Raises CorpusError for an unknown name, and for a corpus that has not been fetched.
    """
    _check(name)
    if name in _LOCAL:
        about, reader = _LOCAL[name]
        text, skipped = reader()
        return Corpus(name, *about, text=normalise(text), skipped=skipped, ends=name in _ENDING)
    remote = REMOTE[name]
    try:
        data = remote.path.read_bytes()
    except FileNotFoundError:
        raise CorpusError(
            "{name} is not on this machine yet; rnnviz.corpora.fetch({name!r}) downloads it "
            "({bytes:.1f} MB from {hostname})",
            name=name,
            bytes=remote.bytes / 1e6,
            hostname=urlsplit(source_url()).hostname,
        ) from None
    except OSError as error:
        raise CorpusError(
            "{path} can't be read ({strerror}); remove it and fetch {name} again",
            path=remote.path,
            strerror=error.strerror,
            name=name,
        ) from None
    if hashlib.sha256(data).hexdigest() != remote.sha256:
        raise CorpusError(
            "{path} was altered since it was fetched; fetch {name} again to restore it",
            path=remote.path,
            name=name,
        )
    return Corpus(name, *remote.about, text=normalise(data.decode("utf-8")))


@checked
def fetch(name: str, progress: DownloadProgress | None = None, *, base_url: str | None = None) -> Corpus:
    """A corpus by name, downloaded first if it is not on this machine.

    progress  called with the bytes received and the bytes expected
    base_url  a mirror of GitHub with the same paths; by default RNNVIZ_CORPORA_URL from the environment

    Raises CorpusError for an unknown name, DownloadError for a corpus that can't be fetched.

    >>> from rnnviz import corpora
    >>> corpora.fetch("machine").characters
    7
    """
    _check(name)
    try:
        return read(name)
    except CorpusError:
        if name in _LOCAL:
            raise
    remote = REMOTE[name]
    data = _download(f"{(base_url or source_url()).rstrip('/')}/{remote.address}", remote, progress)
    try:
        with files.replacing(remote.path, parents=True) as file:
            file.write(data)
    except ExportError as error:
        raise DownloadError(
            "{path} can't be written ({strerror}); make room there, or set RNNVIZ_CACHE to another folder",
            **error.values,
        ) from None
    return read(name)


@checked
def open_corpus(
    given: str | os.PathLike[str] | Sequence[str],
    *,
    name: str = "",
    title: str = "",
    language: str = "",
    licence: str = "",
    encoding: str | None = None,
    column: str | None = None,
    lines: bool = False,
) -> Corpus:
    """A corpus by its name, a file, a text, or texts that end.

    given     a str: one of `names()`, or the text itself, of more than one word; a `pathlib.Path`: a text
              file; a list of str: texts that end
    column    of a file of rows, .csv or .jsonl: each row has a text there that ends
    lines     each line is a text that ends
    name, title, language, licence   replace the known values; language is a BCP 47 code, or "python"
    encoding  the file's encoding; None: found from the file

    Raises CorpusError for an empty text, an unknown name, and a corpus that is not on this machine yet;
    TextError for an unreadable file, and for a str that looks like a file's name; DecodingError for a file
    that is no text.

    >>> from rnnviz import corpora
    >>> corpora.open_corpus("machine", title="One word").title
    'One word'
    >>> corpora.open_corpus("the machine that remembers").characters
    26
    """
    if isinstance(given, os.PathLike):
        corpus = from_file(given, encoding=encoding, column=column)
    elif not isinstance(given, str) and isinstance(given, Sequence):
        corpus = from_texts(given)
    elif check_text(given) in names():
        corpus = read(given)
    elif len(given) <= LONGEST_PATH and _PATH.fullmatch(given):
        raise TextError(
            "{name!r} is the name of a file, and a str is the text itself; write pathlib.Path({name!r})",
            name=given,
        )
    elif _WORD.fullmatch(given) or difflib.get_close_matches(given[:LONGEST_PATH], names(), cutoff=0.8):
        raise CorpusError(
            "no corpus is called {name!r}; write one of {names}, or pathlib.Path(…) for a file; "
            "a text to train on has more than one word",
            name=given,
            names=", ".join(names()),
        )
    else:
        corpus = from_text(given)
    if lines:
        by_line = from_texts(corpus.text.split("\n"), corpus.name)
        corpus = replace(corpus, text=by_line.text, ends=True)
    return replace(
        corpus,
        name=name or corpus.name,
        title=title or corpus.title,
        language=language or corpus.language,
        licence=licence or corpus.licence,
    )


def named_or_file(
    name_or_path: str | os.PathLike[str],
    *,
    title: str = "",
    language: str = "",
    licence: str = "",
    column: str | None = None,
    lines: bool = False,
) -> Corpus:
    """A corpus as a command line names it: by name, or the file at a path; the name wins where both exist.

    Raises as `read` and `from_file` do.
    """
    source = name_or_path
    if isinstance(source, str):
        if source in names() or not os.path.exists(source):
            _check(source)
        else:
            source = Path(source)
    if column is not None and not isinstance(source, Path):
        raise ConfigError("a column belongs to a file of rows; {name} is not one", name=source)
    return open_corpus(source, title=title, language=language, licence=licence, column=column, lines=lines)


def source_url() -> str:
    """The address that `fetch` downloads from: the environment's RNNVIZ_CORPORA_URL, else GitHub."""
    return os.environ.get("RNNVIZ_CORPORA_URL") or "https://raw.githubusercontent.com"


def _check(name: str) -> None:
    if not isinstance(name, str):
        raise CorpusError(
            "a corpus is asked for by its name, such as 'timemachine'; received {received}",
            received=received(name),
        )
    if name in names():
        return
    if os.path.isfile(name):
        raise CorpusError(
            "{name!r} is a file, and no corpus has that name; write open_corpus(pathlib.Path({name!r}))",
            name=name,
        )
    raise CorpusError(
        "no corpus is called {name!r}, and no file is there; corpora are {names}. "
        "For a text of your own, give the path of its file",
        name=name if len(name) <= 80 else name[:77] + "…",  # a caller may give the text itself
        names=", ".join(names()),
    )


_About = tuple[str, str, str, str]  # title, licence, source, language
_Reader = Callable[[], tuple[str, tuple[str, ...]]]
_LOCAL: dict[str, tuple[_About, _Reader]] = {
    "python-source": (
        ("Python standard library", "PSF-2.0", f"the running {VERSION}", "python"),
        source,
    ),
    "python-library": (
        ("Python standard library, all modules", "PSF-2.0", f"the running {VERSION}", "python"),
        library,
    ),
    "python-docs": (
        ("Python language reference", "PSF-2.0", f"the running {VERSION}'s help()", "en"),
        reference,
    ),
    "machine": (
        ("“machine”, the textbook's toy", "public domain", "one word", "en"),
        lambda: ("machine", ()),
    ),
    "timemachine": (
        (
            "H. G. Wells, The Time Machine (1898)",
            "public domain",
            "Project Gutenberg 35, as in github.com/d2l-ai/d2l-zh",
            "en",
        ),
        partial(_read_shipped, "timemachine.txt"),
    ),
    "names": (
        (
            "First names, US census of 1990",
            "public domain",
            "US Census Bureau, frequently occurring first names",
            "en",
        ),
        partial(_read_shipped, "names.txt"),
    ),
}


_ENDING = ("names",)
"""Corpora of texts that end."""


@dataclass(frozen=True)
class Remote:
    """A text on the network: its address, checksum and size."""

    about: _About
    address: str
    bytes: int
    sha256: str

    @property
    def path(self) -> Path:
        """The file in the cache."""
        return cache_folder() / "corpora" / self.address.replace("/", "-")


REMOTE = {
    "tinyshakespeare": Remote(
        ("Tiny Shakespeare, scenes from the plays", "public domain", "github.com/karpathy/char-rnn", "en"),
        "karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
        1_115_394,
        "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
    ),
}


LONGEST_PATH = 255  # characters

_PATH = re.compile(r"\S+\.\w{1,5}|\S*[/\\]\S*")
"""Strings that look like a file's name."""

_WORD = re.compile(r"[A-Za-z][\w-]{,40}", re.ASCII)
"""A single word, which is a name rather than a text."""


def as_corpus(given: Any) -> Any:
    """A corpus to train on: `given` if it has a `split` as a Corpus does, else `open_corpus(given)`."""
    foreign = isinstance(given, str | bytes | bytearray) or hasattr(given, "shape")  # these have one, too
    if not foreign and callable(getattr(given, "split", None)):
        return given
    return open_corpus(given)
