"""The script that Streamlit runs, alone in its folder: Streamlit imports from there first, and would take a
folder `pages` in it for its own.
"""
