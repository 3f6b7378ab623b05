"""The Streamlit app: with app.py, the only code that imports Streamlit.

script/      the script that Streamlit runs
pages/       a folder for each page
browser/     the components' browser files, and the numbers' way to them
jobs/        work that outlasts a script run
room/        a class that answers with phones
server/      the guard of requests, the server's start, the end of sessions
standalone/  a model's page, which needs no server
"""
