"""The script that Streamlit runs, alone in its folder. Streamlit puts that folder first on the import path,
and would treat a folder `pages` in it as its own pages.
"""
