"""What the core shows of texts' costs, for text_record.js to be held against, as JSON:
`python -m tests.javascript.golden_records`.
"""

import json
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from rnnviz.figures import export
from rnnviz.scoring.record import record
from rnnviz.ui.pages.perplexity.viewer import ViewerSession
from tests.support.models import TEXT, tiny


def records(folder: Path) -> list[dict[str, Any]]:
    """Texts' costs, their curve, their passages, the viewer's chunks, and the table of characters."""
    rng, words = np.random.default_rng(0), TEXT.split()
    long_text = " ".join(words[i] for i in rng.integers(len(words), size=4_000))
    texts = ["é", TEXT[:60], f'{TEXT[:700]}\n一二。三\u3000四 x,"\n', long_text, "a" * 9_000]
    return [record_values(folder / str(n), text) for n, text in enumerate(texts)]


def record_values(folder: Path, text: str) -> dict[str, Any]:
    with closing(record(tiny("gru"), None, folder, text=text)) as columns:
        viewer, length = ViewerSession(columns, {}), len(columns)
        table = folder / "table.csv"
        export.per_character(columns, table)
        names = ("codes", "nll", "rank", "entropy")
        return {
            "columns": {name: columns.read(name, 0, length).tolist() for name in names},
            "curve": {name: np.asarray(values).tolist() for name, values in vars(columns.curve()).items()},
            "passages": [(p.start, p.stop, p.mean) for p in columns.surprising_passages(20, 80)],
            "borders": [viewer.border(i) for i in range(viewer.count + 1)],
            "chunks": [viewer.chunk_of(i) for i in range(0, length, 97)],
            "unknown": columns.unknown_counts(),
            "csv": table.read_text("utf-8"),
        }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        json.dump(records(Path(made)), sys.stdout)
