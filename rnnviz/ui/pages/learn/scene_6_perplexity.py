"""Scene 6: perplexity, as a game, as a yardstick, and as a warning."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rnnviz.lecture import guessing, memorising, shannon
from rnnviz.reading.compression import FIXED, compress
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.learn import given

if TYPE_CHECKING:
    from rnnviz.networks.ngram import NgramModel
    from rnnviz.networks.numpy_model import NumpyModel
    from rnnviz.ui.pages.learn.context import Context
    from rnnviz.ui.pages.learn.scenes import Ask, State

STEPS = 5
GAME, RAIN, LENGTH, HEART, SHANNON = range(STEPS)

TEXT = "raining"
LONGEST = 9
SYMBOLS = 28
CASES = ("certain", "zero", "uniform")
FIRST = (0.1, 0.4, 0.8, 0.9, 0.7, 0.95, 0.9)

KINDS = ("mlp", "rnn", "gru", "lstm", "6gram")
ENDING = 24

GOOD = "It was a quiet evening, and for some time we sat and looked into the fire without a word."
POOR = "banana tree jazz quiz fog mixes by two ugly vowels"
WIDEST = 100

PASS = 10

PLAYERS = ("6gram", "gru", "lstm")
GUESSES = 330
"""Characters of a game's history: the address must hold them."""


def notice(state: State) -> str:
    """What to notice."""
    return [
        _("One character held impossible, and no other guess can make up for it. Drag the bars."),
        _("The model never saw these sentences: it finds the first likely, and pays for every odd letter."),
        _(
            "The shorter a text, the larger its likelihood, even of nonsense. "
            "Perplexity counts per character, so any two lengths compare."
        ),
        _("While the training perplexity goes to 1, the held-out one climbs above guessing blindly."),
        _("Your guesses alone, without any probability, pin down how much you know about the next letter."),
    ][state["step"]]


def formula(state: State) -> str:
    """The step's formula."""
    perplexity = (
        r"\exp\Bigl(-\tfrac{1}{n}\textstyle\sum_{t=1}^{n} \log P(x_t \mid x_{t-1}, \ldots, x_1)\Bigr)"
    )
    return [
        perplexity,
        perplexity,
        r"-\log_{2} P(x_1, \ldots, x_n) = n \log_2 (\mathrm{perplexity})\ \ \text{bits}",
        perplexity,
        r"\textstyle\sum_i i\,(q_i - q_{i+1}) \log_2 i \;\le\; H \;\le\; -\sum_i q_i \log_2 q_i",
    ][state["step"]]


def initial(query: Mapping[str, str]) -> State:
    """Everything the address holds, and the usual where it says nothing."""
    text = given.text(query.get("text"), LONGEST) or TEXT
    endings = [given.text(query.get(f"e{n}"), ENDING) or e for n, e in enumerate(guessing.ENDINGS)]
    sentence = given.whole(query.get("sentence"), 1, len(shannon.SENTENCES)) or 1
    return {
        "text": text,
        "p": _given(text),
        "case": given.one_of(query.get("case"), CASES) or "",
        "endings": endings,
        "kind": given.one_of(query.get("model"), KINDS) or "lstm",
        "long": GOOD,
        "short": POOR,
        "cuts": [
            given.whole(query.get("a"), 1, WIDEST) or 80,
            given.whole(query.get("b"), 1, WIDEST) or 20,
        ],
        "pass": given.whole(query.get("pass"), 1, memorising.PASSES) or PASS,
        "vote": "",
        "sentence": sentence - 1,
        "history": given.text(query.get("guesses"), GUESSES) or "",
    }


