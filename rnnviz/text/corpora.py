"""Texts to train on, by name.

    python-source    the running Python's own standard library, a fixed list of modules
    python-docs      the language reference that Python's help() shows
    machine          the word of the textbook's toy example
    timemachine      H. G. Wells, The Time Machine, which comes with the package
    tinyshakespeare  scenes from Shakespeare; fetched on request

and the user's own file or text. Only `fetch` uses the network.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

from rnnviz.errors import ConfigError, CorpusError
from rnnviz.text.book import book, book_size
from rnnviz.text.checked import check_path, check_text, received
from rnnviz.text.decoding import open_text
from rnnviz.text.downloads import Limits, Progress, cache_folder, download
from rnnviz.text.normalising import normalise
from rnnviz.text.python_library import PYTHON_MODULES as PYTHON_MODULES
from rnnviz.text.python_library import VERSION, reference, reference_size, source, source_size
from rnnviz.text.vocabulary import code_points

# Shorter texts are not split: a held-out part of a few characters would measure nothing.
SHORTEST_SPLIT = 200


@dataclass(frozen=True)
class CorpusInfo:
    """What is known of a corpus before it is read; `bytes` is the size of its source in UTF-8."""

    name: str
    title: str
    licence: str
    source: str
    language: str
    bytes: int
    needs_download: bool


@dataclass(frozen=True)
class Split:
    """The parts of a text: to train on, to choose settings by, to measure; the last two may be empty."""

    train: str
    validation: str
    held_out: str


@dataclass(frozen=True)
class Corpus:
    """A text with its provenance.

    `text` has LF line ends. `language` is a BCP 47 code, "python" for source code, or empty where unknown.
    `skipped` names parts of a corpus that this machine lacks.
    """

    name: str
    title: str
    licence: str
    source: str
    language: str
    text: str
    skipped: tuple[str, ...] = ()

    @cached_property
    def sha256(self) -> str:
        """The checksum of the text in UTF-8."""
        return sha256(self.text)

    @cached_property
    def distinct(self) -> int:
        """How many different characters occur."""
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

        Borders are rounded down. A text shorter than 200 characters is all training. Raises ConfigError for
        shares that are negative or leave nothing to train on.

        >>> [len(part) for part in vars(from_text("ab" * 500).split()).values()]
        [850, 50, 100]
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
    """The user's own text as a corpus. Raises CorpusError if it is empty, TextError for a lone surrogate.

    >>> from_text("one line\\r\\n").text
    'one line\\n'
    """
    if not check_text(text):
        raise CorpusError("the text {name!r} is empty; a corpus needs at least one character", name=name)
    code_points(text)  # refuses half a surrogate pair
    return Corpus(name, title or name, licence, "your own text", language, normalise(text))


def from_file(
    path: str | os.PathLike[str],
    *,
    name: str = "",
    title: str = "",
    language: str = "",
    licence: str = "",
    encoding: str | None = None,
) -> Corpus:
    """A text file as a corpus, named after the file.

    Raises TextError for an unreadable path, DecodingError for what is no text, CorpusError for an empty file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = Path(folder, "book.txt").write_text("A book.")
    ...     from_file(Path(folder, "book.txt")).name
    'book'
    """
    path = Path(check_path(path))
    text = "".join(open_text(path, encoding=encoding))
    if not text:
        raise CorpusError("{path} is empty; a corpus needs at least one character", path=path)
    return Corpus(name or path.stem, title or path.name, licence, path.name, language, normalise(text))


def names() -> tuple[str, ...]:
    """The names that `describe` and `read` know, those that need no download first.

    >>> names()
    ('python-source', 'python-docs', 'machine', 'timemachine', 'tinyshakespeare')
    """
    return (*_LOCAL, *REMOTE)


def describe(name: str) -> CorpusInfo:
    """A corpus's info, without reading it. Raises CorpusError for an unknown name.

    >>> describe("timemachine").title
    'H. G. Wells, The Time Machine (1898)'
    """
    if _name(name) in _LOCAL:
        about, _, size = _LOCAL[name]
        return CorpusInfo(name, *about, bytes=size(), needs_download=False)
    remote = _remote(name)
    return CorpusInfo(name, *remote.about, bytes=remote.bytes, needs_download=not remote.path.is_file())


def read(name: str) -> Corpus:
    """A corpus by name, from this machine.

    >>> read("machine").text
    'machine'

    Raises CorpusError for an unknown name, and for a corpus that has not been fetched.
    """
    if _name(name) in _LOCAL:
        about, reader, _ = _LOCAL[name]
        text, skipped = reader()
        return Corpus(name, *about, text=normalise(text), skipped=skipped)
    remote = _remote(name)
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


def fetch(
    name: str, progress: Progress | None = None, *, base_url: str | None = None, limits: Limits | None = None
) -> Corpus:
    """A corpus by name, downloaded first if it is not on this machine.

    `progress` gets the bytes received and expected. `base_url`, by default RNNVIZ_CORPORA_URL from the
    environment, is a mirror of GitHub with the same paths. Raises CorpusError for an unknown name,
    DownloadError if it can't be fetched.

    >>> fetch("machine").characters
    7
    """
    if _name(name) not in _LOCAL:
        remote = _remote(name)
        url = f"{(base_url or source_url()).rstrip('/')}/{remote.address}"
        download(url, remote.path, sha256=remote.sha256, size=remote.bytes, limits=limits, progress=progress)
    return read(name)


def open_corpus(
    name_or_path: str | os.PathLike[str], *, title: str = "", language: str = "", licence: str = ""
) -> Corpus:
    """A corpus by name, or the file at a path; the name wins where both exist (write ./name for the file).

    `title`, `language` and `licence` override what is known. Raises what `read` and `from_file` raise.

    >>> open_corpus("machine", title="One word").title
    'One word'
    """
    if isinstance(name_or_path, str) and (name_or_path in names() or not os.path.exists(name_or_path)):
        corpus = read(name_or_path)
    else:
        corpus = from_file(name_or_path)
    return replace(
        corpus,
        title=title or corpus.title,
        language=language or corpus.language,
        licence=licence or corpus.licence,
    )


def source_url() -> str:
    """Where `fetch` downloads from: the environment's RNNVIZ_CORPORA_URL, else GitHub."""
    return os.environ.get("RNNVIZ_CORPORA_URL") or "https://raw.githubusercontent.com"


