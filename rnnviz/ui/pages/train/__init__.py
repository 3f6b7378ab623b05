"""The Train page: choose a text and a recipe, start a run, and watch a state take shape.

    page.py       what stands where, and Start
    texts.py      the text to train on: a corpus, an upload, a pasted text
    settings.py   the recipe: a preset, and every setting with what it means
    forecast.py   what a run would take, measured in the background
    listing.py    the runs in the sidebar: queue, states, the limit
    toolbar.py    what can be done with the run that is shown: stop, resume, delete, keep, explore
    bring.py      a model that someone else trained: checked and put among the models
    compare.py    several runs in one chart and one table
    subject.py    what can be shown: a run's folder, or the story that ships with a model
    watch.py      what a browser is sent of it: arrays for the training view
    stage.py      the fragment that follows a run
    static/       the training view's browser files
    words.py      states and numbers in words

A run is a process of its own (rnnviz.runs): nothing here trains, and a page that is
closed or reloaded finds everything again in the runs' folders.
"""
