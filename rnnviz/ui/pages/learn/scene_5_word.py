"""Scene 5: a character model of one word, trained while the class looks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rnnviz.lecture import word
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.learn import given

if TYPE_CHECKING:
    from rnnviz.ui.pages.learn.context import Context
    from rnnviz.ui.pages.learn.scenes import Ask, State

STEPS = 4
HIGHEST = 999


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


def initial(query: Mapping[str, str]) -> State:
    """Word, seed and training steps from the address."""
    return {
        "word": _word(query.get("word")) or word.WORD,
        "seed": given.whole(query.get("seed"), 0, HIGHEST) or 0,
        "at": given.whole(query.get("trained"), 0, word.STEPS) or 0,
    }


def query(state: State) -> dict[str, str]:
    """What differs from the usual."""
    found = {"word": state["word"]} if state["word"] != word.WORD else {}
    if state["seed"]:
        found["seed"] = str(state["seed"])
    if state["at"]:
        found["trained"] = str(state["at"])
    return found


def answer(state: State, ask: Ask, context: Context) -> tuple[State, dict[str, Any]]:
    """The network after `at` training steps, or as near as one answer gets."""
    chosen = _word(ask.get("word"))
    if chosen and chosen != state["word"]:
        state = {**state, "word": chosen, "at": 0}
    seed = given.whole(ask.get("seed"), 0, HIGHEST)
    if seed is not None and seed != state["seed"]:
        state = {**state, "seed": seed, "at": 0}
    at = given.whole(ask.get("at"), 0, word.STEPS)
    state = {**state, "at": state["at"] if at is None else at}
    run = word.run(state["word"], state["seed"])
    seen = run.at(state["at"])
    so_far = [run.at(n).perplexity for n in range(run.trained + 1)]
    return state, {
        "word": state["word"],
        "seed": state["seed"],
        "at": state["at"],
        "steps": run.steps,
        "inputs": ["" if n == 0 else c for n, c in enumerate(run.inputs)],
        "labels": list(run.labels),
        "targets": list(run.targets),
        "symbols": ["unk" if n == 0 else c for n, c in enumerate(run.symbols)],
        "p": [[round(v, 4) for v in row] for row in seen.probabilities.tolist()],
        "losses": [round(v, 4) for v in seen.losses.tolist()],
        "hidden": [[round(v, 3) for v in row] for row in seen.hidden.tolist()],
        "perplexity": seen.perplexity,
        "curve": [round(v, 4) for v in so_far],
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
            "blind": _("blind guess"),
            "writes": _("it writes"),
        },
    }


def _word(value: object) -> str | None:
    found = given.text(value, word.LONGEST)
    return found if found and len(found) > 1 else None
