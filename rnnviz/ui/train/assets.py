"""Where the training view's browser files are, and under which address they are served.

The address holds a digest of the files, as rnnviz.ui.live.assets does it. This
module is imported by app.py and stays light.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

FOLDER = Path(__file__).with_name("static")


def digest() -> str:
    """A short digest of all files of FOLDER."""
    found = hashlib.sha256()
    for path in sorted(FOLDER.iterdir()):
        found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:12]


URL = f"/training/{digest()}"
"""The path that FOLDER is served under."""
