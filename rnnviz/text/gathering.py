"""Files named by folders and patterns."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator

from rnnviz.errors import TextError


def gathered(named: str) -> list[str]:
    """The files that a name stands for, sorted: of a folder all below it but hidden ones, of a pattern with
    * ? [] or ** those it fits. Any other name stands for itself, whether or not there is a file.

    Raises TextError for a folder or a pattern without files.
    """
    if os.path.isdir(named):
        found = sorted(_below(named))
        if not found:
            raise TextError("{folder} is a folder without files; name another", folder=named)
        return found
    if os.path.lexists(named) or not glob.has_magic(named):
        return [named]
    found = sorted(path for path in glob.glob(named, recursive=True) if os.path.isfile(path))
    if not found:
        raise TextError("no file fits {pattern}; check the folder that it begins with", pattern=named)
    return found


def _below(folder: str) -> Iterator[str]:
    for place, folders, files in os.walk(folder):  # which follows no links: it could go round in circles
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if not name.startswith("."):
                yield os.path.join(place, name)
