"""The words of scene 8: what is asked, what can be answered, and why the answer is what it is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from rnnviz.ui.i18n import _


@dataclass(frozen=True)
class Words:
    """One question: options and rows of evidence by their keys; `bars` are drawn as shares of 1."""

    question: str
    options: dict[str, str]
    dial: str
    rows: dict[str, str]
    bars: frozenset[str] = field(default_factory=frozenset)


def words(key: str) -> Words:
    """The words of a question of rnnviz.lecture.questions."""
    return _WORDS[key]()


def reason(key: str) -> str:
    """Why the answer is what it is."""
    return _REASONS[key]()


def setting(key: str, value: str | float) -> str:
    """A setting as its button says it."""
    if key == "forgets" and isinstance(value, str):
        return " / ".join(f"…{text[-3:]}".replace(" ", "·") for text in value.split("|"))
    if isinstance(value, str):
        return value.removeprefix("timemachine-").upper() if value.startswith("timemachine-") else value
    return f"{value:g}"


def said(value: float | int | str) -> str:
    """A value of the evidence, rounded to what can be read from the back row."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if math.isinf(value):
        return "∞"
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.4g}"
    ten = math.floor(math.log10(abs(value)))
    return f"{value / 10**ten:.1f} × 10{str(ten).translate(_RAISED)}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

_CELLS = {"mlp": "MLP", "rnn": "RNN", "lstm": "LSTM"}


def _output() -> Words:
    return Words(
        _("A network predicts the next character. How many numbers must it put out at every time step?"),
        {
            "one": _("one: the character's number"),
            "units": _("as many as there are hidden units"),
            "symbols": _("as many as there are different characters"),
            "pairs": _("one for every pair of characters"),
        },
        _("model"),
        {
            "symbols": _("different symbols |V|"),
            "units": _("hidden units"),
            "outputs": _("numbers in the output"),
            "sum": _("sum of softmax(output)"),
        },
    )


def _all_before() -> Words:
    return Words(
        _("How can one step's output depend on every character before it, when it sees only the last one?"),
        {
            "table": _("the network looks all of them up in a table"),
            "carried": _("the state before already depends on them all"),
            "lost": _("it can't: only the last few characters count"),
        },
        _("letter to change, from the end"),
        {
            "text": _("the text, with one letter changed"),
            "mlp": _("MLP: change of the prediction"),
            "6gram": _("6-gram: change of the prediction"),
            "lstm": _("LSTM: change of the prediction"),
        },
        frozenset({"mlp", "6gram", "lstm"}),
    )


def _long_way() -> Words:
    return Words(
        _("A gradient goes back through a long sequence. What happens to it?"),
        {
            "same": _("it keeps its size"),
            "vanishes": _("it always vanishes"),
            "both": _("it vanishes or explodes, as the recurrent weights decide"),
        },
        _("largest eigenvalue modulus"),
        {
            "radius": _("largest eigenvalue modulus"),
            "lag.10": _("gradient 10 steps back"),
            "lag.20": _("gradient 20 steps back"),
            "lag.40": _("gradient 40 steps back"),
        },
    )


def _greedy() -> Words:
    return Words(
        _("What goes wrong with such a model? Let it write, always the most probable character:"),
        {
            "story": _("nothing: it tells a story"),
            "loop": _("it soon goes round in circles"),
            "noise": _("it falls apart into noise"),
        },
        _("model"),
        {"written": _("it writes"), "period": _("characters until it repeats")},
    )


def _parameters() -> Words:
    return Words(
        _("The text gets longer: ten times as many time steps. The network then has"),
        {
            "more": _("ten times as many parameters"),
            "same": _("exactly as many parameters"),
            "fewer": _("fewer parameters"),
        },
        _("time steps"),
        {
            "steps": _("time steps"),
            "parameters": _("parameters of the RNN"),
            "table": _("entries of a table of all such texts"),
        },
    )


def _uniform() -> Words:
    return Words(
        _("A model knows nothing and gives all |V| characters the same probability. Its perplexity is"),
        {"one": "1", "log": "log |V|", "symbols": "|V|", "square": "|V|²"},
        "|V|",
        {"symbols": "|V|", "perplexity": _("perplexity"), "bits": _("bits per character")},
    )


def _one_zero() -> Words:
    return Words(
        _("999 characters are predicted with certainty, and the one that comes last was held impossible:"),
        {
            "small": _("the perplexity is a little above 1"),
            "two": _("the perplexity is about 2"),
            "infinite": _("the perplexity is infinite"),
        },
        _("probability of the last one"),
        {"p": _("probability of the last one"), "perplexity": _("perplexity"), "characters": _("characters")},
    )


def _twice() -> Words:
    return Words(
        _("The same kind of text, twice as long. Which number changes a lot?"),
        {
            "both": _("likelihood and perplexity"),
            "likelihood": _("only the likelihood"),
            "perplexity": _("only the perplexity"),
        },
        _("characters"),
        {"characters": _("characters"), "log10": _("log10 likelihood"), "perplexity": _("perplexity")},
    )


