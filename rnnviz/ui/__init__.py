"""The Streamlit app: the only code that imports Streamlit, beside app.py.

    main.py      the script: navigation, sidebar, the chosen page
    explore.py   type, and see inside the model        live/  its component
    inside/      what units respond to, and why
    perplexity/  the perplexity of texts, and why      viewer/  its component
    train/       runs of one's own, followed live
    learn/       the lecture in eight scenes
    component.py what the components share             assets.py  their browser files
    sidebar.py   language, model and its card
    shelf.py     the models on this machine, loaded once
    i18n.py      the words, in the reader's language
    trouble.py   what a reader sees when something fails
    warm.py      imports ahead of the first visit

Streamlit puts this folder first on the import path, so no file here may bear
the name of a standard module.
"""

import os

# Before numpy is first imported. Its products are small here, and handing them to several threads makes each
# wait for all of them: ten times as long as the product itself while the browser is using the same cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
