"""States, numbers and sentences of runs in the session's language, and the training view's words."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.i18n import _, ngettext
from rnnviz.lab.reports.training import Curves
from rnnviz.networks.cells import CELLS
from rnnviz.page.formatting import duration, network, presenting_words, rounded, together, view_words
from rnnviz.page.initial_data import short_names
from rnnviz.page.shown_units import target_name

VALIDATION, AT_THE_END = "validation", "end"
"""A run's measurement beside its training text: its validation text as it trains, or the held-out text at the
end.
"""


def words(
    measured: str = VALIDATION,
    *,
    steps: bool = False,
    uniform: bool = True,
    has_watch_text: bool = True,
    clips: bool = True,
) -> dict[str, str]:
    """Every word of the training view, by the names that its browser modules use; these fill in the braces.

    measured  VALIDATION or AT_THE_END
    steps     whether the run counts steps, not characters
    uniform   whether a uniform guess's perplexity is known
    has_watch_text   whether the run has a sentence to watch
    clips     whether the run clips its gradients
    """
    return {
        **view_words(),
        **presenting_words(),
        "heat": _("Sentence to watch"),
        "heat.label": _("Hidden state after each character of the sentence to watch."),
        "heat.range": _("At {when}, values lie between {low} and {high}, on average {mean} from 0."),
        "heat.surprise": _(
            "Purple behind a character: how much it surprised the network. It fades as the network learns."
        ),
        "heat.rows": _("Below, each row is one unit of the hidden state: {n} of {units}."),
        "heat.most": _(
            "Below, each row is one unit of the hidden state: the {n} of {units} that change most over this "
            "sentence."
        ),
        "heat.mlp": _(
            "Below, the same character always gives the same column: this network has no hidden state."
        ),
        "heat.none": _("The sentence to watch appears here when training begins.")
        if has_watch_text
        else _("This run has no sentence to watch."),
        "units.title": _("Units by their numbers"),
        "key.diverging": _("blue −1 · 0 · +1 orange"),
        "key.sequential": _("pale 0 · 4 dark"),
        "when": _("step {step} · perplexity {perplexity}"),
        "now": _("now"),
        "replay": _("Moment of training, from before the first step to the newest"),
        "play": _("Play"),
        "pause": _("Pause"),
        "curve": _("Perplexity after each step") if steps else _("Perplexity against characters read"),
        "curve.label": _("Perplexity during training."),
        "details": _("Details"),
        "details.label": _("Gradient norm and learning rate during training."),
        "curve.ends": _("{line}: perplexity {p}."),
        "curve.below": _("{line}: perplexity {p}, below the {ngram}'s {q}."),
        "curve.above": _("{line}: perplexity {p}, above the {ngram}'s {q}."),
        "curve.ngram": {
            VALIDATION: _(
                "Lower is better. Below the dotted line it predicts better than counting sequences does."
            ),
            AT_THE_END: _(
                "Lower is better. The dot is for text it never trained on, measured once, without dropout."
            ),
        }[measured],
        "curve.blind": _("Lower is better. Below the dashed line it predicts better than a uniform guess.")
        if uniform
        else _("Lower is better."),
        "line.validation": _("validation text"),
        "line.end": _("held-out text"),
        "line.train": _("training text"),
        "uniform": _("uniform guess"),
        "unigram": _("letter frequencies"),
        "ngram.n": _("{order}-gram"),
        "gradient": _("gradient norm; orange: clipped") if clips else _("gradient norm, not clipped"),
        "rate": _("learning rate"),
        "sample": _("Sample text"),
        "sample.none": _("None yet."),
        **_numbers(steps=steps),
    }


def row_name(target: str) -> str:
    """The short name of a row that follows a target."""
    return short_names().get(target, target_name(target))


def meaning_words(curves: Curves) -> dict[str, str]:
    """The words on the first named row of a finished network, not on surprise; {} without one."""
    if curves.born is None:
        return {}
    return {
        "heat.surprise": together(
            (
                _("The colour behind a character is the first row's: {name}.").format(
                    name=row_name(curves.row)
                ),
                _(
                    "This row emerged after {n} characters: from then on it does at least nine tenths as "
                    "well as at the end."
                ).format(n=rounded(curves.born)),
                _("Nobody told the network to learn this; the row was found when the run ended."),
            )
        ),
        "meaning": _("how well the first row follows it, from a guess to 1"),
    }


def _numbers(*, steps: bool) -> dict[str, str]:
    return {
        "number.validation": _("validation perplexity"),
        "number.validation.help": _(
            "On the 5 % of the text after the training text, measured from time to time"
        ),
        "number.held_out": _("held-out perplexity"),
        "number.held_out.help": _("On the last 10 % of the text, which it was never trained on"),
        "number.train": _("training perplexity"),
        "number.train.help": _("On the text it is reading, with dropout, over the last few seconds"),
        "number.watch_text": _("sentence to watch"),
        "number.watch_text.help": _("The newest perplexity of the sentence to watch"),
        "number.speed": _("steps a second") if steps else _("characters a second"),
        "number.speed.help": _("How fast it trains, over the last half second"),
        "number.clipped": _("steps clipped"),
        "number.clipped.help": _("Share of recent steps whose gradient was scaled down"),
        "number.rate": _("learning rate"),
        "number.rate.help": _("How far one step goes"),
    }


def state_word(name: str) -> str:
    """A run's state in a word."""
    return {
        "waiting": _("waiting"),
        "starting": _("starting"),
        "running": _("training"),
        "stopped": _("stopped"),
        "finished": _("finished"),
        "diverged": _("diverged"),
        "failed": _("failed"),
        "died": _("crashed"),
        "shipped": _("comes with the app"),
    }.get(name, name)


