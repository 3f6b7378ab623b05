"""`python -m rnnviz`: see rnnviz.cli."""

import os

# Before numpy is first imported: its products are small here, and on a busy machine several threads
# take longer to meet than one takes to compute.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from rnnviz.cli import run
from rnnviz.networks.threads import spin_briefly
from rnnviz.ui import host
from rnnviz.ui.standalone import command as page

spin_briefly()


def main() -> None:
    """Run the command in sys.argv and exit with its code."""
    run(page, host)


if __name__ == "__main__":
    main()
