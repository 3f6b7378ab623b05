"""The Streamlit app, the only code that imports Streamlit, beside app.py. script/ is what Streamlit runs,
pages/ has a folder for each page, browser/ the way to its components, jobs/ work that outlasts a script run.
"""

import os

# Before numpy is first imported: on several threads its small products wait for all of them, ten times as
# long as they take themselves while the browser is using the same cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from rnnviz.networks.threads import leave_a_core, spin_briefly

spin_briefly()
leave_a_core()
