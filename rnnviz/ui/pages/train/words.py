"""States, numbers and sentences of runs in the session's language, and the training view's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rnnviz.networks.config import CELLS
from rnnviz.ui.i18n import _, ngettext
from rnnviz.ui.words import duration, network, rounded, view_words

VALIDATION, AT_THE_END, THROUGHOUT = "validation", "end", "throughout"
"""What a run measures beside its training text: its validation text as it goes on; the held-out text, at the
end; or, in stories that came with 0.1.0, the held-out text all along, and training text without dropout."""


def words(measured: str = VALIDATION) -> dict[str, str]:
    """Every word of the training view's modules, which fill in the braces; `measured` is one of the above."""
    return {
        **view_words(),
        "heat": _("Hidden state"),
        "heat.of": _("Reading “{probe}”"),
        "heat.label": _("Hidden state of every unit after every character of the probe sentence"),
        "heat.live": _(
            "A row is a unit, a column a character: watch noise turn into stripes that mean something"
        ),
        "heat.notice": _(
            "A row is a unit: press Play, from noise before the first step to units with a task"
        ),
        "heat.mlp": _("No memory: the same character always gives the same column"),
        "heat.none": _("The state of the probe sentence appears here as soon as training begins."),
        "key.diverging": _("blue −1 · 0 · +1 orange"),
        "key.sequential": _("pale 0 · 4 dark"),
        "when": _("step {step} · its perplexity {perplexity}"),
        "now": _("now"),
        "replay": _("Moment of training, from before the first step to the newest"),
        "play": _("Play"),
        "pause": _("Pause"),
        "curve": _("Perplexity against characters read"),
        "curve.label": _("Perplexity, gradient norm and learning rate against characters read"),
        "curve.counted": {
            VALIDATION: _("Below the dotted line it predicts better than counting does; lower is better"),
            AT_THE_END: _(
                "The dot is held-out text, read once without dropout; below the dotted line it beats counting"
            ),
            THROUGHOUT: _("On held-out text, below the dotted line it predicts better than counting does"),
        }[measured],
        "curve.blind": _("Below the dashed line it predicts better than a uniform guess; lower is better"),
        "line.validation": _("validation text"),
        "line.held_out": _("held-out text"),
        "line.end": _("held-out text"),
        "line.train": _("training text"),
        "uniform": _("uniform guess"),
        "unigram": _("letter frequencies"),
        "ngram.n": _("counting {order}-grams"),
        "gradient": _("gradient norm; orange: clipped"),
        "rate": _("learning rate"),
        "sample": _("What it writes by itself"),
        "sample.none": _("The first lines come with the first report."),
        "number.validation": _("validation perplexity"),
        "number.validation.help": _("On the 5 % after the text it trains on, measured from time to time"),
        "number.held_out": _("held-out perplexity"),
        "number.held_out.help": _("On the last 10 % of the text, which it was never trained on"),
        "number.train": _("training perplexity"),
        "number.train.help": _("On the first 50,000 characters it was trained on, without dropout")
        if measured == THROUGHOUT
        else _("On the text it is reading, with dropout, over the last seconds"),
        "number.probe": _("of the probe sentence"),
        "number.probe.help": _("The newest perplexity of the probe sentence"),
        "number.speed": _("characters a second"),
        "number.speed.help": _("How fast it reads, over the last half second"),
        "number.clipped": _("steps clipped"),
        "number.clipped.help": _("Share of the last steps whose gradient was too long and was cut"),
        "number.rate": _("learning rate"),
        "number.rate.help": _("How far a step goes; it rises at first and then falls to almost nothing"),
    }


def state(name: str) -> str:
    """A run's state in a word."""
    return {
        "waiting": _("waiting"),
        "starting": _("starting"),
        "running": _("training"),
        "stopped": _("stopped"),
        "finished": _("finished"),
        "failed": _("failed"),
        "died": _("died"),
        "shipped": _("comes with the app"),
    }.get(name, name)


ICONS = {
    "waiting": ":material/hourglass_empty:",
    "starting": ":material/rocket_launch:",
    "running": ":material/directions_run:",
    "stopped": ":material/pause_circle:",
    "finished": ":material/check_circle:",
    "failed": ":material/error:",
    "died": ":material/error:",
    "shipped": ":material/inventory_2:",
}


