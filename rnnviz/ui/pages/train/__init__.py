"""The Train page: choose a text and a recipe, start a run, and watch a state take shape.

    page.py      the layout, and Start
    texts.py     the text to train on: a corpus, an upload, a pasted text
    settings.py  the recipe: a preset, and every setting explained
    forecast.py  what a run would take, measured in the background
    listing.py   the runs in the sidebar: queue, states, the limit
    toolbar.py   actions on the run in view: stop, resume, delete, keep, explore
    bring.py     importing a model trained elsewhere
    compare.py   several runs in one chart and one table
    stage.py     the fragment that follows a run: its subject.py, sent to the browser by watch.py

A run is a process of its own (rnnviz.runs): a page closed or reloaded finds everything in the runs' folders.
"""
