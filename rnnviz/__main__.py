"""`python -m rnnviz`: see rnnviz.cli."""

import os
import sys

# numpy reads this when it is first imported. Products are small here: on a busy machine several threads
# take longer to meet than one takes to compute.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from rnnviz.cli import run
from rnnviz.networks.threads import spin_briefly
from rnnviz.page.command import page
from rnnviz.ui.serving.start import app, host

spin_briefly()


def main() -> None:
    """Run the command in sys.argv and exit with its code. Without a command, a terminal opens the app."""
    streams = (sys.stdin, sys.stdout)
    if len(sys.argv) == 1 and all(stream is not None and stream.isatty() for stream in streams):
        sys.argv.append("app")
    run(page, app, host)


if __name__ == "__main__":
    main()
