"""`python -m rnnviz`: see rnnviz.cli."""

import os

# Before numpy is first imported: its products are small here, and on a busy machine several threads
# take longer to meet than one takes to compute.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from rnnviz.cli import run
from rnnviz.networks.threads import spin_briefly

spin_briefly()
run()
