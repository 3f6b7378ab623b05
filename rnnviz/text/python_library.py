"""Texts that every Python brings along: its own standard library's source, and its language reference."""

from __future__ import annotations

import sys
import sysconfig
from functools import cache
from pathlib import Path

from rnnviz.errors import CorpusError

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


def _library() -> Path:
    return Path(sysconfig.get_path("stdlib"))


def _module_file(library: Path, module: str) -> Path:
    # Found by path, not imported: importing runs code, and a file of the same name nearby would shadow it.
    base = library.joinpath(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


@cache
def source_size() -> int:
    """Bytes of the source's files."""
    library = _library()
    return sum(_size(_module_file(library, module)) for module in PYTHON_MODULES)


def source() -> tuple[str, tuple[str, ...]]:
    """The modules one after another, each under its name, and the names of those that this machine lacks.

    Raises CorpusError where most are missing.
    """
    parts, skipped, library = [], [], _library()
    for module in PYTHON_MODULES:
        try:
            code = _module_file(library, module).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            skipped.append(module)
            continue
        parts.append(f"# {module}\n\n{code.strip()}\n")
    if len(skipped) > len(PYTHON_MODULES) // 2:
        raise CorpusError(
            "this Python has no source files of its standard library in {library}; "
            "use another corpus, or a Python installed with its sources",
            library=library,
        )
    return "\n\n".join(parts), tuple(skipped)


@cache
def reference_size() -> int:
    """Bytes of its file."""
    return _size(_library() / "pydoc_data" / "topics.py")


def reference() -> tuple[str, tuple[str, ...]]:
    """The topics of help(), one after another, of which none is ever missing. Raises CorpusError where this
    Python has no help().
    """
    try:
        from pydoc_data.topics import topics
    except ImportError:
        raise CorpusError(
            "this Python was installed without pydoc_data, the text of its help(); use another corpus"
        ) from None
    return "\n\n".join(topics[key].strip() for key in sorted(topics)) + "\n", ()


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
