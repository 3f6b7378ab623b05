"""A page's folder on disk: written whole, without a former build's files."""

import re
from collections.abc import Mapping
from pathlib import Path

from rnnviz.errors import ConfigError
from rnnviz.networks import modelfile

INDEX = "index.html"
_DIGEST = re.compile(r".+\.[0-9a-f]{12}\.\w+")


def has_digest(name: str) -> bool:
    """Whether a file's name bears the digest of its content, and so never means another content.

    >>> has_digest("page.774940f053d5.js"), has_digest("offline.js")
    (True, False)
    """
    return _DIGEST.fullmatch(name) is not None


def write(folder: Path, files: Mapping[str, bytes]) -> dict[str, int]:
    """Write a page's files into a folder; returns their sizes in bytes.

    A former build's files go, once the new index names none of them. Raises ConfigError for a folder with
    other things in it, CheckpointError if a file can't be written.
    """
    _check_folder(folder)
    # Only names with a digest: whatever else somebody has put there stays.
    former = {path.name for path in folder.glob("*") if has_digest(path.name)} if folder.exists() else set()
    # The index last, and old files after it: whoever loads the page meanwhile finds all that it names.
    for name in sorted(files, key=lambda name: name == INDEX):
        modelfile.write_atomic(folder / name, files[name])
    for name in former - set(files):
        (folder / name).unlink(missing_ok=True)
    return {name: len(content) for name, content in files.items()}


def _check_folder(folder: Path) -> None:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    index = folder / INDEX
    if (
        not folder.is_dir()
        or not index.is_file()
        or '"generator" content="rnnviz"' not in index.read_text("utf-8", "replace")
    ):
        raise ConfigError(
            "{folder} is not empty and isn't a page of rnnviz; name a new folder, or an empty one",
            folder=str(folder),
        )
