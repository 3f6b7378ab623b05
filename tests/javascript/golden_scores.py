"""The core's scores of 12 kinds of text, for JavaScript's scoring to be held against:
`python -m tests.javascript.golden_scores FOLDER`.

texts.json has the texts by name, and the normalisers. NAME.scores of each shipped network and n-gram model of
the page holds JSON about it, an n-gram model's tables, and for each text the score's JSON and its
characters' costs in nats (float32), each after its length in 4 bytes.
"""

import json
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.networks import checkpoint
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.page.build import check_network, networks, table_arrays
from rnnviz.page.payload import pack
from rnnviz.scoring.perplexity import score
from rnnviz.text.characters import NORMALISERS

PROSE = (
    "The ferry left before the fog had lifted, and nobody on the quay could say where it went. My uncle, "
    "who kept the light, wrote the hour into his book all the same. “A ship that nobody sees,” he said, “is "
    "still a ship; somebody must have paid for the coal.” He asked me to count the bells: one, a pause, two. "
)
TEXTS = {
    "prose": PROSE.replace("“", '"').replace("”", '"') * 2,
    "lower case": "no capitals here, and the sentences run on as they do in letters to a friend " * 4,
    "code": "def area(width: int, height: int = 2) -> int:\n    # of a sheet\n    return width * height\n\n"
    * 6,
    "Chinese": "清晨的雾还没有散，渡船已经离开了码头。叔叔说：「没有人看见的船，也还是船。」他让我数钟声。"
    * 6,
    "digits": "".join(f"{7919 * n % 10007} {n}.{n * n % 97}, " for n in range(60)),
    "one character": "a" * 600,
    "emoji": "A 🐒 and a 👩\u200d🚀 met\u0000 in a caf\u0065\u0301; \ufeffthey said ¡olé! ☂ 𝔘𝔫𝔦 \u2028" * 5,
    "line ends": "A first line\r\nA second one\rA third\n\r\n\r\n\r and the last\r" * 8,
    "typography": "‘Wait…’ — she said – “I’ll come.” 「好」『是』 " * 9,
    "empty": "",
    "single": "T",
    "long line": " ".join(f"{PROSE[7 * n % 200 : 7 * n % 200 + 60]}" for n in range(140)),
    "scripts": "Привет, мир! Γειά σου Κόσμε. שלום עולם مرحبا नमस्ते こんにちは 안녕 hello, world. " * 6,
}

FIGURES = (
    "characters",
    "unknown",
    "perplexity",
    "perplexity_known",
    "bits_per_character",
    "bits_per_byte",
    "normalised",
    "replaced",
    "bytes",
)

EXAMINED_CHARS = 1000
"""Shorter texts are read in float64, too: `rounding` is the nats by which rounding moved a cost, at most."""


def write(folder: Path) -> None:
    """Write texts.json, and a file for each model."""
    document = json.dumps({"texts": TEXTS, "normalisers": NORMALISERS})
    (folder / "texts.json").write_text(document, "utf-8")
    for info in networks():
        if info.path.parent.name != "models":
            continue  # not one that ships
        network = check_network(info)
        _write_scores(folder, network, b"")
        ngram_model = checkpoint.load_ngram_model(info.card)
        if ngram_model is None or (folder / f"{ngram_model.name}.scores").exists():
            continue
        if tables := table_arrays(ngram_model, network.vocabulary):
            _write_scores(folder, ngram_model, pack({}, tables))


def _write_scores(folder: Path, model: NumpyModel | NgramModel, tables: bytes) -> None:
    about = {
        "symbols": model.vocabulary.characters,
        "normaliser": model.normaliser,
        "unknownCost": model.vocabulary.unknown_cost,
        "end": model.vocabulary.end,
    }
    blocks = [json.dumps(about).encode(), tables]
    for text in TEXTS.values():
        figures: dict[str, Any] = {"characters": 0}
        costs: list[Doubles] = [np.empty(0)]
        if text:
            found = score(model, text=text, on_costs=costs.append)
            figures = {name: getattr(found, name) for name in FIGURES}
            if len(text) < EXAMINED_CHARS:
                exact: list[Doubles] = []
                score(model, text=text, on_costs=exact.append, precise=True)
                figures["rounding"] = float(abs(np.concatenate(exact) - np.concatenate(costs)).max())
        blocks += [json.dumps(figures).encode(), np.concatenate(costs).astype("<f4").tobytes()]
    (folder / f"{model.name}.scores").write_bytes(b"".join(struct.pack("<I", len(b)) + b for b in blocks))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
