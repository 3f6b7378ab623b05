"""Scene 1: a table of n-grams grows beyond all bounds; a state does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rnnviz.lecture import counts
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.learn import given

if TYPE_CHECKING:
    from rnnviz.ui.pages.learn.context import Context
    from rnnviz.ui.pages.learn.scenes import Ask, State

STEPS = 4
N, LONGEST = 3, 10
TEXT = "the Time Traveller and the Psychologist spoke"
LIMIT = 46
COUNTED = "timemachine-6gram"
NETWORKS = {"mlp": "timemachine-mlp", "rnn": "timemachine-rnn", "gru": "timemachine-gru"}


def notice(state: State) -> str:
    """What to notice."""
    return [
        _("Each character more of context makes the table {symbols} times as large. Move n."),
        _("The network has as many parameters however far back it looks; a book fills little of a table."),
        _("Deep cells surprised the model. The one that sees a single character is surprised all the time."),
        _("Inside a long word the state knows what is coming; the table needs a large n to know it too."),
    ][state["step"]].format(symbols=69)


def formula(state: State) -> str:
    """What a table conditions on, and what a state does."""
    table = r"P(x_t \mid x_{t-1}, \ldots, x_{t-n+1})"
    if state["step"] == 0:
        return table
    return table + r"\quad\text{vs.}\quad P(x_t \mid \mathbf{h}_{t-1})"


def initial(query: Mapping[str, str]) -> State:
    """n and the text of the address."""
    return {
        "n": given.whole(query.get("n"), 1, LONGEST) or N,
        "text": given.text(query.get("text"), LIMIT) or TEXT,
    }


def query(state: State) -> dict[str, str]:
    """n and the text, where they are not the usual ones."""
    found = {"n": str(state["n"])} if state["n"] != N else {}
    return found | ({"text": state["text"]} if state["text"] != TEXT else {})


def answer(state: State, ask: Ask, context: Context) -> tuple[State, dict[str, Any]]:
    """Sizes of tables, and what each model made of the text."""
    state = {
        **state,
        "n": given.whole(ask.get("n"), 1, LONGEST) or state["n"],
        "text": given.text(ask.get("text"), LIMIT) or state["text"],
    }
    ngram, rnn = context.ngram(COUNTED), context.network(NETWORKS["rnn"])
    symbols, n = ngram.vocabulary.size, state["n"]
    looks = min(n, ngram.order)
    readings = {"mlp": counts.read(context.network(NETWORKS["mlp"]), state["text"])}
    readings["ngram"] = counts.read(counts.shortened(ngram, looks), state["text"])
    for kind in ("rnn", "gru"):
        readings[kind] = counts.read(context.network(NETWORKS[kind]), state["text"])
    names = {
        "mlp": "MLP",
        "ngram": _("{n}-gram").format(n=looks),
        "rnn": "RNN",
        "gru": "GRU",
    }
    data = {
        "n": n,
        "longest": LONGEST,
        "symbols": symbols,
        # A browser's numbers are exact to 2^53 only: the exact ones travel as digits.
        "table": f"{counts.table_size(symbols, n):,}",
        "sizes": [[k, float(counts.table_size(symbols, k))] for k in range(1, LONGEST + 1)],
        "seen": [[k, count] for k, count in enumerate([symbols, *ngram.seen], start=1)],
        "seenNow": f"{[symbols, *ngram.seen][n - 1]:,}" if n <= ngram.order else None,
        "parameters": rnn.parameter_count,
        "text": state["text"],
        "limit": LIMIT,
        "rows": [
            {
                "kind": kind,
                "name": names[kind],
                "bits": np.round(reading.bits, 3).tolist(),
                "chances": reading.probabilities.tolist(),
                "mean": reading.mean,
            }
            for kind, reading in readings.items()
        ],
        "full": 8.0,
        "words": {
            "n": "n",
            "table": _("entries in a table of {n}-grams"),
            "seen": _("{count} of them occur in the book"),
            "seen.unknown": _("next to none of them occur in the book"),
            "parameters": _("parameters of the RNN, whatever n is"),
            "axis": _("n: characters taken together"),
            "sizes": _("numbers to keep"),
            "line.table": _("table: {symbols}ⁿ"),
            "line.seen": _("in the book"),
            "text": _("Text"),
            "bits": _("bits per character"),
        },
    }
    return state, data
