"""Scene 5: a character model of one word, trained while the class looks."""

from __future__ import annotations

from typing import Any

import numpy as np

from rnnviz.lecture import word
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.learn.controls import Control, State, text, whole

STEPS = 4
CONTROLS = (
    Control("word", text(word.LONGEST, least=2), word.WORD, resets=("at",)),
    Control("seed", whole(0, 999), 0, resets=("at",)),
    Control("at", whole(0, word.STEPS), 0, address="trained"),
)


def notice(state: State) -> str:
    """What to notice."""
    return [
        _("The label of every time step is the next input: the same word, shifted by one."),
        _(
            "Every column is one softmax, and the loss is −log of its framed cell. "
            "Untrained, all cells are pale."
        ),
        _("The loss falls at every time step at once, and the perplexity falls from about |V| to 1."),
        _("Fed with its own output, it writes the word: knowing by heart is all that it was asked for."),
    ][state["step"]]


def formula(state: State) -> str:
    """The step's part of the model."""
    return [
        r"\mathbf{H}_t = \phi(\mathbf{X}_t\mathbf{W}_{xh} + \mathbf{H}_{t-1}\mathbf{W}_{hh} + \mathbf{b}_h)",
        (
            r"\mathbf{O}_t = \mathbf{H}_t\mathbf{W}_{hq} + \mathbf{b}_q,"
            r"\quad \ell_t = -\log\,\mathrm{softmax}(\mathbf{O}_t)_{x_{t+1}}"
        ),
        r"L = \tfrac{1}{T}\textstyle\sum_{t=1}^{T} \ell_t,\qquad \mathrm{perplexity} = e^{L}",
        r"x_{t+1} = \mathrm{argmax}\ P(x \mid x_1, \ldots, x_t)",
    ][state["step"]]


def picture(state: State) -> dict[str, Any]:
    """The network after `at` training steps."""
    run = word.run(state["word"], state["seed"])
    seen = run.at(state["at"])
    so_far = [run.at(n).perplexity for n in range(run.trained + 1)]
    return {
        "word": state["word"],
        "seed": state["seed"],
        "at": state["at"],
        "steps": run.steps,
        "inputs": ["" if n == 0 else c for n, c in enumerate(run.inputs)],
        "labels": list(run.labels),
        "targets": list(run.targets),
        "symbols": ["unk" if n == 0 else c for n, c in enumerate(run.symbols)],
        "p": np.round(seen.probabilities, 4).tolist(),
        "losses": np.round(seen.losses, 4).tolist(),
        "hidden": np.round(seen.hidden, 3).tolist(),
        "perplexity": seen.perplexity,
        "curve": np.round(so_far, 4).tolist(),
        "written": seen.written,
        "words": {
            "word": _("word"),
            "length": _("2 to {n} characters"),
            "start": _("start"),
            "input": _("input"),
            "label": _("label"),
            "loss": _("loss"),
            "softmax": "softmax",
            "state": _("state"),
            "train": _("Train"),
            "stop": _("Stop"),
            "again": _("From the start"),
            "seed": _("Other weights"),
            "step": _("training step {n} of {count}"),
            "perplexity": _("perplexity"),
            "blind": _("uniform guess"),
            "writes": _("it writes"),
        },
    }
