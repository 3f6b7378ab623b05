"""Where the board's browser files are, and under which address they are served.

As for the text viewer, the address holds a digest of the files and of the live
view's, whose modules it shares. This module is imported by app.py and stays light.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from rnnviz.ui.live import assets as live

FOLDER = Path(__file__).with_name("static")


def digest() -> str:
    """A short digest of all files of FOLDER, and of the live view's."""
    found = hashlib.sha256(live.URL.encode())
    for path in sorted(FOLDER.iterdir()):
        found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:12]


URL = f"/inside/{digest()}"
"""The path that FOLDER is served under; an absolute path, without the server's name."""
