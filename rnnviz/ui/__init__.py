"""The Streamlit app: the only code that imports Streamlit, beside app.py.

script/      what Streamlit runs: navigation, sidebar, the chosen page
pages/       explore, perplexity, inside, train, learn: a folder each, with its own browser files
browser/     how the app's components get to the browser, and numbers to them
jobs/        work that outlasts a script run
sidebar.py, model_card.py, model_cache.py, choice.py, asks.py, words.py, i18n.py, trouble.py, warm.py
"""

import os

# Before numpy is first imported. Its products are small here, and handing them to several threads makes each
# wait for all of them: ten times as long as the product itself while the browser is using the same cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
