"""Scene 6's steps on texts that models have read: continuations, texts of two lengths, and stored bits."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from rnnviz.i18n import _, language
from rnnviz.lecture import perplexity, symbols
from rnnviz.lecture.controls import Control, Controls, Row, State, one_of, text, whole
from rnnviz.lecture.prediction import nats
from rnnviz.ui.pages.learn import examples

GOOD = {
    "en": "It was a quiet evening, and for some time we sat and looked into the fire without a word.",
    "zh": "师徒们走了一日天色晚了只见前面山下有一座庄院。行者道：“师父我们且去借宿一宵明早再走。”",
}
POOR = {
    "en": "banana tree jazz quiz fog mixes by two ugly vowels",
    "zh": "芭蕉树鼓桌鱼鞋十六红盐飞笔牛灯耳",
}
CUTS = {"en": [80, 20], "zh": [40, 8]}
RAINING = {"en": perplexity.RAINING, "zh": "今天下雨"}
ENDINGS = {"en": list(perplexity.ENDINGS), "zh": ["不敢出门", "一棵芭蕉树", "毛皮；笔左飞 手六"]}

STORED = {
    "en": "It was a quiet evening, and we sat by the fire.",
    "zh": "师徒们走了一日天色晚了只见前面山下有一座庄院。",
}
ENDING, WIDEST, WIDE = 24, 100, 48  # characters of an ending, of a text to cut, and of one to store


def controls(rain: int, length: int, bits: int) -> Controls:
    """The controls of the steps that bear these numbers."""
    return (
        Row(
            "endings",
            text(ENDING),
            [None] * 3,
            steps=[rain],
            addresses=("e0", "e1", "e2"),
            spoken=lambda: examples.spoken(ENDINGS),
        ),
        Control("long", text(WIDEST), address="", spoken=lambda: examples.spoken(GOOD)),
        Control("short", text(WIDEST), address="", spoken=lambda: examples.spoken(POOR)),
        Row(
            "cuts",
            whole(1, WIDEST),
            [None, None],
            steps=[length],
            addresses=("a", "b"),
            spoken=lambda: examples.spoken(CUTS),
        ),
        Control("stored", text(WIDE), steps=[bits], spoken=lambda: examples.spoken(STORED)),
        Control("kind", one_of(examples.KINDS), "lstm", address="model", steps=[rain, length, bits]),
    )


# ---- three continuations ------------------------------------------------------------------------------


def rain(state: State) -> dict[str, Any]:
    """Three endings of one beginning."""
    model, beginning = examples.reader(state["kind"]), examples.spoken(RAINING)
    found = [perplexity.continuation(model, beginning, ending) for ending in state["endings"]]
    reads = [
        _("A model that writes this knows words and sense."),
        _("A model that writes this can spell, but misses the sense."),
        _("A model that writes this has learned nothing yet."),
    ]
    rows = []
    for ending, usual, read, one in zip(
        state["endings"], examples.spoken(ENDINGS), reads, found, strict=True
    ):
        rows.append(
            {
                "ending": ending,
                "bits": [round(v / math.log(2), 2) for v in one.nats.tolist()],
                "perplexity": one.perplexity,
                "log10": one.log10,
                "reads": read if ending == usual else "",
                "times": model.vocabulary.size / one.perplexity,
            }
        )
    return {
        "beginning": beginning,
        "here": symbols.here({"m": len(beginning)}),
        "rows": rows,
        "uniform": model.vocabulary.size,
        "kind": examples.nearest(state["kind"]),
        "kinds": examples.kinds(),
        "limit": ENDING,
        "words": {
            **examples.kind_names(),
            "perplexity": _("perplexity, log scale"),
            "blind": _("uniform guess"),
            "bits": _("bits"),
            "times": _("Chance per character: {times} × a uniform guess"),
        },
    }


# ---- two lengths ----------------------------------------------------------------------------------------


def length(state: State) -> dict[str, Any]:
    """Two texts, each cut where someone wants."""
    model = examples.reader(state["kind"])
    rows = []
    for name, wish in zip(("long", "short"), state["cuts"], strict=True):
        shown = state[name]
        found = perplexity.prefixes(model, shown)
        rows.append(
            {
                "text": shown,
                "cut": min(wish, len(shown)),
                "log10": np.round(found.log10, 3).tolist(),
                "perplexity": [round(min(v, 1e6), 3) for v in found.perplexity.tolist()],
            }
        )
    return {
        "rows": rows,
        "kind": examples.nearest(state["kind"]),
        "kinds": examples.kinds(),
        "limit": WIDEST,
        "words": {
            **examples.kind_names(),
            "likelihood": _("log₁₀ likelihood"),
            "perplexity": _("perplexity"),
            "characters": _("characters read"),
            "cut": _("cut after"),
            "text": _("text"),
            "numbers": _("likelihood {likelihood} · perplexity {perplexity}"),
        },
    }


# ---- bits -------------------------------------------------------------------------------------------------


def bits(state: State) -> dict[str, Any]:
    """What the text takes to store, plainly and in each model's ideal code."""
    stored, kind = state["stored"], examples.nearest(state["kind"])
    model = examples.reader(kind)
    costs = nats(model, stored) / math.log(2)
    mean, lengths = float(2.0 ** min(costs.mean(), 1000.0)), _lengths(stored)
    return {
        "text": stored,
        "limit": WIDE,
        "kind": kind,
        "kinds": examples.kinds(),
        "surprisals": np.round(costs, 3).tolist(),
        "mean": float(costs.mean()),
        "perplexity": mean,
        "here": symbols.here({"T": len(stored), "perplexity": round(mean, 3)}),
        "rows": [
            {"name": "bytes", "bits": 8.0 * len(stored.encode())},
            {"name": "uniform", "bits": perplexity.uniform_bits(model, stored)},
            *({"name": name, "bits": found} for name, found in lengths.items()),
        ],
        "words": {
            **examples.kind_names(),
            "text": _("text"),
            "bytes": _("as a file, UTF-8"),
            "uniform": _("uniform guess, {n}").format(n=f"{model.vocabulary.size:,}"),
            "bits": _("{bits} bits"),
            "each": _("{bits} a character"),
            "surprisal": _("Surprisal"),
            "surprisal.is": _("−log₂ P of a character: its bits in an ideal code"),
            "cross": _("Cross-entropy"),
            "cross.is": _("the mean surprisal under a model: here {bits} bits"),
            "entropy": _("Entropy"),
            "entropy.is": _("the least cross-entropy any model can have, over all such texts"),
            "perplexity": _("Perplexity"),
            "perplexity.is": _("2 to the cross-entropy: {perplexity}; a power for historical reasons"),
        },
    }


def _lengths(stored: str) -> dict[str, float]:
    """Bits of the text in the ideal code of each model that reads its language."""
    return _read(stored, language())


@lru_cache(maxsize=16)
def _read(stored: str, spoken: str) -> dict[str, float]:
    """`_lengths` in a language, kept: the picture and the sentence beside it need them."""
    return {kind: float(nats(examples.reader(kind), stored).sum()) / math.log(2) for kind in examples.kinds()}


def bits_notice(state: State) -> str:
    """What to notice: which model stores the text in fewest bits, or that none beats a uniform guess."""
    lengths = _lengths(state["stored"])
    best = min(lengths, key=lambda kind: lengths[kind])
    uniform = perplexity.uniform_bits(examples.reader(best), state["stored"])
    if lengths[best] >= uniform:
        return _("No model stores this text in fewer bits than a uniform guess: they learned other texts.")
    return _(
        "A better model needs fewer bits: {best} stores this text in {bits:,.0f} bits, "
        "a uniform guess in {uniform:,.0f}."
    ).format(best=examples.kind_names()[best], bits=lengths[best], uniform=uniform)
