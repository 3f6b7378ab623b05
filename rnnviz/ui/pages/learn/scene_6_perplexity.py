"""Scene 6: perplexity, as a game, as a yardstick, and as a warning."""

import math
from fractions import Fraction
from typing import Any

from rnnviz.i18n import _
from rnnviz.lecture import memorising, perplexity, symbols
from rnnviz.lecture.controls import Control, Row, State, numbers, one_of, text, whole
from rnnviz.lecture.machine import Machine
from rnnviz.ui.pages.learn import examples, scored_texts, shannon_game
from rnnviz.ui.room.room import Question

NAMES = ("game", "rain", "books", "length", "bits", "heart", "shannon")
STEPS = len(NAMES)
GAME, RAIN, BOOKS, LENGTH, BITS, HEART, SHANNON = range(STEPS)

SYMBOLS = 28
CASES = ("network", "certain", "zero", "uniform")
FIRST = (0.1, 0.4, 0.8, 0.9, 0.7, 0.95, 0.9)
READ = (2, 60)
"""Perplexities with which the two books are read."""


CONTROLS = (
    Control("text", text(9), Machine().labels, steps=[GAME], resets=("p", "case")),
    Control("p", numbers(0, 1), address="", resets=("case",)),  # None: as the case says
    Control("case", one_of(("", *CASES)), "", steps=[GAME], resets=("p",)),
    *scored_texts.controls(rain=RAIN, length=LENGTH, bits=BITS),
    Row("read", whole(*READ), [3, 12], steps=[BOOKS], addresses=("war", "prince")),
    Control("pass", whole(1, memorising.PASSES), 10, steps=[HEART]),
    Control("vote", one_of(("train", "held_out", "")), "", address=""),
    *shannon_game.controls(SHANNON),
)


def notice(state: State) -> str:
    """What to notice; of what can go either way, from its numbers."""
    say = {
        GAME: _game_notice,
        BITS: scored_texts.bits_notice,
        HEART: _heart_notice,
    }
    if state["step"] in say:
        return say[state["step"]](state)
    return {
        RAIN: _(
            "Only the ending counts; the {m} characters before are read, but cost nothing. "
            "The less expected a character, the more bits it costs."
        ).format(m=len(examples.spoken(scored_texts.RAINING))),
        BOOKS: _(
            "Even where War and Peace is read far better, The Little Prince is likelier: it is shorter. "
            "What is missing is a mean."
        ),
        LENGTH: _(
            "No further character ever raises a likelihood. "
            "Perplexity is a mean per character, so texts of any length can be compared."
        ),
        SHANNON: _(
            "The bounds hold for F over a long text, for a player who guesses the likeliest letter first."
        ),
    }[state["step"]]


def formula(state: State) -> str:
    """The step's formula."""
    chance = r"\s{P}(\s{x_t} \mid \s{x_t-1}, \ldots, \s{x_1})"
    over = r"_{\s{t}=1}^{\s{T}}"
    mean = rf"\exp\Bigl(-\tfrac{{1}}{{\s{{T}}}}\textstyle\sum{over} \log {chance}\Bigr)"
    whole = r"\s{P}(\s{x_1}, \ldots, \s{x_T})"
    return {
        GAME: mean + rf"=\Bigl(\textstyle\prod{over} \tfrac{{1}}{{{chance}}}\Bigr)^{{1/\s{{T}}}}",
        RAIN: (
            r"\exp\Bigl(-\tfrac{1}{\s{T} - \s{m}}\textstyle\sum_{\s{t}=\s{m}+1}^{\s{T}} "
            rf"\log {chance}\Bigr),\quad \s{{m}} = {len(examples.spoken(scored_texts.RAINING))}"
        ),
        BOOKS: rf"{whole} = \textstyle\prod{over} {chance}",
        LENGTH: rf"\s{{perplexity}} = {whole}^{{-1/\s{{T}}}}",
        BITS: (
            rf"-\tfrac{{1}}{{\s{{T}}}}\textstyle\sum{over} \log_2 {chance}"
            r" = \log_2 (\s{perplexity})\ \ \s{bits}"
        ),
        HEART: mean,
        SHANNON: rf"-\tfrac{{1}}{{\s{{T}}}}\textstyle\sum{over} \log_2 {chance}\ \ \s{{bits}}"
        if state.get("room")  # whose letters have probabilities, and no numbers of guesses
        else (
            r"\textstyle\sum_{\s{i_guess}} \s{i_guess}\,(\s{q_i} - \s{q_i+1}) \log_2 \s{i_guess} "
            r"\;\le\; \s{F} \;\le\; -\sum_{\s{i_guess}} \s{q_i} \log_2 \s{q_i}"
        ),
    }[state["step"]]


def picture(state: State) -> dict[str, Any]:
    """The current step's data."""
    show = (
        _game,
        scored_texts.rain,
        _books,
        scored_texts.length,
        scored_texts.bits,
        _heart,
        shannon_game.picture,
    )[state["step"]]
    return {"show": NAMES[state["step"]], **show(state)}


