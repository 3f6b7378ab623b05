"""The Streamlit app, the only code that imports Streamlit, beside app.py. script/ is what Streamlit runs,
pages/ has a folder for each page, browser/ the way to its components, jobs/ work that outlasts a script run.
"""
