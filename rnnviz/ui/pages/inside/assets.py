"""The dashboard's browser files; imported by app.py, so it stays light."""

from __future__ import annotations

from pathlib import Path

from rnnviz.ui.browser.assets import address

FOLDER = Path(__file__).with_name("static")
URL = address("inside", FOLDER)
