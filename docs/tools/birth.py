"""The birth of a meaning: makes `rnnviz/lecture/birth.json`, for the step `birth`.

    python docs/tools/birth.py [REPLAY [FILE]]

REPLAY is what a run keeps of its training, by default the one that ships with holmes-lstm: the scores and the
values of a named row at the kept moments (`rnnviz/lab/run/row_meaning.py`). It takes a second.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from rnnviz.lab.run import replay

ROOT = Path(__file__).parents[2]
RECORDING = ROOT / "rnnviz" / "lecture" / "birth.json"
REPLAY = ROOT / "models" / "holmes-lstm.snapshots.safetensors"
ROW = "quotes"


def record(path: Path = REPLAY) -> dict[str, Any]:
    """The row's score and its values on two sentences at each kept moment, the earliest first. Raises
    ValueError for a replay in which the row was not followed.
    """
    run = replay.read(path)
    meanings = {event["step"]: event for event in run.events if event["event"] == "meaning"}
    if not meanings or ROW not in next(iter(meanings.values()))["rows"]:
        raise ValueError(
            f"{path} doesn't say what the row “{ROW}” told; name rows of its network, and train anew"
        )
    reports = sorted((event["characters"], event["train_perplexity"]) for event in run.events
                     if event["event"] == "report")  # fmt: skip
    moments = []
    for step, meaning in sorted(meanings.items()):
        snapshot = run.snapshot(step)
        # The sentence to watch, and one of the book's that opens and closes one quotation.
        texts = (snapshot.text, *snapshot.sentences)
        second = next(i for i, text in enumerate(texts) if i and text.count('"') == 2)
        values = np.split(
            snapshot.named[meaning["rows"].index(ROW)], np.cumsum([len(text) for text in texts])
        )
        before = [perplexity for read, perplexity in reports if read <= meaning["characters"]]
        moments.append(
            {
                "characters": meaning["characters"],
                "score": round(meaning["scores"][meaning["rows"].index(ROW)], 3),
                "perplexity": before[-1] if before else None,
                "values": [[round(v, 2) for v in values[i].tolist()] for i in (0, second)],
            }
        )
    return {"network": run.name, "row": ROW, "sentences": [texts[0], texts[second]], "moments": moments}


if __name__ == "__main__":
    source, target = ([Path(part) for part in sys.argv[1:]] + [REPLAY, RECORDING][len(sys.argv) - 1 :])[:2]
    recording = json.dumps(record(source), ensure_ascii=False, separators=(",", ":"))
    target.write_text(recording + "\n", "utf-8")
