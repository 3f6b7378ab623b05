"""Where `streamlit run app.py` enters: Streamlit looks for `st.App` in this file."""

import streamlit as st

from rnnviz.ui import entry

app = st.App(**entry.parts())
