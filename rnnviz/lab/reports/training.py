"""Curves of training runs: perplexity, gradient norm and learning rate against characters read.

Pure functions from a run's events (`rnnviz.lab.run.runs.follow`) to numbers, and on to Plotly figures as
plain dictionaries. In a notebook:

    import plotly.graph_objects as go
    events, _ = runs.follow("my-gru")
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

COLUMNS = {
    "train": ("characters", "train"),
    "validation": ("measured", "validation"),
    "held_out": ("looked", "held_out"),
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
}


@dataclass(frozen=True, eq=False)
class Curves:
    """The curves of one run.

    characters, train, gradient, rate   (n,) of the progress events: characters read, training perplexity,
                                        gradient norm before clipping, learning rate
    measured, validation   (m,) of the reports: characters read and validation perplexity
    looked, held_out   (k,) characters read and held-out perplexity: one at the end of a run without
                       validation text, else none
    total            characters to read, at least those read
    uniform, unigram, ngram   baselines on the measured text; None where not measured
    order            the n-gram's n
    clip             the largest allowed gradient norm
    highest_rate     the upper end of the learning rates' axis
    passed           characters read when the run passed the n-gram, or None
    """

    characters: Doubles
    train: Doubles
    gradient: Doubles
    rate: Doubles
    measured: Doubles
    validation: Doubles
    looked: Doubles
    held_out: Doubles
    total: float
    uniform: float | None
    unigram: float | None
    ngram: float | None
    order: int
    clip: float
    highest_rate: float
    passed: float | None

    @property
    def norm(self) -> Doubles:
        """(n,) the gradient norm, clipped to its axis."""
        return np.clip(self.gradient, self.clip / NORM_AXIS_FACTOR, self.clip * NORM_AXIS_FACTOR)

    @property
    def clipped(self) -> Doubles:
        """(n,) `norm` where the gradient was scaled down, else NaN."""
        return np.where(self.gradient > self.clip, self.norm, np.nan)


def curves(events: Iterable[Mapping[str, Any]], *, clip: float = 1.0, rate: float = 0.0) -> Curves:
    """The curves in a run's events; missing values become NaN. `clip` and peak `rate` are the recipe's."""
    told: dict[object, list[Mapping[str, Any]]] = defaultdict(list)
    for event in events:
        told[event.get("event")].append(event)
    progress, reports = told["progress"], told["report"]
    start, end, passed = ([{}, *told[kind]][-1] for kind in ("start", "finished", "passed"))
    # A run of a second or two has more reports than progress events.
    progress = _thin(progress if len(progress) >= len(reports) else reports)
    read = _column(progress, "characters")
    measured = _column(reports, "characters")
    furthest = max(
        [_number(start.get("total_characters"), 1.0), *read.tolist()[-1:], *measured.tolist()[-1:]]
    )
    validation = _column(reports, "validation_perplexity")
    looks = [{"characters": furthest, **end}] if not _finite(validation) and end.get("held_out") else []
    order = start.get("ngram_order")
    rates = _column(progress, "learning_rate")
    return Curves(
        characters=read,
        train=_column(progress, "train_perplexity"),
        gradient=_column(progress, "gradient_norm"),
        rate=rates,
        measured=measured,
        validation=validation,
        looked=_column(looks, "characters"),
        held_out=_column(looks, "held_out"),
        total=furthest,
        uniform=_maybe(start.get("uniform")),
        unigram=_maybe(start.get("unigram")),
        ngram=_maybe(start.get("ngram")),
        order=order if type(order) is int else 6,
        clip=_number(progress[-1].get("clip") if progress else None, clip),
        highest_rate=max([1e-9, rate, *_finite(rates)]),
        passed=_maybe(passed.get("characters")),
    )


def _thin(events: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """At most MAX_POINTS of the events, with the first and last; a kept event stays kept while more come."""
    stride = 1
    while len(events) / stride > MAX_POINTS:
        stride *= 2
    kept = events[::stride]
    return [*kept, events[-1]] if events and kept[-1] is not events[-1] else kept


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
    for one in several:
        known = [v for v in (one.uniform, one.unigram, one.ngram) if v is not None]
        measured = _finite(np.append(one.validation, one.held_out))
        reached = [*_finite(one.train)[-1:], *measured]
        low = min([low, *(0.62 * v for v in known)])
        if reached and min(reached) < 1.05 * low:
            low = 1.0
        highest = max([*known, *(measured[:1] if not known else [])], default=10.0)
        high = max(high, 1.35 * highest)
    low = 1.0 if low < 1.6 or not math.isfinite(low) else low
    return math.log10(low) - (0.03 if low == 1.0 else 0.0), math.log10(max(high, 2 * low))


def _finite(values: Doubles) -> list[float]:
    return [float(v) for v in values[np.isfinite(values)]]


def yardsticks(one: Curves) -> list[tuple[str, float]]:
    """The baseline perplexities by name, the highest first."""
    named = (("uniform", one.uniform), ("unigram", one.unigram), ("ngram", one.ngram))
    return [(name, value) for name, value in named if value is not None]


def figure(one: Curves, words: Mapping[str, str] = ENGLISH, *, theme: Theme = LIGHT) -> Figure:
    """The perplexities of one run; `words` names the baselines."""
    ends = extent([one])
    lines = [_yardstick(value, name, theme) for name, value in yardsticks(one)]
    if one.passed is not None:
        lines.append(level(one.passed, theme.ngram, 1.5, upright=True, layer="below"))
    return {
        "data": [
            _trace(one, "train", theme.model, 1.25, opacity=0.55),
            _trace(one, "validation", theme.model, 2.5, dots=5),
            _trace(one, "held_out", theme.model, 2.5, dots=10),
        ],
        "layout": layout(
            theme,
            height=300,
            margin=_MARGIN,
            xaxis=_across(one, theme),
            yaxis=log_axis(theme, ends),
            shapes=lines,
            annotations=_labels(one, words, ends, theme),
        ),
    }


def details(one: Curves, words: Mapping[str, str] = ENGLISH, *, theme: Theme = LIGHT) -> Figure:
    """The gradient norms and learning rates of one run; `words` names them."""
    reach, middle, top = math.log10(NORM_AXIS_FACTOR), math.log10(one.clip), one.highest_rate
    above, below = [0.5, 0.9], [0.0, 0.27]
    return {
        "data": [
            _trace(one, "gradient", theme.muted, 1),
            _trace(one, "clipped", theme.runs[1], 1, dots=4, mode="markers"),
            _trace(one, "rate", theme.model, 1.5, yaxis="y2"),
        ],
        "layout": layout(
            theme,
            height=190,
            margin=_MARGIN,
            xaxis=_across(one, theme, anchor="y2"),
            yaxis=log_axis(
                theme,
                (middle - reach, middle + reach),
                domain=above,
                tickvals=[one.clip],
                ticktext=[f"{one.clip:g}"],
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
            shapes=[level(one.clip, theme.runs[1], dash="dot", yref="y")],
            annotations=[
                _note(words["gradient"], theme.muted, y=above[1], yref="paper"),
                _note(words["rate"], theme.muted, y=below[1], yref="paper"),
            ],
        ),
    }


_MARGIN = {"l": 44, "r": 8, "t": 6, "b": 20, "pad": 0}


def _trace(one: Curves, name: str, colour: str, width: float, *, dots: int = 0, **more: Any) -> Figure:
    x, y = (getattr(one, column) for column in COLUMNS[name])
    if dots:
        more = {
            "mode": "lines+markers",
            "marker": {"size": dots, "color": colour},
            "cliponaxis": False,
            **more,
        }
    return line(name, colour, width, x=x.tolist(), y=_gaps(y), **more)


def _gaps(values: Doubles) -> list[float | None]:
    """Numbers for Plotly: None for NaN and infinities, which JSON can't hold."""
    return [v if math.isfinite(v) else None for v in values.tolist()]