def query(state: State) -> dict[str, str]:
    """What differs from the usual, of the step that is shown."""
    usual, step = initial({}), state["step"]
    found: dict[str, str] = {}
    if step == GAME:
        if state["text"] != TEXT:
            found["text"] = state["text"]
        if state["case"]:
            found["case"] = state["case"]
    elif step == RAIN:
        found |= {f"e{n}": e for n, e in enumerate(state["endings"]) if e != usual["endings"][n]}
    elif step == LENGTH:
        found |= {k: str(n) for k, n, u in zip("ab", state["cuts"], usual["cuts"], strict=True) if n != u}
    elif step == HEART:
        if state["pass"] != PASS:
            found["pass"] = str(state["pass"])
    else:
        if state["sentence"]:
            found["sentence"] = str(state["sentence"] + 1)
        if state["history"]:
            found["guesses"] = state["history"]
    if step in (RAIN, LENGTH) and state["kind"] != usual["kind"]:
        found["model"] = state["kind"]
    return found


def answer(state: State, ask: Ask, context: Context) -> tuple[State, dict[str, Any]]:
    """The step that is shown, and nothing of the others."""
    state = _taken(state, ask)
    show = (_game, _rain, _length, _heart, _shannon)[state["step"]]
    data = show(state, context)
    return state, {"show": ("game", "rain", "length", "heart", "shannon")[state["step"]], **data}


def _given(text: str) -> list[float]:
    return [FIRST[n % len(FIRST)] for n in range(len(text))]


