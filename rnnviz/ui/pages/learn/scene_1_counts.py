"""Scene 1: a table of n-grams grows beyond all bounds; a state need not, but may forget."""

from typing import Any

import numpy as np

from rnnviz.i18n import _
from rnnviz.lecture import counts
from rnnviz.lecture.controls import Control, State, text, whole
from rnnviz.lecture.symbols import here
from rnnviz.networks.numpy_model import Model
from rnnviz.ui.pages.learn import examples, scene_1_rules
from rnnviz.ui.pages.learn.scene_1_rules import SHORT

NAMES = ("grows", "book", "surprise", "state", "any", "memory")
STEPS = len(NAMES)
GROWS, BOOK, SURPRISE, KEPT, ANY, MEMORY = range(STEPS)
LONGEST, LIMIT = counts.LONGEST, 46  # of n, and of the text
ORDER = len(counts.COSTS)  # of the longest n-grams that a model counts
BOOKS = {"en": counts.TIME_MACHINE, "zh": counts.JOURNEY}
TEXTS = {
    "en": "the Time Traveller switched his computer off",
    "zh": "行者取出手机道：“师父莫怕！我打个电话。”",
}
CONTROLS = (
    Control("n", whole(1, LONGEST), 5),
    Control("text", text(LIMIT), spoken=lambda: examples.spoken(TEXTS)),
    Control("first", text(SHORT), "the dark machine stood", address="a"),
    Control("second", text(SHORT), "the grey machine stood", address="b"),
    Control("t", whole(1, SHORT), 10, steps=(KEPT, ANY)),
)


def notice(state: State) -> str:
    """What to notice."""
    n, step = _n(state), state["step"]
    if step == GROWS:
        return _(
            "There are {symbols} different symbols: each extra character of context "
            "makes the table {symbols} times larger. Move n."
        ).format(symbols=f"{_counted().vocabulary.size:,}")
    if step == BOOK:
        return _book(n)
    if step == SURPRISE:
        deep = _("The deeper a cell, the more bits, −log₂ P, its character costs.")
        return deep if n == 1 else _("{first} {second}").format(first=deep, second=_framed(n))
    if step == KEPT:
        return _(
            "One h stands for all characters before: the hidden state, or hidden variable. "
            "Any f may make the next: move t."
        )
    if step == ANY:
        return scene_1_rules.apart_said(state)
    costs = {kind: f"{cost:.2f}" for kind, cost in _held_out(ORDER).items() if cost}
    if "rnn" not in costs:
        return _(
            "A GRU, an RNN with gates, carries a state. Bits per character on the book's last tenth: "
            "6-gram {ngram}, GRU {gru}."
        ).format(**costs)
    return _(
        "RNN and GRU, an RNN with gates, carry a state. Bits per character on the book's last tenth: "
        "6-gram {ngram}, RNN {rnn}, GRU {gru}."
    ).format(**costs)


def _read() -> counts.Book:
    """The book of the session's language."""
    return examples.spoken(BOOKS)


def _n(state: State) -> int:
    """n, as far as the book was counted."""
    return min(int(state["n"]), len(_read().seen))


def _book(n: int) -> str:
    """How often a table has nothing to say."""
    share = _read().never[n - 1] / _read().held_out
    if n == 1:
        return _("At n = 1 a table looks at no context at all. Move n up.")
    if not share:
        return _("At n = {n} every context in the book's last tenth came before. Move n up.").format(n=n)
    return _(
        "The book fills few of the entries. In its last tenth {share} of the contexts of {before} characters "
        "are new: no counts."
    ).format(share=scene_1_rules.percent(share), before=n - 1)


def _framed(n: int) -> str:
    """What a frame means; from n = 2 on, and what a model makes of it, as far as it counts."""
    if n == 2:
        return _("Framed: the table never counted the character before it, so it looks at none.")
    if n > ORDER:
        return _("Framed: the book's first 90 % lack the {n} characters before it.").format(n=n - 1)
    return _("Framed: the table never counted the {n} characters before it, so it looks at fewer.").format(
        n=n - 1
    )


def formula(state: State) -> str:
    """What a table conditions on, and what a state does."""
    table = r"\s{P}(\s{x_t} \mid \s{x_t-1}, \ldots, \s{x_t-n+1})"
    kept = r"\s{P}(\s{x_t} \mid \s{h_t-1})"
    rule = r"\s{h_t.state} = \s{f}(\s{x_t}, \s{h_t-1})"
    if state["step"] in (KEPT, MEMORY):
        return rf"\s{{P}}(\s{{x_t}} \mid \s{{x_t-1}}, \ldots, \s{{x_1}}) \approx {kept},\qquad {rule}"
    return rule if state["step"] == ANY else table


