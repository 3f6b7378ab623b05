"""Where `streamlit run app.py` enters: Streamlit looks for `st.App` in this file."""

import streamlit as st

from rnnviz.errors import ConfigError
from rnnviz.ui.serving import entry

st.secrets.load_if_toml_exists()  # into the environment: some services keep settings there

try:
    app = st.App(**entry.app_parts())
except ConfigError as wrong:
    raise SystemExit(f"rnnviz: {wrong}") from None
