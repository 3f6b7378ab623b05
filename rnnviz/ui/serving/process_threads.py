"""The process's threads, which share the processor with the browser on the same machine. app.py imports this
module first.
"""

import os

# Before numpy's first import, which reads it. On several threads, a small product waits for all of them: ten
# times as long as the product takes, while the browser uses the same cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from rnnviz.networks.threads import leave_a_core, spin_briefly

spin_briefly()
leave_a_core()
