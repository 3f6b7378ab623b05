"""How often a model's own kind of text is called foreign, and how often another kind is.

    RNNVIZ_CACHE=CACHE python tests/benchmarks/foreign.py [--windows 300] [--xiyouji FILE]

Windows of held-out text, each from the beginning of a line or a sentence, are read as the page reads them:
from the start. Corpora that are not on this machine are left out; the Train page fetches `tinyshakespeare`.
In each row: the share that is foreign, in percent, at 20, 40, 80, 160 and 320 characters.
"""

from __future__ import annotations

import argparse
import math
import random
from pathlib import Path
from typing import Any

import numpy as np

from rnnviz.errors import RnnvizError
from rnnviz.networks import checkpoint
from rnnviz.reading.trace import trace
from rnnviz.reports.foreign import why
from rnnviz.text import corpora

LENGTHS = (20, 40, 80, 160, 320)


def held_out(xiyouji: Path | None) -> dict[str, str]:
    """The corpora that are here, each without what a model may have read."""
    found = {}
    for name in ("timemachine", "tinyshakespeare", "python-source", "python-docs"):
        try:
            found[name] = corpora.read(name).split().held_out
        except RnnvizError:
            print(f"{name} is not here")
    if xiyouji is not None:
        found["xiyouji"] = corpora.from_text(xiyouji.read_text("utf-8")).split().held_out
    return found


def windows(text: str, count: int) -> list[str]:
    """Stretches of the greatest length."""
    last = len(text) - LENGTHS[-1] - 2
    starts = [i + 1 for i in range(last) if text[i] == "\n" or (text[i] in ".。”" and text[i + 1] != "\n")]
    chosen = random.Random(1).sample(starts, min(count, len(starts)))
    return [text[i:].lstrip()[: LENGTHS[-1]] for i in chosen]


def foreign(model: Any, text: str) -> list[bool]:
    """Whether the text is, at each of LENGTHS."""
    read = trace(model, text)
    bits, unknown = np.cumsum(read.nll) / math.log(2), np.cumsum(~read.known)
    return [
        bool(why(model.card, n, int(unknown[n - 1]), float(bits[n - 1]) / n))
        for n in LENGTHS
        if n <= len(text)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--windows", type=int, default=300)
    parser.add_argument("--xiyouji", type=Path)
    options = parser.parse_args()
    texts = {name: windows(text, options.windows) for name, text in held_out(options.xiyouji).items()}
    for info in checkpoint.available()[0]:
        if info.kind == "ngram":
            continue
        model = checkpoint.load_numpy(info.path)
        for name, found in texts.items():
            told = [said for text in found if len(said := foreign(model, text)) == len(LENGTHS)]
            shares = " ".join(f"{100 * share:5.1f}" for share in np.mean(told, axis=0))
            own = "own" if info.card.get("corpus") == name else ""
            print(f"{info.name:18} {name:16} {own:4}{shares}   of {len(told)}", flush=True)


if __name__ == "__main__":
    main()
