"""The app's process: how it shares the machine with the browser beside it. Imported first, by app.py."""

import os

# Before numpy is first imported: on several threads its small products wait for all of them, ten times as
# long as they take themselves while the browser is using the same cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from rnnviz.networks.threads import leave_a_core, spin_briefly

spin_briefly()
leave_a_core()