def _across(one: Curves, theme: Theme, **more: Any) -> Figure:
    """The axis of characters read."""
    form = "~s" if one.total >= 10_000 else ",d"
    ends, labelled = [0, one.total], one.total > 1
    return axis(theme, range=ends, nticks=5, tickformat=form, showticklabels=labelled, showgrid=False, **more)


def _yardstick(value: float, name: str, theme: Theme) -> Figure:
    colour, dash = {
        "uniform": (theme.uniform, "dash"),
        "unigram": (theme.uniform, "dashdot"),
        "ngram": (theme.ngram, "dot"),
    }[name]
    return level(value, colour, 1.5, dash, yref="y", layer="below")


def _labels(
    one: Curves, words: Mapping[str, str], ends: tuple[float, float], theme: Theme
) -> list[dict[str, Any]]:
    """The baselines' names, above their lines or below, where the curves leave room."""
    found = []
    room = 0.085 * (ends[1] - ends[0])  # a label's height, in decades
    above = math.inf
    for name, value in yardsticks(one):
        at = math.log10(value)
        # Curves come down to the n-gram's line and stay near it, so the label stands on the free side. At the
        # right end the held-out perplexity has its dot.
        left = name == "ngram" and len(one.looked) > 0
        under = above - at < room or (name == "ngram" and one.passed is None)
        above = at
        found.append(
            _note(
                f"{words[name]} {_written(value)}",
                theme.ngram if name == "ngram" else theme.uniform,
                x=0 if left else 1,
                xanchor="left" if left else "right",
                y=at,
                yanchor="top" if under else "bottom",
            )
        )
    return found


def _note(text: str, colour: str, **more: Any) -> dict[str, Any]:
    """A word on the chart; at the left, above its place, unless `more` changes it."""
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
        **more,
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
    for n, (name, one) in enumerate(several.items()):
        colour = theme.runs[n % len(theme.runs)]
        dash = ("solid", "dash", "dot")[n // len(theme.runs) % 3]
        own = np.isfinite(one.validation)
        x, y = (one.measured[own], one.validation[own]) if own.any() else (one.characters, one.train)
        data.append(
            line(
                name,
                colour,
                2.25,
                dash,
                mode="lines+markers" if own.any() and own.sum() < 60 else "lines",
                x=x.tolist(),
                y=_gaps(y),
                marker={"size": 5, "color": colour},
                hoverinfo="x+y+name",
                hovertemplate="%{y:.3f} · %{x:,.0f}<extra>%{fullData.name}</extra>",
            )
        )
    total = max([1.0, *(max([0.0, *one.characters[-1:], *one.measured[-1:]]) for one in several.values())])
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
