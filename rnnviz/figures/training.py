"""The curves of training runs: perplexity against characters read, gradient norm, learning rate.

Pure functions from a run's events (`rnnviz.runs.follow`) to numbers, and on to Plotly figures as plain
dictionaries. In a notebook:

    import plotly.graph_objects as go
    events, _ = rnnviz.runs.api.follow("my-gru")
    go.Figure(training.figure(training.curves(events)))

Perplexities stand on a logarithmic axis, beside the baselines: uniform |V|, unigram and n-gram.
"""

import html
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.figures.frame import Figure, axis, layout, legend, level, line, log_axis
from rnnviz.figures.themes import LIGHT, Theme

MOST = 600
"""Points of a line: a chart has no more pixels."""

SPREAD = 100.0
"""The axis of gradient norms goes from clip / SPREAD to clip × SPREAD."""

# Shares of the figure's height, from the top.
PANELS = {"perplexity": [0.42, 1.0], "gradient": [0.17, 0.32], "rate": [0.0, 0.08]}


@dataclass(frozen=True, eq=False)
class Curves:
    """What is drawn of one run.

    characters, train, gradient, rate   (n,) of the progress events: characters read, training perplexity,
                     gradient norm before clipping, learning rate
    measured, validation   (m,) of the reports: characters read and validation perplexity
    looked, held_out   (k,) characters read and held-out perplexity: one at the end, where there is no
                     validation text, else none
    total            characters to be read, at least those that were
    uniform, unigram, ngram   baselines on the text that is measured; None where not measured
    order            the n-gram's n
    clip             the largest gradient norm allowed
    highest_rate     where the axis of learning rates ends
    passed           (characters, seconds) when the n-gram was beaten, or None
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
    passed: tuple[float, float] | None

    @property
    def snapshots(self) -> bool:
        """Whether these are measurements at moments ever further apart, without gradients."""
        return len(self.measured) > 1 and not np.isfinite(self.gradient).any()


def curves(events: Iterable[Mapping[str, Any]], *, clip: float = 1.0, rate: float = 0.0) -> Curves:
    """The curves in a run's events; missing values become NaN. `clip` and peak `rate` are the recipe's."""
    progress: list[Mapping[str, Any]] = []
    reports: list[Mapping[str, Any]] = []
    start: Mapping[str, Any] = {}
    end: Mapping[str, Any] = {}
    passed = None
    for event in events:
        kind = event.get("event")
        if kind == "progress":
            progress.append(event)
        elif kind == "report":
            reports.append(event)
        elif kind == "start":
            start = event
        elif kind == "finished":
            end = event
        elif kind == "passed":
            passed = (_number(event.get("characters")), _number(event.get("seconds")))
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
        passed=passed if passed and math.isfinite(passed[0]) else None,
    )


def _thin(events: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """At most MOST of the events, with the first and last; the same ones stay while more come."""
    stride = 1
    while len(events) / stride > MOST:
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
    """The ends of the logarithmic axis, as powers of ten. They rest on the baselines, so that the axis stands
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


def skeleton(one: Curves, words: Mapping[str, str], *, theme: Theme = LIGHT) -> Figure:
    """Axes, the baselines with their names, and empty curves: what stays while a run goes on.

    Traces by name: "train", "validation", "held_out" (perplexities), "gradient", "clipped" (points above
    `clip`) and "rate". `words` names them: uniform, unigram, ngram, gradient, rate, clip, characters. With
    only `snapshots`, perplexities fill the figure and characters have a logarithmic axis.
    """
    drawn = _whole(one, words, theme)
    return _alone(drawn, one, len(yardsticks(one))) if one.snapshots else drawn


def _alone(drawn: Figure, one: Curves, labels: int) -> Figure:
    laid = drawn["layout"]
    first = float(one.measured[one.measured > 0].min(initial=one.total))
    laid["xaxis"] |= {
        "type": "log",
        "range": [math.log10(first), math.log10(max(one.total, 2 * first))],
        "anchor": "y",
        "dtick": 1,
    }
    laid["yaxis"]["domain"] = [0, 1]
    for name in ("yaxis2", "yaxis3"):
        laid[name]["visible"] = False
    laid["shapes"] = [shape for shape in laid["shapes"] if shape["yref"] != "y2"]
    laid["shapes"] = [{**shape, "y0": 0} if shape["yref"] == "paper" else shape for shape in laid["shapes"]]
    laid["annotations"] = laid["annotations"][:labels]
    return drawn


