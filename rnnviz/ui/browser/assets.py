"""A page's browser files: where they are, and under which address they are served.

The address holds a digest of the files, so that a browser keeps them for as
long as they stay the same and never a moment longer. This module is imported
by app.py and stays light.
"""

from __future__ import annotations

import hashlib
import mimetypes
from pathlib import Path

# A browser refuses a module that comes as text/plain, which some Windows registries say of .js.
mimetypes.add_type("text/javascript", ".js")


def address(name: str, folder: Path) -> str:
    """The path that `folder` is served under: absolute, without the server's name."""
    found = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        found.update(path.name.encode() + b"\0" + path.read_bytes())
    return f"/{name}/{found.hexdigest()[:12]}"
