"""The limits of a hosted app's visitors, in one table. Environment variables replace the first two, see
environment.py. No limit holds for the lecturer, or for an app that isn't hosted.
"""

CAPACITY, MANY = 250, 10_000
"""Visitors' sessions at a time, one an open page: the default of RNNVIZ_CAPACITY, and its maximum.

A hundred people who type at once, four characters a second each, take 40 % of a core (`crowd` of
tests/benchmarks/keystroke.py). A page that is only read takes 1 to 2 MB.
"""

MEGABYTES, LARGEST = 1, 5
"""Megabytes of a text: the default of RNNVIZ_TEXT_MB, and its maximum. A core scores one in about ten
seconds, and a whole class comes at once.
"""

FILES = 5
"""Files that a visitor scores at a time; as many again may be uploaded and not in use."""

CORPUS = 5_000_000
"""Bytes of a corpus to train on."""

RUNS = 30
"""Visitors' runs at a time, training and waiting: a waiting one takes 20 MB."""

SECONDS = 120.0
"""Seconds that a run may take once it begins to train; then its process ends itself."""

MINUTES = 1.5
"""Minutes of training that a visitor can plan; the rest of SECONDS is for the measurements afterwards."""

SIZES = {"hidden_size": 512, "layers": 2, "embedding_size": 128, "steps": 64, "batch": 32}
"""The largest sizes of a visitor's run: a little above those of the one-minute presets."""
