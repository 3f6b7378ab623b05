"""The script that Streamlit runs, alone in its folder. Streamlit puts that folder first on the import path,
and would take a folder `pages` in it for pages of its own.
"""
