"""Curves of training runs: perplexity, gradient norm and learning rate against characters read.

Pure functions from a run's events (`rnnviz.lab.run.runs.tail_log`) to numbers, and on to Plotly figures as
plain dictionaries. In a notebook:

    import plotly.graph_objects as go
    events, _ = runs.tail_log("my-gru")
    go.Figure(training.figure(training.curves(events)))
    go.Figure(training.details(training.curves(events)))

Perplexities stand on a logarithmic axis, beside the baselines: uniform |V|, unigram and n-gram.
"""

import html
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.figures.axes import Figure, axis, layout, legend, level, line, log_axis
from rnnviz.figures.themes import LIGHT, Theme

MAX_POINTS = 600
"""Points of a line, at most: a chart has no more pixels."""

NORM_AXIS_FACTOR = 100.0
"""The axis of gradient norms goes from clip / NORM_AXIS_FACTOR to clip × NORM_AXIS_FACTOR."""

ROOM_BELOW, ROOM_ABOVE = 0.62, 1.35
"""The axis of perplexities ends at these multiples of the lowest and the highest baseline: room for a network
that passes the n-gram, and for the name above the highest line.
"""

HIGHEST_PERPLEXITY = 1e30
"""Perplexities that a diverging run leaves the chart by; the browser's float32 holds them."""

KNOWN_SHARE = 0.9
"""A row has its meaning from the moment on at which it tells this share of what it tells at the end."""

COLUMNS = {
    "train": ("characters", "train"),
    "validation": ("validation_at", "validation"),
    "held_out": ("held_out_at", "held_out"),
    "meaning": ("meaning_at", "meaning"),
    "gradient": ("characters", "norm"),
    "clipped": ("characters", "clipped"),
    "rate": ("characters", "rate"),
}
"""The traces by name: the arrays of Curves along x and y."""

ENGLISH = {
    "uniform": "uniform guess",
    "unigram": "letter frequencies",
    "ngram": "n-gram",
    "gradient": "gradient norm; orange: clipped",
    "rate": "learning rate",
    "meaning": "what a row tells",
}


@dataclass(frozen=True, eq=False)
class Curves:
    """The curves of one run.

    characters, train, gradient, rate   (n,) of the progress events: characters read, training perplexity,
                                        gradient norm before clipping, learning rate
    validation_at, validation   (m,) of the reports: characters read and validation perplexity
    held_out_at, held_out   (k,) characters read and held-out perplexity: one at the end of a run without
                       validation text, else none
    meaning_at, meaning   (K,) characters read at the kept moments, and how well the first named row of the
                       finished network told its target then: AUC or correlation
    row, guess       that row's target, "" without one, and a guess's score: 0.5, or 0 for a correlation
    total            characters to read, at least those read
    uniform, unigram, ngram   baselines on the validation text; None where not measured
    order            the n-gram's n
    clip             the largest allowed gradient norm; NaN: gradients aren't clipped
    highest_rate     the upper end of the learning rates' axis
    passed           characters read when the run passed the n-gram, or None
    """

    characters: Doubles
    train: Doubles
    gradient: Doubles
    rate: Doubles
    validation_at: Doubles
    validation: Doubles
    held_out_at: Doubles
    held_out: Doubles
    meaning_at: Doubles
    meaning: Doubles
    row: str
    guess: float
    total: float
    uniform: float | None
    unigram: float | None
    ngram: float | None
    order: int
    clip: float
    highest_rate: float
    passed: float | None

    @property
    def born(self) -> float | None:
        """Characters read from which on the row tells KNOWN_SHARE of what it tells at the end; None without a
        row.
        """
        if not len(self.meaning):
            return None
        above = self.meaning - self.guess
        is_less = np.flatnonzero(~(above >= KNOWN_SHARE * above[-1]))
        return float(self.meaning_at[min(len(above) - 1, 1 + max(is_less, default=-1))])

    @property
    def norm_ends(self) -> tuple[float, float]:
        """The ends of the gradient norm's axis, as powers of ten: around `clip`, or up to the largest."""
        reach = math.log10(NORM_AXIS_FACTOR)
        if math.isfinite(self.clip):
            return math.log10(self.clip) - reach, math.log10(self.clip) + reach
        return -reach, math.ceil(math.log10(max([NORM_AXIS_FACTOR, *_finite(self.gradient)])))

    @property
    def norm(self) -> Doubles:
        """(n,) the gradient norm, clipped to its axis."""
        low, high = self.norm_ends
        return np.clip(self.gradient, 10**low, 10**high)

    @property
    def clipped(self) -> Doubles:
        """(n,) `norm` where the gradient was scaled down, else NaN."""
        return np.where(self.gradient > self.clip, self.norm, np.nan)


