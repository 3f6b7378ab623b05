"""Scene 1's rules for a state: three f's on a text, what each tells apart of two, and its costs."""

from typing import Any

import numpy as np

from rnnviz.i18n import _
from rnnviz.lecture import counts, states
from rnnviz.lecture.controls import State
from rnnviz.lecture.prediction import expected
from rnnviz.lecture.recurrence import Recurrence
from rnnviz.text.characters import visible
from rnnviz.ui.pages.learn import models

SHORT = 22  # characters of a text
LISTED = 3


def apart_said(state: State) -> str:
    """What each rule can still tell apart."""
    t = _at(state, "first", "second")
    if state["first"][:t] == state["second"][:t]:
        return _("So far both texts are the same. Move t on.")
    last, rnn = (_apart(kind, state)[t - 1] for kind in ("last", "rnn"))
    return _(
        "Storing everything tells all texts apart, but its table has |V|ᵗ rows. "
        "Share of probability that moves: {last} with the last character, {rnn} in the RNN."
    ).format(last=percent(last), rnn=percent(rnn))


def percent(share: float) -> str:
    """A share as it is read."""
    return f"{100 * share:.1f} %"


def kept(state: State) -> dict[str, Any]:
    """The state before and after step t, by three rules, and what each predicts."""
    t, line, model = _at(state, "first"), state["first"], _network()
    # From the state that the start symbol leaves on.
    read, states_so_far = counts.book()[0], Recurrence(model, line).states
    chances = expected(model, line[:t])[0]
    best = np.argsort(-chances, kind="stable")[:LISTED]
    return {
        "first": line,
        "t": t,
        "steps": len(line),
        "short": SHORT,
        "character": visible(line[t - 1]),
        "rows": [
            {"kind": "append", "before": _marks(line[: t - 1]), "after": _marks(line[:t])}
            | _table(line[:t], read),
            {"kind": "last", "before": _marks(line[max(0, t - 2) : t - 1]), "after": _marks(line[t - 1 : t])}
            | _table(line[t - 1], read),
            {
                "kind": "rnn",
                "before": np.round(states_so_far[t - 1], 3).tolist(),
                "after": np.round(states_so_far[t], 3).tolist(),
                "times": None,
                "next": [[visible(model.vocabulary.symbol(int(i))), float(chances[i])] for i in best],
            },
        ],
    }


def compared(state: State) -> dict[str, Any]:
    """How far apart two texts are, by three rules, and what each costs."""
    t, model = _at(state, "first", "second"), _network()
    costs = {kind: states.costs(kind, t, model) for kind in states.KINDS}
    return {
        "first": state["first"],
        "second": state["second"],
        "t": t,
        "steps": min(len(state["first"]), len(state["second"])),
        "short": SHORT,
        "size": model.vocabulary.size,
        "rows": [
            {
                "kind": kind,
                "apart": np.round(_apart(kind, state), 4).tolist(),
                "bits": costs[kind].bits,
                # Of all texts so far too large to read: the browser writes |V|^(t + 1).
                "stored": None if kind == "append" else f"{costs[kind].stored:,}",
                "work": costs[kind].work,
            }
            for kind in states.KINDS
        ],
    }


def _network() -> Any:
    return models.network("timemachine-rnn")


def _at(state: State, *names: str) -> int:
    """The step of the texts that is shown: as far as all of them go."""
    return min(int(state["t"]), *(len(state[name]) for name in names))


def _apart(kind: str, state: State) -> Any:
    return states.apart(kind, state["first"], state["second"], counts.book()[0], _network())


def _marks(text: str) -> str:
    return "".join(visible(character) for character in text)


def _table(context: str, read: str) -> dict[str, Any]:
    """What a table of counts predicts after a context."""
    found = states.followers(context, read)
    times = found.total()
    return {
        "times": times,
        "next": [[visible(character), count / times] for character, count in found.most_common(LISTED)],
    }
