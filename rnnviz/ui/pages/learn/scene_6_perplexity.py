"""Scene 6: perplexity, as a game, as a yardstick, and as a warning."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from rnnviz.lecture import memorising, perplexity, shannon
from rnnviz.reading.compression import FIXED, compress
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.learn import models
from rnnviz.ui.pages.learn.controls import Control, Row, State, numbers, one_of, text, whole

NAMES = ("game", "rain", "length", "heart", "shannon")
STEPS = len(NAMES)
GAME, RAIN, LENGTH, HEART, SHANNON = range(STEPS)

GOOD = "It was a quiet evening, and for some time we sat and looked into the fire without a word."
POOR = "banana tree jazz quiz fog mixes by two ugly vowels"

SYMBOLS = 28
CASES = ("certain", "zero", "uniform")
FIRST = (0.1, 0.4, 0.8, 0.9, 0.7, 0.95, 0.9)
KINDS = ("mlp", "rnn", "gru", "lstm", "6gram")
PLAYERS = ("6gram", "gru", "lstm")
ENDING, WIDEST = 24, 100  # characters of an ending, and of a text to cut
GUESSES = 330
"""Characters of a game's history: the address must hold them."""


def _sentence(value: object) -> int | None:
    """A sentence's number: addresses count from 1."""
    count = len(shannon.SENTENCES)
    first = 1 if isinstance(value, str) else 0
    found: int | None = whole(first, first + count - 1)(value)
    return None if found is None else found - first


CONTROLS = (
    Control("text", text(9), "raining", steps=[GAME], resets=("p", "case")),
    Control("p", numbers(0, 1), address="", resets=("case",)),  # None: as the case says, or FIRST
    Control("case", one_of(("", *CASES)), "", steps=[GAME], resets=("p",)),
    Row("endings", text(ENDING), perplexity.ENDINGS, steps=[RAIN], addresses=("e0", "e1", "e2")),
    Control("long", text(WIDEST), GOOD, address=""),
    Control("short", text(WIDEST), POOR, address=""),
    Row("cuts", whole(1, WIDEST), (80, 20), steps=[LENGTH], addresses=("a", "b")),
    Control("kind", one_of(KINDS), "lstm", address="model", steps=[RAIN, LENGTH]),
    Control("pass", whole(1, memorising.PASSES), 10, steps=[HEART]),
    Control("vote", one_of(("train", "held_out", "")), "", address=""),
    Control("sentence", _sentence, 0, steps=[SHANNON], written=lambda n: str(n + 1), resets=("history",)),
    Control("history", text(GUESSES), "", address="guesses", steps=[SHANNON]),
)


def notice(state: State) -> str:
    """What to notice."""
    return [
        _(
            "Perplexity is the geometric mean of 1/P. "
            "One character held impossible makes it infinite: drag a bar to 0."
        ),
        _(
            "Only the ending counts; the {m} characters before it are read without a price. "
            "The less a letter was expected, the more it costs."
        ).format(m=len(perplexity.RAINING)),
        _(
            "Every further character lowers a text's likelihood, of sense and nonsense alike. "
            "Perplexity is a mean, so texts of any length can be compared."
        ),
        _("While the training perplexity goes to 1, the held-out one climbs above a uniform guess."),
        _(
            "q_i is the share of letters found at guess i; F, the entropy of a letter given all before it. "
            "The bounds hold for F over a long text, for a player who guesses the likeliest letter first."
        ),
    ][state["step"]]


