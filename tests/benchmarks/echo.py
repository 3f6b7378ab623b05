"""The floor: the smallest app that gives a live text back, in a fragment."""

import streamlit as st


@st.fragment
def echo() -> None:
    text = st.text_input("text", live="0ms")
    st.text(f"{text}|")  # st.text drops a space at the end


echo()
