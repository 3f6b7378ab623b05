"""The Streamlit app: with app.py and the lab's pages, the only code that imports Streamlit.

script/      the script that Streamlit runs
pages/       a folder for each of look's pages
shell/       what all pages share: the sidebar, fields, the address, pictures
browser/     the components' browser files, and the numbers' way to them
jobs/        work that outlasts a script run
serving/     the server's start and end, the guard of requests, and a class that answers with phones
"""