def formula(state: State) -> str:
    """The step's formula."""
    chance = r"\s{P}(\s{x_t} \mid \s{x_t-1}, \ldots, \s{x_1})"
    mean = rf"\exp\Bigl(-\tfrac{{1}}{{\s{{T}}}}\textstyle\sum_{{\s{{t}}=1}}^{{\s{{T}}}} \log {chance}\Bigr)"
    return [
        mean
        + rf"=\Bigl(\textstyle\prod_{{\s{{t}}=1}}^{{\s{{T}}}} \tfrac{{1}}{{{chance}}}\Bigr)^{{1/\s{{T}}}}",
        (
            r"\exp\Bigl(-\tfrac{1}{\s{T} - \s{m}}\textstyle\sum_{\s{t}=\s{m}+1}^{\s{T}} "
            rf"\log {chance}\Bigr),\quad \s{{m}} = {len(perplexity.RAINING)}"
        ),
        r"-\log_2 \s{P}(\s{x_1}, \ldots, \s{x_T}) = \s{T} \log_2 (\s{perplexity})\ \ \s{bits}",
        mean,
        (
            r"\textstyle\sum_{\s{i_guess}} \s{i_guess}\,(\s{q_i} - \s{q_i+1}) \log_2 \s{i_guess} "
            r"\;\le\; \s{F} \;\le\; -\sum_{\s{i_guess}} \s{q_i} \log_2 \s{q_i}"
        ),
    ][state["step"]]


def picture(state: State) -> dict[str, Any]:
    """The current step's data."""
    show = (_game, _rain, _length, _heart, _shannon)[state["step"]]
    return {"show": show.__name__[1:], **show(state)}


