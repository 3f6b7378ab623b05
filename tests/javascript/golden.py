"""What the core answers, for the JavaScript engine to be held against, a file a network of NETWORKS:
`python -m tests.javascript.golden FOLDER`.

Beside each network's own file, NAME.golden holds its header and arrays, then asks and `LiveSession`'s
answers, each after its length in 4 bytes; look.json what the page's script has, orders.json rows' orders.
The networks are of every cell, with random weights, small enough to be made in a moment.
"""

import base64
import json
import struct
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rnnviz.figures.live import seriate, steady
from rnnviz.networks import checkpoint, model_card
from rnnviz.networks.ngram import NgramModel
from rnnviz.page.build import START_TEMPERATURE, check_network, network_arrays, network_header, page_look
from rnnviz.page.live_session import LiveAsk, LiveSession
from rnnviz.page.payload import pack
from rnnviz.page.shown_units import MIN_SIDE_RATIO, REACH_PERCENTILE
from rnnviz.scoring.tracer import trace
from tests.support.models import TEXT, tiny

NETWORKS: dict[str, tuple[str, dict[str, Any]]] = {
    "mlp": ("mlp", {"embedding_size": 0}),
    "relu": ("rnn", {"activation": "relu", "layers": 2}),
    "rnn": ("rnn", {}),
    "gru": ("gru", {"layers": 2}),
    "tied": ("gru", {"tied": True, "embedding_size": 12}),
    "lstm": ("lstm", {"layers": 2}),
    "one-hot": ("lstm", {"embedding_size": 0}),
    "mingru": ("mingru", {"layers": 2}),
    "ends": ("gru", {"layers": 2, "ends": True}),
    "ends-lstm": ("lstm", {"ends": True}),
}
ASKS: list[dict[str, Any]] = [
    {"text": ""},
    {"text": "T"},
    {"text": "The Time Tr"},
    {"text": "The Time Trav", "columns": 8},
    {"text": "The Time Traveller (nobody knew", "columns": 8, "unit": 3, "pin": 0},
    {"text": "The Time Travelled, nobody knew", "columns": 20, "unit": 3, "order": "alike"},
    {"text": "The Time Travelled, é 中文 🐒 knew", "columns": 20, "start": 4, "order": "index"},
    {"text": "The Time Travelled, é 中文 🐒 knew", "unit": 12, "pin": 3},
    {"text": "The Time Travelled, é 中文 🐒 new", "unit": 13, "layer": 1},
    {
        "text": "The Time Travelled, é 中文 🐒 new",
        "unit": 12,
        "layer": 1,
        "quantity": "cell",
        "order": "index",
    },
    {"text": "The Time", "temperature": 0.5},
    {"text": "The Time was", "temperature": 0.5, "top_k": 5},
    {"text": "The Tide was", "temperature": 0.5, "top_k": 5},
    {"text": "The Time was his", "temperature": 1.5, "top_k": 9, "top_p": 0.6},
    {"text": "The Time was his ", "temperature": 0.0},
    *(
        {"text": TEXT[:300], "quantity": q, "layer": 1}
        for q in ("update", "input", "forget", "cell", "candidate")
    ),
    {"text": TEXT[:301], "quantity": "candidate", "layer": 1, "start": 100, "columns": 60},
    {"text": TEXT[:310], "quantity": "candidate", "layer": 1, "start": 130, "columns": 60},
    {"text": TEXT[:250] + "x" + TEXT[250:400], "unit": 5, "pin": 99, "quantity": "output"},
    *({"text": TEXT[:200], "unit": 12, "pin": t, "quantity": q} for t in (0, 99) for q in ("hidden", "cell")),
    {"text": "one\r\ntwo\rthree\n\r\n"},
    *(
        {"text": "The Time\n\nTraveller\nwas", "quantity": q, "pin": 12, "unit": 3, "why": True}
        for q in ("hidden", "update", "forget")
    ),
    {"text": "The Time\n\nTrave\nwas"},
    {"text": "“é—" * 20},
    {"text": "aZ;" * 20},
    {"text": "The Time was his", "temperature": 0.01, "top_k": 1000},
    {"text": "The Time was his", "temperature": 10, "top_p": 0.000001},
    {"text": "e\u0301 🐒👨\u200d👩 \ufeff\u2028\x00\t水", "columns": 400},
    {"text": TEXT[:700] + TEXT[:700], "columns": 400},
    *({"text": TEXT[:500], "pin": t, "why": True} for t in (499, 499, 300, 3, 1, 0, 500)),
    {"text": "", "tree": 0, "temperature": 1},
    {"text": "The Time was his", "at": 8, "tree": 3, "temperature": 1},
    {"text": "The Time was his", "at": 99, "tree": 1, "temperature": 1.5, "top_k": 3},
    {"text": "The Time was his", "at": 2, "tree": 3, "temperature": 0.7, "top_p": 0.5},
    {"text": "The é中🐒", "at": 7, "tree": 3, "temperature": 0},
    {"text": TEXT[:90] + "é中🐒" + TEXT[90:200], "pin": 91, "why": True, "unit": 3},
    {"text": TEXT[:90] + "é中🐒" + TEXT[90:201], "pin": 150, "why": True},
    {"text": TEXT[:90] + "é中🐒" + TEXT[90:140] + "x" + TEXT[141:201], "pin": 150, "why": True},
]