def _whole(one: Curves, words: Mapping[str, str], theme: Theme) -> Figure:
    ends = extent([one])
    height, middle, top = math.log10(SPREAD), math.log10(one.clip), one.highest_rate
    return {
        "data": [
            line("train", theme.model, 1.25, opacity=0.55),
            *(
                line(
                    name,
                    theme.model,
                    2.5,
                    mode="lines+markers",
                    marker={"size": size, "color": theme.model},
                    cliponaxis=False,
                )
                for name, size in (("validation", 5), ("held_out", 10))
            ),
            line("gradient", theme.muted, 1, yaxis="y2"),
            line(
                "clipped", theme.came, 1, yaxis="y2", mode="markers", marker={"size": 4, "color": theme.came}
            ),
            line("rate", theme.model, 1.5, yaxis="y3"),
        ],
        "layout": layout(
            theme,
            margin={"l": 44, "r": 8, "t": 6, "b": 20, "pad": 0},
            xaxis=axis(
                theme,
                range=[0, one.total],
                anchor="y3",
                showgrid=False,
                showticklabels=one.total > 1,
                nticks=5,
                tickformat="~s" if one.total >= 10_000 else ",d",
            ),
            yaxis=log_axis(theme, ends, domain=PANELS["perplexity"]),
            yaxis2=log_axis(
                theme,
                (middle - height, middle + height),
                domain=PANELS["gradient"],
                tickvals=[one.clip],
                ticktext=[f"{one.clip:g}"],
                showgrid=False,
            ),
            yaxis3=axis(
                theme,
                domain=PANELS["rate"],
                range=[0, 1.1 * top],
                tickvals=[0, top],
                ticktext=["0", f"{top:.2g}"],
                showgrid=False,
            ),
            shapes=[
                *(_yardstick(value, name, theme) for name, value in yardsticks(one)),
                *([_moment(one.passed[0], theme)] if one.passed else []),
                level(one.clip, theme.came, dash="dot", yref="y2"),
            ],
            annotations=[
                *_labels(one, words, ends, theme),
                _heading(words["gradient"], PANELS["gradient"][1], theme),
                _heading(words["rate"], PANELS["rate"][1], theme),
            ],
        ),
    }


def _yardstick(value: float, name: str, theme: Theme) -> Figure:
    colour, dash = {
        "uniform": (theme.uniform, "dash"),
        "unigram": (theme.uniform, "dashdot"),
        "ngram": (theme.ngram, "dot"),
    }[name]
    return level(value, colour, 1.5, dash, yref="y", layer="below")


def _moment(characters: float, theme: Theme) -> Figure:
    return level(characters, theme.ngram, 1.5, upright=True, y0=PANELS["perplexity"][0], layer="below")


def _labels(
    one: Curves, words: Mapping[str, str], ends: tuple[float, float], theme: Theme
) -> list[dict[str, Any]]:
    """The baselines' names, above their lines or below, where the curves leave room."""
    found = []
    room = 0.085 * (ends[1] - ends[0])  # a label's height, as a share of the axis
    above = math.inf
    for name, value in yardsticks(one):
        at = math.log10(value)
        # Curves come down to the n-gram's line and stay beside it: the label is where they are not. On a
        # logarithmic axis of characters they begin far above. At the right end the held-out text has its dot.
        left = name == "ngram" and bool(one.snapshots or len(one.looked))
        under = above - at < room or (name == "ngram" and not one.snapshots and one.passed is None)
        above = at
        found.append(
            {
                "x": 0 if left else 1,
                "xref": "paper",
                "xanchor": "left" if left else "right",
                "y": at,
                "yref": "y",
                "yanchor": "top" if under else "bottom",
                "text": f"{html.escape(words[name])} {_written(value)}",
                "showarrow": False,
                "borderpad": 0,
                "font": {"size": 11, "color": theme.ngram if name == "ngram" else theme.uniform},
            }
        )
    return found


def _heading(text: str, y: float, theme: Theme) -> dict[str, Any]:
    return {
        "x": 0,
        "xref": "paper",
        "xanchor": "left",
        "y": y,
        "yref": "paper",
        "yanchor": "bottom",
        "text": html.escape(text),
        "showarrow": False,
        "font": {"size": 11, "color": theme.muted},
    }


def _written(value: float) -> str:
    return f"{value:,.2f}" if value < 100 and value != round(value) else f"{value:,.0f}"


def figure(one: Curves, words: Mapping[str, str] | None = None, *, theme: Theme = LIGHT) -> Figure:
    """The whole picture of one run."""
    drawn = skeleton(one, words or ENGLISH, theme=theme)
    high = one.clip * SPREAD
    norms = np.clip(one.gradient, one.clip / SPREAD, high)
    above = one.gradient > one.clip
    filled = {
        "train": (one.characters, one.train),
        "validation": (one.measured, one.validation),
        "held_out": (one.looked, one.held_out),
        "gradient": (one.characters, norms),
        "clipped": (one.characters[above], norms[above]),
        "rate": (one.characters, one.rate),
    }
    for trace in drawn["data"]:
        x, y = filled[trace["name"]]
        trace.update(x=x.tolist(), y=[v if math.isfinite(v) else None for v in y.tolist()])
    drawn["layout"]["height"] = 460
    return drawn


ENGLISH = {
    "uniform": "uniform guess",
    "unigram": "letter frequencies",
    "ngram": "n-gram",
    "gradient": "gradient norm",
    "rate": "learning rate",
}


# Several training runs in one chart.


def compared(
    several: Mapping[str, Curves], *, theme: Theme = LIGHT, title: str = "characters read"
) -> Figure:
    """Validation perplexity of several runs, by name; without it training perplexity, thin."""
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
                y=[v if math.isfinite(v) else None for v in y.tolist()],
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