def _probabilities(state: State) -> list[perplexity.Probability]:
    count = len(state["text"])
    if state["case"] == "uniform":
        return [Fraction(1, SYMBOLS)] * count
    if state["case"] == "certain":
        return [1.0] * count
    if state["case"] == "zero":
        return [0.0 if n == count // 2 else 0.9 for n in range(count)]
    if state["p"] is not None and len(state["p"]) == count:
        return list(state["p"])
    return [FIRST[n % len(FIRST)] for n in range(count)]


def _game(state: State) -> dict[str, Any]:
    p = _probabilities(state)
    costs = [perplexity.surprisal(v) for v in p]
    return {
        "text": state["text"],
        "case": state["case"],
        "symbols": SYMBOLS,
        "p": [float(v) for v in p],
        "costs": [_finite(c) for c in costs],
        "mean": _finite(sum(costs) / len(costs)),
        "perplexity": _finite(float(perplexity.perplexity(p))),
        "words": {
            "text": _("text"),
            "given": _("probability of the actual character"),
            "cost": _("nats"),
            "mean": _("mean of −log P, nats"),
            "perplexity": _("perplexity"),
            "blind": _("uniform guess among {n}"),
            "certain": _("Certain"),
            "zero": _("One impossible"),
            "uniform": _("Uniform"),
        },
    }


def _rain(state: State) -> dict[str, Any]:
    model = models.load(f"timemachine-{state['kind']}")
    rows = []
    for ending in state["endings"]:
        found = perplexity.continuation(model, perplexity.RAINING, ending)
        rows.append(
            {
                "ending": ending,
                "bits": [round(v / math.log(2), 2) for v in found.nats.tolist()],
                "perplexity": found.perplexity,
                "log10": found.log10,
            }
        )
    return {
        "beginning": perplexity.RAINING,
        "rows": rows,
        "uniform": model.vocabulary.size,
        "kind": state["kind"],
        "limit": ENDING,
        "words": {**_kinds(), "perplexity": _("perplexity"), "blind": _("uniform guess"), "bits": _("bits")},
    }


def _length(state: State) -> dict[str, Any]:
    model = models.load(f"timemachine-{state['kind']}")
    rows = []
    for name, wish in zip(("long", "short"), state["cuts"], strict=True):
        text = state[name]
        found = perplexity.prefixes(model, text)
        cut = min(wish, len(text))
        rows.append(
            {
                "text": text,
                "cut": cut,
                "log10": np.round(found.log10, 3).tolist(),
                "perplexity": [round(min(v, 1e6), 3) for v in found.perplexity.tolist()],
                "bits": float(found.bits[cut - 1]),
                "bytes": len(compress(model, text[:cut])),
            }
        )
    return {
        "rows": rows,
        "kind": state["kind"],
        "limit": WIDEST,
        "header": FIXED,
        "words": {
            **_kinds(),
            "likelihood": _("log10 likelihood"),
            "perplexity": _("perplexity"),
            "characters": _("characters read"),
            "cut": _("cut after"),
            "numbers": _("likelihood {likelihood} · perplexity {perplexity} · {bits} bits = {ideal} bytes"),
            "file": _("as a file {bytes} bytes, {header} of them header"),
        },
    }


def _heart(state: State) -> dict[str, Any]:
    run = memorising.recorded()
    return {
        "train": run.train,
        "held": run.held_out,
        "uniform": run.uniform,
        "best": run.best + 1,
        "pass": state["pass"],
        "passes": len(run.passes),
        "vote": state["vote"],
        "words": {
            "train": _("training"),
            "held": _("held out"),
            "blind": _("uniform guess {n}"),
            "passes": _("passes over 10,000 characters"),
            "pass": _("pass"),
            "play": _("Play"),
            "stop": _("Stop"),
            "ask": _("One number goes into the paper. Which one?"),
            "best": _("best: pass {n}"),
            "right": _("Yes: only text that was not trained on tells what was learned about the language."),
            "wrong": _("That one says how well 10,000 characters were learned by heart, and nothing else."),
            "recipe": _("RNN, 512 units, one layer, 28 symbols"),
        },
    }


def _shannon(state: State) -> dict[str, Any]:
    game = shannon.play(state["sentence"], state["history"])
    found = len(game.ranks)
    begin = len(shannon.SENTENCES[state["sentence"]][0])
    players = []
    for kind in PLAYERS if found else ():
        played = shannon.played(_expected(kind, state["sentence"]), state["sentence"], found)
        players.append({"kind": kind, "bits": played.bits, "bounds": _bounded(played.ranks)})
    return {
        "sentence": state["sentence"],
        "sentences": len(shannon.SENTENCES),
        "given": game.shown[:begin],
        "shown": game.shown[begin:],
        "left": game.left,
        "tried": game.tried,
        "history": state["history"],
        "limit": GUESSES,
        "ranks": [sum(r == n for r in game.ranks) for n in range(1, 6)] + [sum(r > 5 for r in game.ranks)],
        "found": found,
        "class": _bounded(game.ranks),
        "least": shannon.LEAST,
        "models": players,
        "uniform": shannon.UNIFORM_BITS,
        "words": {
            **_kinds(),
            "guess": _("next letter"),
            "space": _("space"),
            "pass": _("Give up"),
            "other": _("Another sentence"),
            "ranks": _("found at guess"),
            "class": _("the class"),
            "blind": _("uniform guess"),
            "bits": _("bits per character"),
            "few": _("Bounds of the entropy F appear after {least} letters; {n} so far."),
            "begin": _("Say the next letter. Guess until it is right."),
            "exact": _(
                "Bar: bounds of F. Line: their 95 % interval. "
                "Dot: what the model really pays, which they don't bound."
            ),
        },
    }


def _bounded(ranks: tuple[int, ...]) -> dict[str, Any] | None:
    """The bounds from a game's ranks with their interval; None while there are too few."""
    if len(ranks) < shannon.LEAST:
        return None
    bounds = shannon.bounds(ranks)
    return {"lower": bounds.lower, "upper": bounds.upper, "interval": shannon.interval(ranks)}


@cache
def _expected(kind: str, sentence: int) -> Any:
    """`shannon.probabilities`, cached: a guess must not cost the models' reading again."""
    return shannon.probabilities(models.load(f"timemachine-{kind}"), sentence)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _kinds() -> dict[str, str]:
    return {
        "mlp": "MLP",
        "rnn": "RNN",
        "gru": "GRU",
        "lstm": "LSTM",
        "6gram": _("6-gram"),
        "model": _("model"),
    }