def write(folder: Path) -> None:
    """Write a file for each of NETWORKS."""
    shipped = checkpoint.read_info(checkpoint.find("chinese-gru"))
    found = model_card.unit_findings(shipped.card)[0]
    for name, (cell, options) in NETWORKS.items():
        path = folder / f"{name}.safetensors"
        named = [replace(found, target="vowel", unit=unit).to_json() for unit in (1, 5)]
        named += [sum_record(found, cell, options.get("layers", 1)), sum_record(found, cell, 1)]
        card = {"held_out": {"perplexity": 4.3}, "language": "en", model_card.UNITS_KEY: {"findings": named}}
        model = tiny(cell, name=name, card=card, **options)
        checkpoint.save(replace(model, normaliser="typography" if name == "tied" else "newlines"), path)
        info = checkpoint.read_info(path)
        ngram_model = NgramModel.fit(TEXT, order=3, name="tiny-3gram", ends=model.vocabulary.ends)
        network = check_network(info)
        header, arrays = network_header(network, ngram_model), network_arrays(network, ngram_model)
        digest = header["digest"]
        session = LiveSession(network, ngram_model, temperature=START_TEMPERATURE, fixed=({}, digest))
        blocks = [pack({"model": header}, arrays)]
        for n, asked in enumerate(ASKS):
            # Some views hold what was answered before, some hold nothing.
            ask = {
                "client": "c",
                "seq": n,
                "digest": digest,
                "base": n if n % 5 else 0,
                **asked,
            }
            answer = session.answer(LiveAsk.from_json(ask))
            blocks += [json.dumps(ask).encode(), answer]
        (folder / f"{name}.golden").write_bytes(b"".join(struct.pack("<I", len(b)) + b for b in blocks))
    look = page_look()
    (folder / "look.json").write_text(
        json.dumps({name: look[name] for name in ("colours", "normalisers", "scales")})
    )
    (folder / "orders.json").write_text(json.dumps(row_orders()))


def sum_record(found: model_card.Recorded, cell: str, layers: int) -> dict[str, Any]:
    """A weighted sum of the last of so many layers on a card: of the cell states of an LSTM of two layers."""
    H = tiny(cell).config.hidden_size
    weights = (0.2 * np.sin(np.arange(H) + layers)).astype("<f2")
    quantity = "cell" if (cell, layers) == ("lstm", 2) else "hidden"
    packed = base64.b64encode(weights.tobytes()).decode()
    return replace(
        found,
        target="capital",
        quantity=quantity,
        layer=layers - 1,
        unit=H,
        weights=packed,
        bias=0.4 * layers,
    ).to_json()


def row_orders() -> dict[str, Any]:
    """A network's states over a text, and the orders and the reach of its units."""
    values = trace(tiny("gru"), TEXT[:300]).hidden[:, 0]
    ends = abs(np.percentile(values, (100 - REACH_PERCENTILE, REACH_PERCENTILE), axis=0))
    return {
        "values": values.tolist(),
        "steady": steady(values, 6).tolist(),
        "alike": seriate(values).tolist(),
        "reach": np.maximum(ends, np.maximum(MIN_SIDE_RATIO * ends.max(axis=0), 1e-3)).tolist(),
    }


if __name__ == "__main__":
    write(Path(sys.argv[1]))