def _unknown(name: str) -> CorpusError:
    if os.path.isfile(name):
        return CorpusError(
            "{name!r} is a file, and no corpus is called so; rnnviz.corpora.open_corpus reads it", name=name
        )
    if len(name) > 80:  # the text itself, say
        name = name[:77] + "…"
    return CorpusError(
        "no corpus is called {name!r}, and no file is there; corpora are {names}. "
        "For a text of your own, give the path of its file",
        name=name,
        names=", ".join(names()),
    )


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise CorpusError(
            "a corpus is asked for by its name, such as 'timemachine'; received {received}",
            received=received(name),
        )
    return name


def _remote(name: str) -> Remote:
    if name not in REMOTE:
        raise _unknown(name)
    return REMOTE[name]


_About = tuple[str, str, str, str]  # title, licence, source, language
_Reader = Callable[[], tuple[str, tuple[str, ...]]]
_LOCAL: dict[str, tuple[_About, _Reader, Callable[[], int]]] = {
    "python-source": (
        ("Python standard library", "PSF-2.0", f"the running {VERSION}", "python"),
        source,
        source_size,
    ),
    "python-docs": (
        ("Python language reference", "PSF-2.0", f"the running {VERSION}'s help()", "en"),
        reference,
        reference_size,
    ),
    "machine": (
        ("“machine”, the textbook's toy", "public domain", "one word", "en"),
        lambda: ("machine", ()),
        lambda: len("machine"),
    ),
    "timemachine": (
        (
            "H. G. Wells, The Time Machine (1898)",
            "public domain",
            "Project Gutenberg 35, as in github.com/d2l-ai/d2l-zh",
            "en",
        ),
        book,
        book_size,
    ),
}


@dataclass(frozen=True)
class Remote:
    """A text on the network: its address, checksum and size."""

    about: _About
    address: str
    bytes: int
    sha256: str

    @property
    def path(self) -> Path:
        """Its place in the cache."""
        return cache_folder() / "corpora" / self.address.replace("/", "-")


REMOTE = {
    "tinyshakespeare": Remote(
        ("Tiny Shakespeare, scenes from the plays", "public domain", "github.com/karpathy/char-rnn", "en"),
        "karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
        1_115_394,
        "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
    ),
}
