"""Where the live view's browser files are, and under which address they are served.

The address holds a digest of the files, so that a browser keeps them for as
long as they stay the same and never a moment longer. This module is imported
by app.py and stays light.
"""

from __future__ import annotations

import hashlib
import mimetypes
from pathlib import Path

FOLDER = Path(__file__).with_name("static")

# A browser refuses a module that comes as text/plain, which some Windows registries say of .js.
mimetypes.add_type("text/javascript", ".js")


def digest() -> str:
    """A short digest of all files of FOLDER."""
    found = hashlib.sha256()
    for path in sorted(FOLDER.iterdir()):
        found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:12]


URL = f"/live/{digest()}"
"""The path that FOLDER is served under; an absolute path, without the server's name."""
