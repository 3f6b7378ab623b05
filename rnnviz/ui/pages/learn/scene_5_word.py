"""Scene 5: a character model of one word, trained while the class looks."""

from __future__ import annotations

from typing import Any

import numpy as np

from rnnviz.lecture import word
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.learn.controls import Control, State, text, whole

NAMES = ("labels", "softmax", "train", "writes")
STEPS = len(NAMES)
CONTROLS = (
    Control("word", text(word.LONGEST, least=2), word.WORD, resets=("at",)),
    Control("seed", whole(0, 999), 0, resets=("at",)),
    Control("at", whole(0, word.STEPS), 0, address="trained"),
)


def notice(state: State) -> str:
    """What to notice."""
    if state["step"] == 3:
        return _writes(word.run(state["word"], state["seed"]).at(state["at"]).written, state["word"])
    return [
        _("Time begins with the start symbol at t = 0. The label of every step is the next input."),
        _("Every column is one softmax, and the loss is −log of its framed cell, in nats."),
        _("Train: the mean loss falls, and the perplexity falls from about |V| to nearly 1."),
    ][state["step"]]


def _writes(written: str, asked: str) -> str:
    if written == asked:
        return _(
            "Fed with its own output, it writes the word: it has memorised one word; we asked for no more."
        )
    return _("Fed with its own output, it writes “{written}”. Train it until it writes “{word}”.").format(
        written=written, word=asked
    )


def formula(state: State) -> str:
    """The step's part of the model."""
    return [
        r"\s{H_t} = \s{phi}(\s{X_t}\s{W_xh} + \s{H_t-1}\s{W_hh} + \s{b_h})",
        (
            r"\s{O_t} = \s{H_t}\s{W_hq} + \s{b_q},"
            r"\quad \s{l_t+1} = -\log\,\s{softmax}(\s{O_t})_{\s{x_t+1}}"
        ),
        (
            r"\s{L} = \tfrac{1}{\s{T}}\textstyle\sum_{\s{t}=1}^{\s{T}} \s{l_t},"
            r"\qquad \s{perplexity} = \exp(\s{L})"
        ),
        r"\s{x_t+1} = \s{argmax}_{\s{x}}\ \s{P}(\s{x} \mid \s{x_t}, \ldots, \s{x_1})",
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
            "loss": _("loss, nats"),
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