ICONS = {
    "waiting": ":material/hourglass_empty:",
    "starting": ":material/rocket_launch:",
    "running": ":material/directions_run:",
    "stopped": ":material/pause_circle:",
    "finished": ":material/check_circle:",
    "diverged": ":material/trending_up:",
    "failed": ":material/error:",
    "died": ":material/error:",
    "shipped": ":material/inventory_2:",
}


def kind(config: Mapping[str, Any]) -> str:
    """The kind and size of the network that a recipe trains, in a few words."""
    cell, units, layers = config.get("cell"), config.get("hidden_size", 0), config.get("layers", 1)
    name = CELLS[str(cell)].label if cell in CELLS else "?"
    if cell == "rnn" and config.get("activation") == "relu":
        name = "RNN (ReLU)"
    return network(name, units, layers)


def millions(count: float) -> str:
    """A number of characters, in thousands or millions from 10,000 on."""
    if count < 10_000:
        return f"{count:,.0f}"
    if count < 1_000_000:
        return _("{n} thousand").format(n=f"{count / 1000:,.0f}")
    return _("{n} million").format(n=f"{count / 1e6:,.1f}")


def queue_place(ahead: int) -> str:
    """A waiting run's place in the queue."""
    if ahead <= 0:
        return _("next in the queue")
    return ngettext("{n} run before it in the queue", "{n} runs before it in the queue", ahead).format(
        n=ahead
    )


def share(last: Mapping[str, Any], total: object) -> float | None:
    """The share of its training that a run has done, 0 to 1, by its newest event; None if unknown."""
    read, total_count = as_number(last.get("characters")), as_number(total)
    return min(1.0, read / total_count) if read is not None and total_count else None


def reason(state: str, cause: object) -> str:
    """The sentence on a run's end, by state and by the `cause` that `rnnviz.lab.run.process` records; "" for
    other ends.
    """
    if state == "died":
        return _(
            "Its process ended without a message, as when memory runs out. What was saved last is kept: "
            "Resume continues from there."
        )
    reasons = {
        "disk": _("The disk is full. What was saved last is kept: free some space, then press Resume."),
        "memory": _(
            "Memory ran out. What was saved last is kept: close other programs and press Resume. Or start a "
            "new run with a smaller batch size, fewer time steps or fewer hidden units."
        ),
        "gpu": _("The GPU was lost. What was saved last is kept: press Resume when it works again."),
    }
    return reasons.get(str(cause), "")


def diverged(step: object, norms: Doubles) -> str:
    """The sentences on the step at which a run diverged, by its gradient norms, and on what helps."""
    finite = norms[np.isfinite(norms)]
    return _(
        "Diverged at step {step}: the gradient norm went from {low} up to {high}, then the loss was no "
        "longer a number. Clip gradients, or lower the learning rate."
    ).format(
        step=f"{as_number(step) or 0:,.0f}",
        low=f"{finite.min(initial=math.inf):.2g}",
        high=f"{finite.max(initial=0.0):.2g}",
    )


def passed(event: Mapping[str, Any], order: object) -> str | None:
    """The sentence on the moment when the run passed the n-gram model; None if it hasn't."""
    characters, seconds = as_number(event.get("characters")), as_number(event.get("seconds"))
    if characters is None or seconds is None:
        return None
    return _(
        "After {characters} characters ({time}) it predicts the validation text better than counting "
        "sequences of {order} characters."
    ).format(characters=millions(characters), time=duration(seconds), order=order)


def training_perplexity(last: Mapping[str, Any], report: Mapping[str, Any]) -> float | None:
    """The newest training perplexity; of two from the same step the report's, which is not smoothed."""
    newer = report if report.get("step", -1) >= last.get("step", 0) else last
    return as_number(newer.get("train_perplexity"))


def as_number(value: Any) -> float | None:
    """A number of an event as float; None for anything else, because a file may hold any JSON value."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
