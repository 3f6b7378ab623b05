"""Where Streamlit Community Cloud enters, with the requirements.txt beside it: no torch, so no training.

RNNVIZ_HOSTS, RNNVIZ_KEY and the others stand in the app's Secrets, see docs/class.md. The service turns
Streamlit's usage statistics on, which `.streamlit/config.toml` turns off: its own option wins.
"""

import os
import sys
from pathlib import Path

import streamlit as st

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the package is the checkout's

from rnnviz.errors import ConfigError
from rnnviz.ui import entry

st.secrets.load_if_toml_exists()
os.environ.setdefault("RNNVIZ_HOSTED", "1")

try:
    app = st.App(**entry.parts())
except ConfigError as wrong:
    raise SystemExit(f"rnnviz: {wrong}") from None
