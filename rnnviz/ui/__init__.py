"""The Streamlit app: the only code that imports Streamlit, beside app.py.

script/   what Streamlit runs: navigation, sidebar, the chosen page
pages/    explore, perplexity, inside, train, learn: a folder each, with its own browser files
browser/  how components and their numbers get to the browser
jobs/     work that outlasts a script run
"""

import os

# Before numpy is first imported. Its products are small here, and handing them to several threads makes each
# wait for all of them: ten times as long as the product itself while the browser is using the same cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