def _taken(state: State, ask: Ask) -> State:
    """The state after what is valid in `ask`."""
    found = dict(state)
    text = given.text(ask.get("text"), LONGEST)
    if text and text != state["text"]:
        found |= {"text": text, "p": _given(text), "case": ""}
    wish = ask.get("p")
    if isinstance(wish, list) and len(wish) == len(found["text"]):
        p = [given.number(v, 0, 1) for v in wish]
        if None not in p:
            found |= {"p": p, "case": ""}
    if "case" in ask:
        found["case"] = given.one_of(ask["case"], CASES) or ""
        count = len(found["text"])
        if found["case"] == "zero":
            found["p"] = [0.9] * (count // 2) + [0.0] + [0.9] * (count - count // 2 - 1)
        elif found["case"]:
            found["p"] = [1.0 if found["case"] == "certain" else 1 / SYMBOLS] * count
    endings = ask.get("endings")
    if isinstance(endings, list) and len(endings) == len(state["endings"]):
        lines = [given.text(e, ENDING) for e in endings]
        found["endings"] = [new or old for new, old in zip(lines, state["endings"], strict=True)]
    found["kind"] = given.one_of(ask.get("kind"), KINDS) or state["kind"]
    for name in ("long", "short"):
        found[name] = given.text(ask.get(name), WIDEST) or state[name]
    cuts = ask.get("cuts")
    if isinstance(cuts, list) and len(cuts) == 2:
        found["cuts"] = [given.whole(n, 1, WIDEST) or old for n, old in zip(cuts, state["cuts"], strict=True)]
    found["pass"] = given.whole(ask.get("pass"), 1, memorising.PASSES) or state["pass"]
    vote = given.one_of(ask.get("vote"), ("train", "held_out", ""))
    found["vote"] = state["vote"] if vote is None else vote
    sentence = given.whole(ask.get("sentence"), 0, len(shannon.SENTENCES) - 1)
    if sentence is not None and sentence != state["sentence"]:
        found |= {"sentence": sentence, "history": ""}
    history = given.text(ask.get("history"), GUESSES)
    if history is not None:
        found["history"] = history
    return found


def _model(state: State, context: Context) -> NumpyModel | NgramModel:
    return _load(state["kind"], context)


def _load(kind: str, context: Context) -> NumpyModel | NgramModel:
    name = f"timemachine-{kind}"
    return context.ngram(name) if kind == "6gram" else context.network(name)


def _game(state: State, context: Context) -> dict[str, Any]:
    p: list[guessing.Probability] = list(state["p"])
    if state["case"] == "uniform":
        p = [Fraction(1, SYMBOLS)] * len(p)
    costs = [guessing.surprisal(v) for v in p]
    return {
        "text": state["text"],
        "case": state["case"],
        "symbols": SYMBOLS,
        "p": [float(v) for v in p],
        "costs": [given.finite(c) for c in costs],
        "mean": given.finite(sum(costs) / len(costs)),
        "perplexity": given.finite(float(guessing.perplexity(p))),
        "words": {
            "text": _("text"),
            "given": _("P of what came"),
            "cost": "−log P",
            "mean": _("mean"),
            "perplexity": _("perplexity"),
            "blind": _("blind guess among {n}"),
            "certain": _("Certain"),
            "zero": _("One impossible"),
            "uniform": _("All alike"),
        },
    }


def _rain(state: State, context: Context) -> dict[str, Any]:
    model = _model(state, context)
    rows = []
    for ending in state["endings"]:
        found = guessing.continuation(model, guessing.RAINING, ending)
        rows.append(
            {
                "ending": ending,
                "bits": [round(v / math.log(2), 2) for v in found.nats.tolist()],
                "perplexity": found.perplexity,
                "log10": found.log10,
            }
        )
    return {
        "beginning": guessing.RAINING,
        "rows": rows,
        "uniform": model.vocabulary.size,
        "kind": state["kind"],
        "limit": ENDING,
        "words": {**_kinds(), "perplexity": _("perplexity"), "blind": _("blind guess"), "bits": _("bits")},
    }


def _length(state: State, context: Context) -> dict[str, Any]:
    model = _model(state, context)
    rows = []
    for name, wish in zip(("long", "short"), state["cuts"], strict=True):
        text = state[name]
        found = guessing.prefixes(model, text)
        cut = min(wish, len(text))
        rows.append(
            {
                "text": text,
                "cut": cut,
                "log10": [round(v, 3) for v in found.log10.tolist()],
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


def _heart(state: State, context: Context) -> dict[str, Any]:
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
            "blind": _("blind guess {n}"),
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


def _shannon(state: State, context: Context) -> dict[str, Any]:
    game = shannon.play(state["sentence"], state["history"])
    found = len(game.ranks)
    begin = len(shannon.SENTENCES[state["sentence"]][0])
    models = []
    for kind in PLAYERS if found else ():
        model = _load(kind, context)
        played = shannon.judged(kind, _expected(model, state["sentence"]), state["sentence"], found)
        models.append(
            {"kind": kind, "bits": played.bits, "lower": played.bounds.lower, "upper": played.bounds.upper}
        )
    bounds = shannon.bounds(game.ranks) if found else None
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
        "class": None if bounds is None else {"lower": bounds.lower, "upper": bounds.upper, "n": found},
        "models": models,
        "uniform": shannon.UNIFORM_BITS,
        "words": {
            **_kinds(),
            "guess": _("next letter"),
            "space": _("space"),
            "pass": _("Give up"),
            "other": _("Another sentence"),
            "ranks": _("found at guess"),
            "class": _("the class"),
            "blind": _("blind guess"),
            "bits": _("bits per character"),
            "few": _("{n} characters so far: with few, these bounds are rough."),
            "begin": _("Say the next letter. Guess until it is right."),
            "exact": _("Bar: bounds from the guesses. Dot: what the model really pays."),
        },
    }


_remembered: dict[tuple[str, int], Any] = {}


def _expected(model: NumpyModel | NgramModel, sentence: int) -> Any:
    """`shannon.probabilities`, remembered: a guess must not cost the models' reading again."""
    key = (model.name, sentence)
    if key not in _remembered:
        _remembered[key] = shannon.probabilities(model, sentence)
    return _remembered[key]


def _kinds() -> dict[str, str]:
    return {
        "mlp": "MLP",
        "rnn": "RNN",
        "gru": "GRU",
        "lstm": "LSTM",
        "6gram": _("6-gram"),
        "model": _("model"),
    }