def curves(events: Iterable[Mapping[str, Any]], *, clip: float | None = 1.0, rate: float = 0.0) -> Curves:
    """The curves in a run's events; missing values become NaN. `clip` and peak `rate` are the recipe's. A run
    that diverged has read all that it will.
    """
    by_kind: dict[object, list[Mapping[str, Any]]] = defaultdict(list)
    for event in events:
        by_kind[event.get("event")].append(event)
    progress, reports = by_kind["progress"], by_kind["report"]
    start, end, passed = ([{}, *by_kind[kind]][-1] for kind in ("start", "finished", "passed"))
    # A run of a second or two has more reports than progress events.
    progress = _thin(progress if len(progress) >= len(reports) else reports)
    read = _column(progress, "characters")
    validation_at = _column(reports, "characters")
    furthest = max(
        [
            1.0 if by_kind["diverged"] else _number(start.get("total_characters"), 1.0),
            *read.tolist()[-1:],
            *validation_at.tolist()[-1:],
        ]
    )
    validation = _column(reports, "validation_perplexity")
    end_report = [{"characters": furthest, **end}] if not _finite(validation) and end.get("held_out") else []
    order = start.get("ngram_order")
    meaning_events = sorted(by_kind["meaning"], key=lambda event: _number(event.get("characters"), 0.0))
    rows, firsts = [{}, *meaning_events][-1].get("rows"), list[Mapping[str, Any]]()
    for event in meaning_events:
        scores = event.get("scores")
        firsts.append({"first": scores[0] if isinstance(scores, list) and scores else None})
    rates = _column(progress, "learning_rate")
    return Curves(
        characters=read,
        train=np.minimum(_column(progress, "train_perplexity"), HIGHEST_PERPLEXITY),
        gradient=_column(progress, "gradient_norm"),
        rate=rates,
        validation_at=validation_at,
        validation=validation,
        held_out_at=_column(end_report, "characters"),
        held_out=_column(end_report, "held_out"),
        meaning_at=_column(meaning_events, "characters"),
        meaning=_column(firsts, "first"),
        row=str(rows[0]) if isinstance(rows, list) and rows else "",
        guess=_number([{}, *meaning_events][-1].get("guess"), 0.5),
        total=furthest,
        uniform=_maybe(start.get("uniform")),
        unigram=_maybe(start.get("unigram")),
        ngram=_maybe(start.get("ngram")),
        order=order if type(order) is int else 6,
        clip=_number(progress[-1].get("clip") if progress else None, clip or math.nan),
        highest_rate=max([1e-9, rate, *_finite(rates)]),
        passed=_maybe(passed.get("characters")),
    )


