"""Scene 7, the long gap: what gates are good for, replayed from `rnnviz.lecture.long_gap`."""

import math
import random
import statistics
from typing import Any

from rnnviz.i18n import _
from rnnviz.lecture import long_gap
from rnnviz.lecture.controls import State
from rnnviz.lecture.many_networks import CUE, FILLERS, LETTERS
from rnnviz.ui.pages.learn.question_words import said

GATES = ("open", "usual")
CLIPPING = ("on", "off")
LAST = long_gap.STEPS // long_gap.EVERY
"""The number of the last report."""

CELLS = ("rnn", "gru", "lstm", "orthogonal", "mlp")


def formula(state: State) -> str:
    """What a gated cell carries on."""
    return (
        r"\s{H_t} = \s{Z_t} \odot \s{H_t-1} + (1 - \s{Z_t}) \odot \s{H_t.new},\quad "
        r"\s{C_t} = \s{F_t} \odot \s{C_t-1} + \s{I_t} \odot \s{C_t.new}"
    )


def notice(state: State) -> str:
    """How many are right, and what arrives of the gradient, as recorded."""
    found = {cell: _runs(state, cell, state["gap"]) for cell in ("rnn", "gru", "lstm")}
    numbers = {cell: _range(run, state["updates"]) for cell, run in found.items()}
    arrived = {f"{cell}_gradient": _arrived(run) for cell, run in found.items()}
    return _(
        "k = {k}: RNN {rnn} right, GRU {gru}, LSTM {lstm}. "
        "Before training, this much of the gradient arrives: {rnn_gradient}, {gru_gradient}, {lstm_gradient}."
    ).format(k=state["gap"], **numbers, **arrived)


def _runs(state: State, cell: str, gap: int) -> long_gap.Runs:
    gated = cell in ("gru", "lstm") and state["gates"] == "open"
    return long_gap.recorded().at(f"{cell}.open" if gated else cell, gap, clipped=_clipped(state))


def _clipped(state: State) -> bool:
    """Without clipping there are runs at one gap only."""
    return bool(state["clipping"] == "on" or state["gap"] != long_gap.UNCLIPPED)


def _at(run: long_gap.Runs, report: int) -> list[float]:
    return [100 * accuracy[report] for accuracy in run.accuracy]


def _range(run: long_gap.Runs, report: int) -> str:
    """The lowest and the highest of the seeds, in percent."""
    low, high = (f"{math.floor(end + 0.5)}" for end in _ends(_at(run, report)))
    return f"{low} %" if low == high else f"{low}–{high} %"


def _arrived(run: long_gap.Runs) -> str:
    """The seeds' geometric mean, one digit."""
    values = [before for before, _after in run.gradient]
    return said(float(f"{statistics.geometric_mean(values):.1g}")).replace(".0 ×", " ×")


def picture(state: State) -> dict[str, Any]:
    """Every seed's way at this gap, and where all cells stand at every gap."""
    gaps = [k for k in long_gap.GAPS if _clipped(state) or k == long_gap.UNCLIPPED]
    mlp = {k: long_gap.recorded().at("mlp", k) for k in long_gap.GAPS}

    def runs(cell: str, gap: int) -> long_gap.Runs:
        return mlp[gap] if cell == "mlp" else _runs(state, cell, gap)

    return {
        "gap": state["gap"],
        "gaps": long_gap.GAPS,
        "gates": state["gates"],
        "clipping": state["clipping"] if state["gap"] == long_gap.UNCLIPPED else None,
        "updates": state["updates"],
        "last": LAST,
        "every": long_gap.EVERY,
        "chance": 100 / len(LETTERS),
        "rows": [
            {
                "cell": cell,
                "curves": [[100 * a for a in seed] for seed in runs(cell, state["gap"]).accuracy],
                "ranges": {k: _ends(_at(runs(cell, k), state["updates"])) for k in gaps},
            }
            for cell in CELLS
        ],
        "sequence": _sequence(state["gap"]),
        "words": {
            "gates": _("gates begin"),
            "gates.open": _("open for k"),
            "gates.usual": _("at 0.73"),
            "clipping": _("clipping"),
            "clipping.on": _("on"),
            "clipping.off": _("off"),
            "updates": _("training steps"),
            "what": _(
                "A gate is a number from 0 to 1 for each unit. "
                "On the direct way back, a step multiplies by it alone: no recurrent weights, no tanh."
            ),
            "task": _("Read a letter, then {k} others. At the ? say the letter."),
            "right": _("right, % (thick: the mean)"),
            "grid": _("right in %, lowest and highest of {n} networks, by the gap k"),
            "chance": _("chance"),
            "orthogonal": "RNN ⊥",
            "mlp": _("no state"),
            "note": _(
                "Open for k: units begin by keeping what they read for 1 to k steps. "
                "RNN ⊥: its recurrent weights begin orthogonal. All have about {n} parameters."
            ),
            "gap": _("gap k"),
        }
        | {
            "grid.n": str(len(long_gap.SEEDS)),
            "note.n": f"{round(long_gap.recorded().parameters['rnn'], -2):,}",
        },
    }


def _ends(values: list[float]) -> list[float]:
    return [min(values), max(values)]


def _sequence(gap: int) -> str:
    """One of the task's sequences."""
    return f"d{''.join(random.Random(gap).choices(FILLERS, k=gap))}{CUE}"
