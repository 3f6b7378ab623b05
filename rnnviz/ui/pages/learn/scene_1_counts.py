"""Scene 1: a table of n-grams grows beyond all bounds; a state does not."""

from __future__ import annotations

from typing import Any

import numpy as np

from rnnviz.lecture import counts
from rnnviz.networks.numpy_model import Model
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.learn import models
from rnnviz.ui.pages.learn.controls import Control, State, text, whole

NAMES = ("grows", "book", "surprise", "memory")
STEPS = len(NAMES)
LONGEST, LIMIT = 10, 46  # of n, and of the text
CONTROLS = (
    Control("n", whole(1, LONGEST), 3),
    Control("text", text(LIMIT), "the Time Traveller and the Psychologist spoke"),
)


def notice(state: State) -> str:
    """What to notice."""
    ngram, rnn = models.ngram("timemachine-6gram"), models.network("timemachine-rnn")
    return [
        _("Each extra character of context makes the table {symbols} times larger. Move n."),
        _(
            "The book has {seen} different 6-grams, fewer than the network's {parameters} parameters. "
            "But for a context that the book never had, a table has no counts."
        ),
        _(
            "The deeper a cell, the more that character surprised the model. "
            "The MLP sees one character, an n-gram model n − 1."
        ),
        _(
            "RNN and GRU, an RNN with gates, carry a state. "
            "Where the book has the context, a table with a large n reads nearly as well."
        ),
    ][state["step"]].format(
        symbols=ngram.vocabulary.size, seen=f"{ngram.seen[-1]:,}", parameters=f"{rnn.parameter_count:,}"
    )


def formula(state: State) -> str:
    """What a table conditions on, and what a state does."""
    table = r"\s{P}(\s{x_t} \mid \s{x_t-1}, \ldots, \s{x_t-n+1})"
    if state["step"] == 0:
        return table
    return table + r",\qquad \s{P}(\s{x_t} \mid \s{h_t-1})"


def picture(state: State) -> dict[str, Any]:
    """Sizes of tables, and each model's bits on the text."""
    ngram, rnn = models.ngram("timemachine-6gram"), models.network("timemachine-rnn")
    symbols, n = ngram.vocabulary.size, state["n"]
    looks = min(n, ngram.order)
    shown: dict[str, Model] = {
        "mlp": models.network("timemachine-mlp"),
        "ngram": counts.shortened(ngram, looks),
        "rnn": rnn,
        "gru": models.network("timemachine-gru"),
    }
    bits = {kind: counts.bits(model, state["text"]) for kind, model in shown.items()}
    names = {"mlp": "MLP", "ngram": _("{n}-gram").format(n=looks), "rnn": "RNN", "gru": "GRU"}
    return {
        "n": n,
        "order": ngram.order,
        "longest": LONGEST,
        "symbols": symbols,
        # JavaScript's numbers are exact to 2^53 only.
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
                "bits": np.round(costs, 3).tolist(),
                "chances": np.exp2(-costs).tolist(),
                "mean": float(costs.mean()),
            }
            for kind, costs in bits.items()
        ],
        "full": 8.0,
        "words": {
            "n": "n",
            "table": _("entries in a table of {n}-grams"),
            "seen": _("{count} of them occur in the book"),
            "seen.unknown": _("counted up to n = {n} only"),
            "rows": _("counted up to n = {n} only: below is the {n}-gram"),
            "parameters": _("parameters of the RNN, whatever n is"),
            "axis": _("n: characters taken together"),
            "sizes": _("numbers to store"),
            "line.table": _("table: {symbols}ⁿ"),
            "line.seen": _("in the book"),
            "text": _("Text"),
            "bits": _("bits per character"),
        },
    }