def _concatenated() -> Words:
    return Words(
        _("Input and state side by side, times both weight matrices one above the other. That gives"),
        {
            "sum": _("the sum of the two separate products"),
            "other": _("something else"),
        },
        _("hidden units"),
        {
            "left": "[X, H]",
            "right": "[W_xh; W_hh]",
            "difference": _("largest difference of the results"),
        },
    )


def _forgets() -> Words:
    return Words(
        _("Two texts end in the same character. Who expects the same next character after both?"),
        {
            "differ": _("neither MLP nor RNN"),
            "same": _("MLP and RNN"),
            "same.rnn": _("the MLP, but not the RNN"),
        },
        _("texts"),
        {
            "one": _("first text"),
            "other": _("second text"),
            **{
                cell: _("{cell}: difference of the predictions").format(cell=name)
                for cell, name in _CELLS.items()
            },
        },
        frozenset({"mlp", "rnn", "lstm"}),
    )


def _hundredth() -> Words:
    return Words(
        _("Every step back multiplies the gradient by 0.9. After how many is it below a hundredth?"),
        {"10": _("about 10"), "44": _("about 44"), "200": _("about 200")},
        _("factor of a step"),
        {
            "radius": _("factor of a step"),
            "steps": _("steps until it is below 0.01"),
            "power": _("what is left then"),
        },
    )


def _clipped() -> Words:
    return Words(
        _("The gradient is (3, 4) and it is clipped to norm 1. What is left?"),
        {"each": "(1, 1)", "direction": "(0.6, 0.8)", "zero": "(0, 0)"},
        _("threshold"),
        {"threshold": _("threshold"), "clipped": _("clipped gradient"), "norm": _("its norm")},
    )


def _mean() -> Words:
    return Words(
        _("Truncation at random places, with weights that make up for it. On average the estimate is"),
        {
            "smaller": _("smaller than the full gradient"),
            "equal": _("equal to the full gradient"),
            "larger": _("larger than the full gradient"),
        },
        _("probability of going on"),
        {
            "full": _("full gradient"),
            "mean": _("mean of 10,000 draws"),
            "error": _("standard error"),
            "cut3": _("regular cut after 3 steps"),
        },
    )


def _print() -> Words:
    return Words(
        _("After 500 passes over 10,000 characters: which perplexity says what the model is worth?"),
        {
            "train": _("that of the text it was trained on"),
            "held_out": _("that of text it was not trained on"),
            "average": _("the mean of both"),
        },
        _("passes"),
        {
            "passes": _("passes"),
            "train": _("training perplexity"),
            "held_out": _("held-out perplexity"),
            "uniform": _("guessing blindly"),
        },
    )


_WORDS = {
    "output": _output,
    "all_before": _all_before,
    "long_way": _long_way,
    "greedy": _greedy,
    "parameters": _parameters,
    "uniform": _uniform,
    "one_zero": _one_zero,
    "twice": _twice,
    "concatenated": _concatenated,
    "forgets": _forgets,
    "hundredth": _hundredth,
    "clipped": _clipped,
    "mean": _mean,
    "print": _print,
}

_REASONS = {
    "output": lambda: _("Softmax needs one score for every symbol that may come, so O has |V| columns."),
    "all_before": lambda: _(
        "H is computed from H one step earlier, and so on back to the first character; a 6-gram sees five."
    ),
    "long_way": lambda: _(
        "k steps multiply it by the k-th power of the matrix: below 1 it fades, above 1 it bursts."
    ),
    "greedy": lambda: _(
        "The state is all its memory, and far effects were hardly trained: "
        "nothing tells it that it was here before."
    ),
    "parameters": lambda: _(
        "Every time step uses the same weights; only the table of all texts grows, as |V| to the n."
    ),
    "uniform": lambda: _(
        "exp(−log(1/|V|)) is |V|: perplexity counts how many equally likely choices are left."
    ),
    "one_zero": lambda: _("−log 0 is infinite, and no mean of it is finite: never hold anything impossible."),
    "twice": lambda: _("Likelihoods multiply with every character; perplexity is a mean per character."),
    "concatenated": lambda: _(
        "A row times a column adds up the input's part and the state's part: the same sum."
    ),
    "forgets": lambda: _("An MLP's only input is the last character. An RNN brings along what it has read."),
    "hundredth": lambda: _("0.9 to the 44th is 0.0097: what happened a sentence ago can hardly be learned."),
    "clipped": lambda: _("The whole arrow is shortened by one factor, 1/5 here, so it points where it did."),
    "mean": lambda: _("Going on has probability π and weight 1/π: each term counts once on average."),
    "print": lambda: _(
        "Training perplexity only says that the text is known by heart. Held-out text is the test."
    ),
}
