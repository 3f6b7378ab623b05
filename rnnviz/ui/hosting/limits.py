"""What a visitor of a hosted app is given, at most: the one table. environment.py has what the environment
says instead of the first two; the lecturer, and who uses the app alone, are given everything.
"""

CAPACITY, MANY = 250, 10_000
"""Sessions, one for each open page, that visitors have at a time: RNNVIZ_CAPACITY, and what it can say at
most. A hundred people who type at once, four characters a second each, take 40 % of a core (`crowd` of
tests/benchmarks/keystroke.py); a page that is only read takes 1 to 2 MB.
"""

MEGABYTES, LARGEST = 1, 5
"""Megabytes of a text: RNNVIZ_TEXT_MB, and what it can say at most. A core takes about ten seconds to score
one, and a whole class comes at once.
"""

FILES = 5
"""Files that are scored at a time; as many again may lie beside them, uploaded and not in use."""

CORPUS = 5_000_000
"""Bytes of a corpus to train on."""

RUNS = 30
"""Visitors' runs that train and wait at a time: one that waits takes 20 MB."""

SECONDS = 120.0
"""How long a run may take, from its turn on; its own process ends it then."""

MINUTES = 1.5
"""Of training that can be planned, so that there is time left to measure what was learnt."""

SIZES = {"hidden_size": 512, "layers": 2, "embedding_size": 128, "steps": 64, "batch": 32}
"""The largest network and steps of a run: a one-minute preset's, and a little more."""