def settings() -> dict[str, str]:
    """The words for settings, by their names in `TrainConfig`."""
    return {
        "cell": _("Cell"),
        "hidden_size": _("Hidden units H"),
        "layers": _("Layers L"),
        "embedding_size": _("Numbers per character"),
        "steps": _("Characters that gradients flow back"),
        "truncation": _("Where it is cut"),
        "batch": _("Streams side by side"),
        "learning_rate": _("Learning rate"),
        "clip": _("Clip gradients at"),
        "dropout_output": _("Dropout of the state before the prediction"),
        "dropout_weight": _("Dropout of the recurrent weights"),
        "dropout_embedding": _("Dropout of whole characters"),
        "seed": _("Seed"),
    }


def kind(config: Mapping[str, Any]) -> str:
    """The kind of network that a recipe trains, in a few words."""
    cell, units, layers = config.get("cell"), config.get("hidden_size", 0), config.get("layers", 1)
    name = CELLS[str(cell)].label if cell in CELLS else "?"
    if cell == "rnn" and config.get("activation") == "relu":
        name = "RNN (ReLU)"
    return network(name, units, layers)


def millions(count: float) -> str:
    """A number of characters in words."""
    if count < 10_000:
        return f"{count:,.0f}"
    if count < 1_000_000:
        return _("{n} thousand").format(n=f"{count / 1000:,.0f}")
    return _("{n} million").format(n=f"{count / 1e6:,.1f}")


def place(ahead: int) -> str:
    """A waiting run's place in the queue."""
    if ahead <= 0:
        return _("next in the queue")
    return ngettext("{n} run before it in the queue", "{n} runs before it in the queue", ahead).format(
        n=ahead
    )


def line(
    state: str,
    *,
    reason: str,
    ahead: int,
    start: Mapping[str, Any],
    last: Mapping[str, Any],
    end: Mapping[str, Any],
) -> str:
    """One line on how far a run is, from its newest events."""
    read, total = _number(last.get("characters")), _number(start.get("total_characters"))
    seconds = _number(last.get("seconds"))
    if state == "waiting":
        return _("Waiting: {place}. It starts by itself.").format(place=place(ahead))
    if state == "starting" or (state == "running" and read is None):
        return _("Starting: reading the text, and counting what it has to beat …")
    far = ""
    if read is not None:
        far = _("{read} characters").format(read=millions(read))
        if total:
            far = _("{percent} % · {read} of {total} characters").format(
                percent=f"{100 * min(1.0, read / total):.0f}", read=millions(read), total=millions(total)
            )
    if state == "running":
        eta = _number(last.get("eta"))
        return far if eta is None else _("{far} · {time} left").format(far=far, time=duration(eta))
    took = duration(seconds) if seconds is not None else ""
    if state in ("finished", "shipped"):
        parts = [_("Trained for {time} on {read} characters").format(time=took, read=millions(read or 0))]
        if (held_out := _number(end.get("held_out"))) is not None:
            parts.append(_("perplexity on the held-out text {p}").format(p=rounded(held_out)))
        return " · ".join(parts)
    if state == "died":
        reason = _(
            "Its process ended without a word, as when memory runs out or someone kills it. What was saved "
            "last is kept: Resume goes on from there."
        )
    if state == "failed":
        reason = failures().get(str(end.get("cause")), reason)
    words = {"stopped": _("Stopped"), "failed": _("Failed"), "died": _("Died")}.get(state, state)
    said = _("{state} at {far}").format(state=words, far=far) if far else words
    return f"{said}. {reason}" if reason else _("{said}. What was learnt is saved.").format(said=said)


def failures() -> dict[str, str]:
    """What to do about the failures that `rnnviz.runs.failure` distinguishes."""
    return {
        "disk": _(
            "The disk is full. What was saved last is kept: free some space, and Resume goes on from there."
        ),
        "memory": _(
            "Memory ran out. What was saved last is kept: Resume when other programs have ended, or start a "
            "new run with a smaller batch, a shorter way back for gradients or fewer hidden units."
        ),
        "gpu": _(
            "The GPU was lost. What was saved last is kept: Resume when it works again, and it goes on from "
            "there."
        ),
    }


def passed(event: Mapping[str, Any], order: object) -> str | None:
    """When the n-gram was beaten, as a sentence; None if not yet."""
    characters, seconds = _number(event.get("characters")), _number(event.get("seconds"))
    if characters is None or seconds is None:
        return None
    return _(
        "After {characters} characters ({time}) it passed the {order}-gram: from here on it predicts new "
        "text better than counting does."
    ).format(characters=millions(characters), time=duration(seconds), order=order)


def training_perplexity(last: Mapping[str, Any], report: Mapping[str, Any]) -> float | None:
    """The newest there is; if both are as new, the report's, which is not smoothed."""
    newer = report if report.get("step", -1) >= last.get("step", 0) else last
    return _number(newer.get("train_perplexity"))


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