def asked(state: State) -> Question | None:
    """The vote, once the run is over, and each letter of Shannon's game."""
    if state["step"] == SHANNON:
        return shannon_game.asked(state)
    if state["step"] != HEART or (state["pass"] < memorising.PASSES and not state["vote"]):
        return None
    options = _("training perplexity"), _("held-out perplexity")
    right, over = (1, True) if state["vote"] else (None, False)
    return Question("vote", _("One number goes into the paper. Which one?"), options, right=right, over=over)


# ---- a probability for each character ----------------------------------------------------------------


def _case(state: State) -> str:
    """The case that is shown: "" for bars of one's own."""
    word = Machine()
    if state["p"] is not None and len(state["p"]) == len(state["text"]):
        return ""
    if state["case"] in ("", "network"):
        return "network" if state["text"] == word.labels else ""
    case: str = state["case"]
    return case


def _symbols(state: State) -> int:
    """|V|: the word's own symbols as long as they do, else letters, space and the unknown."""
    return len(Machine.symbols) if set(state["text"]) <= set(Machine.symbols) else SYMBOLS


def _probabilities(state: State) -> list[perplexity.Probability]:
    count, case = len(state["text"]), _case(state)
    if case == "network":
        word = Machine()
        rows = word.forward.probabilities
        return [float(row[target]) for row, target in zip(rows, word.targets, strict=True)]
    if case == "uniform":
        return [Fraction(1, _symbols(state))] * count
    if case == "certain":
        return [1.0] * count
    if case == "zero":
        return [0.0 if n == count // 2 else 0.9 for n in range(count)]
    return list(state["p"] or (FIRST[n % len(FIRST)] for n in range(count)))


def _game(state: State) -> dict[str, Any]:
    p = _probabilities(state)
    found = float(perplexity.perplexity(p))
    costs = [perplexity.surprisal(v) for v in p]
    word = Machine()
    return {
        "text": state["text"],
        "word": word.labels,
        "case": _case(state),
        "size": _symbols(state),
        "p": [float(v) for v in p],
        "costs": [_finite(c) for c in costs],
        "mean": _finite(sum(costs) / len(costs)),
        "perplexity": _finite(found),
        "here": symbols.here({"T": len(p), "perplexity": round(found, 3) if found < math.inf else "∞"}),
        "words": {
            "text": _("text")
            if state["text"] != word.labels
            else _("labels of “{inputs}”").format(inputs=word.inputs),
            "given": _("probability given to the actual character"),
            "inverse": "1/P",
            "cost": _("nats"),
            "mean": _("mean of −log P, nats"),
            "perplexity": _("perplexity"),
            "geometric": _("the geometric mean of 1/P:"),
            "choices": _("equally likely characters to choose among"),
            "blind": _("uniform guess among {n}"),
            "network": _("Network"),
            "certain": _("Certain"),
            "zero": _("One impossible"),
            "uniform": _("Uniform"),
            "bar": _("probability of {character}"),
        },
    }


def _game_notice(state: State) -> str:
    case, size = _case(state), _symbols(state)
    found = float(perplexity.perplexity(_probabilities(state)))
    if case == "network" and found > size:
        return _(
            "The small network is untrained: its perplexity of {found:.2f} is worse "
            "than the {symbols} of a uniform guess. Drag its bars up."
        ).format(found=found, symbols=size)
    if math.isinf(found):
        return _("One character held impossible makes the perplexity infinite, however high the other bars.")
    if found == 1:
        return _("The best case is 1: each actual character had probability 1.")
    if case == "uniform":
        return _(
            "A uniform guess has perplexity |V| and costs log₂ {symbols} = {bits:.2f} bits a character, "
            "as storing without compression does. Every useful model must beat it."
        ).format(symbols=size, bits=math.log2(size))
    return _(
        "Perplexity {found:.2f} is the geometric mean of 1/P: "
        "as unsure as a choice among {found:.2f} equally likely characters."
    ).format(found=found)


# ---- two books ----------------------------------------------------------------------------------------


def _books(state: State) -> dict[str, Any]:
    titles = [_("War and Peace"), _("The Little Prince")]
    return {
        "rows": [
            {
                "title": title,
                "characters": characters,
                "perplexity": read,
                "log10": perplexity.log10_likelihood(characters, read),
                "mean": math.log(read),
            }
            for title, characters, read in zip(titles, perplexity.BOOKS, state["read"], strict=True)
        ],
        "range": READ,
        "words": {
            "characters": _("about {n} characters in English"),
            "read": _("read with perplexity"),
            "likelihood": _("likelihood"),
            "exponent": _("bar: its exponent"),
            "mean": _("mean of −log P, nats"),
        },
    }


# ---- by heart -------------------------------------------------------------------------------------------


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
            "perplexity": _("perplexity"),
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


def _heart_notice(state: State) -> str:
    run, n = memorising.recorded(), state["pass"]
    train, held = run.train[n - 1], run.held_out[n - 1]
    if n <= run.best + 1:
        return _("So far the network learns the language: both perplexities are below a uniform guess.")
    if held <= run.uniform:
        return _(
            "Training perplexity is down to {train:.2f}, but the held-out one is up again: "
            "the network begins to learn its text by heart."
        ).format(train=train)
    return _(
        "Training perplexity is down to {train:.2f}. On new text the network is worse than a uniform guess: "
        "it knows one text by heart."
    ).format(train=train)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