def _thin(events: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """At most MAX_POINTS of the events, with the first and last; a kept event stays kept while more come."""
    stride = 1
    while len(events) / stride > MAX_POINTS:
        stride *= 2
    thinned = events[::stride]
    return [*thinned, events[-1]] if events and thinned[-1] is not events[-1] else thinned


def _number(value: Any, otherwise: float = math.nan) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    return otherwise


def _maybe(value: Any) -> float | None:
    number = _number(value)
    return number if number >= 1 else None


def _column(events: Iterable[Mapping[str, Any]], name: str) -> Doubles:
    return np.array([_number(event.get(name)) for event in events], np.float64)


def extent(several: Iterable[Curves]) -> tuple[float, float]:
    """The ends of the logarithmic axis, as powers of ten. They follow the baselines, so that the axis stands
    still while the curves grow; a run far below its n-gram opens the axis down to 1, once.
    """
    low, high = math.inf, 1.0
    for run in several:
        levels = [value for _name, value in baselines(run)]
        perplexities = _finite(np.append(run.validation, run.held_out))
        visible_values = [*_finite(run.train)[-1:], *perplexities]
        low = min([low, *(ROOM_BELOW * value for value in levels)])
        if visible_values and min(visible_values) < 1.05 * low:  # a curve that nears the lower end
            low = 1.0
        highest = max([*levels, *(perplexities[:1] if not levels else [])], default=10.0)
        high = max(high, ROOM_ABOVE * highest)
    # Near 1 the axis may as well begin at 1, where no perplexity can lie below.
    low = 1.0 if low < 1.6 or not math.isfinite(low) else low
    return math.log10(low) - (0.03 if low == 1.0 else 0.0), math.log10(max(high, 2 * low))


def _finite(values: Doubles) -> list[float]:
    return [float(v) for v in values[np.isfinite(values)]]


def baselines(run: Curves) -> list[tuple[str, float]]:
    """The baseline perplexities by name, the highest first."""
    named = (("uniform", run.uniform), ("unigram", run.unigram), ("ngram", run.ngram))
    return [(name, value) for name, value in named if value is not None]


def figure(run: Curves, words: Mapping[str, str] = ENGLISH, *, theme: Theme = LIGHT) -> Figure:
    """The perplexities of one run; `words` names the baselines."""
    ends = extent([run])
    lines = [_baseline_line(value, name, theme) for name, value in baselines(run)]
    if run.passed is not None:
        lines.append(level(run.passed, theme.ngram, 1.5, upright=True, layer="below"))
    data = [
        _trace(run, "train", theme.model, 1.25, opacity=0.55),
        _trace(run, "validation", theme.model, 2.5, dots=5),
        _trace(run, "held_out", theme.model, 2.5, dots=10),
    ]
    labels, across, domains = _labels(run, words, ends, theme), _across(run, theme), {}
    if run.row:
        # Below the perplexities, on the same characters: what a row of the finished network told then.
        data.append(_trace(run, "meaning", theme.runs[1], 2, dots=4, yaxis="y2"))
        labels.append(_note(words["meaning"], theme.runs[1], y=_BELOW[1], yref="paper"))
        across = _across(run, theme, anchor="y2")
        scores = [run.guess, 1.02]
        domains = {"yaxis2": axis(theme, domain=_BELOW, range=scores, nticks=3, showgrid=False)}
    return {
        "data": data,
        "layout": layout(
            theme,
            height=300,
            margin=_MARGIN,
            xaxis=across,
            yaxis=log_axis(theme, ends, domain=[_BELOW[1] + 0.12 if run.row else 0.0, 1.0]),
            shapes=lines,
            annotations=labels,
            **domains,
        ),
    }


def details(run: Curves, words: Mapping[str, str] = ENGLISH, *, theme: Theme = LIGHT) -> Figure:
    """The gradient norms and learning rates of one run; `words` names them."""
    top, clips = run.highest_rate, math.isfinite(run.clip)
    marked = run.clip if clips else 10 ** run.norm_ends[1]
    above, below = [0.5, 0.9], [0.0, 0.27]
    return {
        "data": [
            _trace(run, "gradient", theme.muted, 1),
            _trace(run, "clipped", theme.runs[1], 1, dots=4, mode="markers"),
            _trace(run, "rate", theme.model, 1.5, yaxis="y2"),
        ],
        "layout": layout(
            theme,
            height=190,
            margin=_MARGIN,
            xaxis=_across(run, theme, anchor="y2"),
            yaxis=log_axis(
                theme,
                run.norm_ends,
                domain=above,
                tickvals=[marked],
                ticktext=[f"{marked:g}"],
                showgrid=False,
            ),
            yaxis2=axis(
                theme,
                domain=below,
                range=[0, 1.1 * top],
                tickvals=[0, top],
                ticktext=["0", f"{top:.2g}"],
                showgrid=False,
            ),
            shapes=[level(run.clip, theme.runs[1], dash="dot", yref="y")] if clips else [],
            annotations=[
                _note(words["gradient"], theme.muted, y=above[1], yref="paper"),
                _note(words["rate"], theme.muted, y=below[1], yref="paper"),
            ],
        ),
    }


_BELOW = [0.0, 0.24]
"""The share of the chart's height below the perplexities."""

_MARGIN = {"l": 44, "r": 8, "t": 6, "b": 20, "pad": 0}


def _trace(run: Curves, name: str, colour: str, width: float, *, dots: int = 0, **style: Any) -> Figure:
    x, y = (getattr(run, column) for column in COLUMNS[name])
    if dots:
        style = {
            "mode": "lines+markers",
            "marker": {"size": dots, "color": colour},
            "cliponaxis": False,
            **style,
        }
    return line(name, colour, width, x=x.tolist(), y=_gaps(y), **style)


def _gaps(values: Doubles) -> list[float | None]:
    """Numbers for Plotly: None for NaN and infinities, which JSON can't hold."""
    return [v if math.isfinite(v) else None for v in values.tolist()]


def _across(run: Curves, theme: Theme, **style: Any) -> Figure:
    """The axis of characters read."""
    form = "~s" if run.total >= 10_000 else ",d"
    ends, labelled = [0, run.total], run.total > 1
    return axis(
        theme, range=ends, nticks=5, tickformat=form, showticklabels=labelled, showgrid=False, **style
    )


def _baseline_line(value: float, name: str, theme: Theme) -> Figure:
    colour, dash = {
        "uniform": (theme.uniform, "dash"),
        "unigram": (theme.uniform, "dashdot"),
        "ngram": (theme.ngram, "dot"),
    }[name]
    return level(value, colour, 1.5, dash, yref="y", layer="below")


def _labels(
    run: Curves, words: Mapping[str, str], ends: tuple[float, float], theme: Theme
) -> list[dict[str, Any]]:
    """The baselines' names, above their lines or below, where the curves leave room."""
    labels = []
    room = 0.085 * (ends[1] - ends[0])  # a label's height, in decades
    above = math.inf
    for name, value in baselines(run):
        at = math.log10(value)
        # Curves come down to the n-gram's line and stay near it, so the label stands on the free side. At the
        # right end the held-out perplexity has its dot.
        at_left = name == "ngram" and len(run.held_out_at) > 0
        under = above - at < room or (name == "ngram" and run.passed is None)
        above = at
        labels.append(
            _note(
                f"{words[name]} {_written(value)}",
                theme.ngram if name == "ngram" else theme.uniform,
                x=0 if at_left else 1,
                xanchor="left" if at_left else "right",
                y=at,
                yanchor="top" if under else "bottom",
            )
        )
    return labels


def _note(text: str, colour: str, **style: Any) -> dict[str, Any]:
    """A word on the chart; at the left, above its place, unless `style` changes it."""
    return {
        "x": 0,
        "xref": "paper",
        "xanchor": "left",
        "yref": "y",
        "yanchor": "bottom",
        "text": html.escape(text),
        "showarrow": False,
        "borderpad": 2,
        "font": {"size": 11, "color": colour},
        **style,
    }


def _written(value: float) -> str:
    return f"{value:,.2f}" if value < 100 and value != round(value) else f"{value:,.0f}"


# Several training runs in one chart.


def compared(
    several: Mapping[str, Curves], *, theme: Theme = LIGHT, title: str = "characters read"
) -> Figure:
    """Validation perplexity of several runs, by name; where a run has none, its training perplexity."""
    low, high = extent(several.values()) if several else (0.0, 2.0)
    data: list[dict[str, Any]] = []
    for n, (name, run) in enumerate(several.items()):
        colour = theme.runs[n % len(theme.runs)]
        dash = ("solid", "dash", "dot")[n // len(theme.runs) % 3]
        has_validation = np.isfinite(run.validation)
        x, y = run.characters, run.train
        if has_validation.any():
            x, y = run.validation_at[has_validation], run.validation[has_validation]
        data.append(
            line(
                name,
                colour,
                2.25,
                dash,
                mode="lines+markers" if has_validation.any() and has_validation.sum() < 60 else "lines",
                x=x.tolist(),
                y=_gaps(y),
                marker={"size": 5, "color": colour},
                hoverinfo="x+y+name",
                hovertemplate="%{y:.3f} · %{x:,.0f}<extra>%{fullData.name}</extra>",
            )
        )
    total = max(
        [1.0, *(max([0.0, *run.characters[-1:], *run.validation_at[-1:]]) for run in several.values())]
    )
    return {
        "data": data,
        "layout": layout(
            theme,
            height=360,
            margin={"l": 56, "r": 16, "t": 8, "b": 44},
            showlegend=True,
            legend=legend(theme),
            hovermode="closest",
            xaxis=axis(theme, title, range=[0, 1.02 * total], showgrid=False),
            yaxis=log_axis(theme, (low, high)),
        ),
    }