def picture(state: State) -> dict[str, Any]:
    """What the step shows: the sizes of tables, each model's bits on a text, or what rules keep of it."""
    step = state["step"]
    shown = {"n": _n(state), "limit": LIMIT, "words": _words()}
    if step in (KEPT, ANY):
        return shown | (scene_1_rules.kept(state) if step == KEPT else scene_1_rules.compared(state))
    return shown | _sizes(_n(state)) | (_rows(state) if step in (SURPRISE, MEMORY) else {})


def _counted() -> Any:
    return examples.reader("6gram")


def _sizes(n: int) -> dict[str, Any]:
    symbols, read, network = _counted().vocabulary.size, _read(), examples.nearest("rnn")
    return {
        "longest": len(read.seen),
        "size": symbols,
        # JavaScript's numbers are exact to 2^53 only.
        "table": f"{counts.table_size(symbols, n):,}",
        "sizes": [[k, float(counts.table_size(symbols, k))] for k in range(1, len(read.seen) + 1)],
        "seen": [[k, count] for k, count in enumerate(read.seen, start=1)],
        "never": [count / read.held_out for count in read.never],
        "network": network.upper(),
        "parameters": examples.reader(network).parameter_count,
        "here": here({"V": symbols}),
    }


def _rows(state: State) -> dict[str, Any]:
    """Each model's bits on the text, and where the book has the context."""
    n, line, kinds = _n(state), state["text"], examples.kinds()
    # Where no MLP ships, counts of two characters look back as far.
    alone = examples.reader("mlp") if "mlp" in kinds else counts.shortened(_counted(), 2)
    shown: dict[str, Model | None] = {
        "mlp": alone,
        "ngram": counts.shortened(_counted(), n) if n <= ORDER else None,
    }
    names = {"mlp": "MLP", "ngram": _("{n}-gram").format(n=n), "rnn": "RNN", "gru": "GRU"}
    if "mlp" not in kinds:
        names["mlp"] = _("{n}-gram").format(n=2)
    if state["step"] == MEMORY:
        shown |= {kind: examples.reader(kind) for kind in ("rnn", "gru") if kind in kinds}
    held_out = _held_out(n)
    rows = []
    for kind, model in shown.items():
        row = {"kind": kind, "name": names[kind], "held": held_out[kind], "bits": None}
        if model is not None:
            costs = counts.bits(model, line)
            row |= {"bits": np.round(costs, 3).tolist(), "mean": float(costs.mean())}
            row["chances"] = np.exp2(-costs).tolist()
        rows.append(row)
    return {
        "text": line,
        "rows": rows,
        "known": _known(line, n),
        "full": 8.0,
        "order": ORDER,
    }


def _known(line: str, n: int) -> list[bool]:
    """Whether the book has the n - 1 characters before each one."""
    if _read() is counts.TIME_MACHINE:
        return counts.known(line, n, counts.book()[0])
    return counts.met(_counted(), line, n)


def _held_out(n: int) -> dict[str, float | None]:
    """Bits per character on the book's last tenth; None for an n that isn't counted."""
    costs = _read().costs
    found = {"mlp": costs[1], "ngram": costs[n - 1] if n <= len(costs) else None}
    networks = [kind for kind in ("mlp", "rnn", "gru") if kind in examples.kinds()]
    return found | {
        kind: float(examples.reader(kind).card["held_out"]["bits_per_character"]) for kind in networks
    }


def _words() -> dict[str, str]:
    return {
        "n": "n",
        "table": _("entries in a table of {n}-grams"),
        "seen": _("{count} of them occur in the book’s first 90 %"),
        "axis": _("n: characters taken together"),
        "sizes": _("numbers to store"),
        "line.table": _("table: {symbols}ⁿ"),
        "line.seen": _("in the book"),
        "never": _("contexts in its last tenth that are new"),
        "uncounted": _("The model counts up to n = {n}: move n back to read with it."),
        "framed": _("{count} of {all} contexts are not in the book’s first 90 %"),
        "alone": _("MLP: a network without a state; it sees the last character only")
        if "mlp" in examples.kinds()
        else "",
        "began": _("after a start symbol"),
        "text": _("Text"),
        "each": _("character of the text"),
        "bits": _("bits here"),
        "held": _("last tenth"),
        "first": _("Text"),
        "second": _("Another"),
        "append": _("store everything"),
        "last": _("the last character"),
        "rnn": "RNN",
        "times": _("{count} times in the book"),
        "none": _("never in the book: no counts"),
        "apart": _("differ"),
        "numbers": _("{n} numbers"),
        "store": _("to store h"),
        "predict": _("to predict"),
        "work": _("per step"),
        "unit.bits": _("bits"),
        "unit.entries": _("entries"),
        "unit.parameters": _("parameters"),
        "unit.one": _("character"),
        "unit.read": _("characters"),
        "unit.products": _("multiplications"),
    }
