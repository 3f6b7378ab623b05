"""The article's figures, drawn from its numbers alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from drawing import WIDTH, Chart, Panel
from measuring import CELLS, CONTEXTS, LAGS, of_passages

from rnnviz.figures.themes import Theme
from rnnviz.text.characters import visible

Numbers = dict[str, Any]
NAMES = {"mlp": "MLP", "rnn": "RNN", "gru": "GRU", "lstm": "LSTM", "mingru": "minGRU", "6gram": "6-gram"}


def letter(numbers: Numbers, theme: Theme) -> str:
    """How long a changed letter matters, a panel a cell, beside the network before training."""
    chart = Chart(theme, 290, "How long one changed letter matters, by cell, trained and untrained")
    xs = [lag + 1 for lag in LAGS]
    for n, cell in enumerate(CELLS):
        panel = Panel(chart, (64 + n * 180, 40, 156, 180), (1, 65), (1e-5, 20), "xy")
        ticks = {10.0: "10", 0.1: "0.1", 0.001: "0.001", 1e-5: "0.00001"}
        panel.axes(
            {1: "0", 5: "4", 17: "16", 65: "64"}, ticks if n == 0 else dict.fromkeys(ticks, ""), NAMES[cell]
        )
        for trained, colour, dash in ((False, theme.muted, "4 3"), (True, theme.runs[0], "")):
            rows = np.array(numbers["letter"][cell]["trained" if trained else "untrained"])
            found = of_passages(rows)
            seen = [k for k in range(len(LAGS)) if found.estimate[k] > 1e-5]
            at = [xs[k] for k in seen]
            if len(at) > 1:
                panel.band(at, found.low[seen].tolist(), found.high[seen].tolist(), colour)
                panel.line([*zip(at, found.estimate[seen].tolist(), strict=True)], colour, dash=dash)
            elif at:
                panel.dot(at[0], float(found.estimate[seen[0]]), colour, hollow=not trained)
    chart.text(
        WIDTH / 2, 262, "characters read since the changed one", anchor="middle", colour=theme.muted, size=12
    )
    chart.text(
        14,
        282,
        "bits (KL); dashed: before training; bands: 95 % intervals; lines end where 0.00001 bits are left",
        colour=theme.muted,
        size=12,
    )
    return chart.svg()


def context(numbers: Numbers, theme: Theme) -> str:
    """Perplexity by how many characters a prediction could see."""
    chart = Chart(
        theme, 380, "Perplexity by the number of characters a model has read, by cell and for a 6-gram"
    )
    panel = Panel(chart, (60, 30, 720, 290), (0.6, 128), (3.8, 80), "xy")
    xs = [max(n, 0.6) for n in CONTEXTS]
    panel.axes(
        {x: str(n) for x, n in zip(xs, CONTEXTS, strict=True)},
        {v: str(v) for v in (4, 5, 7, 10, 20, 40, 80)},
        "perplexity",
        "characters that the model has read before the one it predicts",
    )
    ends = []
    for n, cell in enumerate((*CELLS, "6gram")):
        rows = np.array([numbers["context"][cell][str(k)] for k in CONTEXTS]).T
        found, colour = of_passages(rows), theme.runs[n]
        panel.band(xs, np.exp(found.low).tolist(), np.exp(found.high).tolist(), colour)
        panel.line(
            [*zip(xs, np.exp(found.estimate).tolist(), strict=True)],
            colour,
            dash="6 3" if cell == "6gram" else "",
        )
        ends.append(
            (
                panel.Y(float(np.exp(found.estimate[-1]))),
                f"{NAMES[cell]} {np.exp(found.estimate[-1]):.2f}",
                colour,
            )
        )
    above = 1000.0
    for y, words, colour in sorted(ends, reverse=True):
        above = min(y + 4, above - 16)
        chart.text(790, above, words, colour=colour)
    return chart.svg()


def told(numbers: Numbers, theme: Theme) -> str:
    """What one unit and a linear reading of all of them tell, beside what is simpler."""
    chart = Chart(
        theme,
        330,
        "How well units tell the place in the line and an open quotation, by cell, beside controls",
    )
    for n, (kind, title, ends, ticks) in enumerate(
        (
            ("line-position", "place in the line: correlation", (0.0, 1.0), (0, 0.25, 0.5, 0.75, 1)),
            ("quotes", "inside a quotation: AUC, 0.5 is chance", (0.3, 1.0), (0.3, 0.5, 0.7, 1)),
        )
    ):
        panel = Panel(chart, (120 + n * 440, 40, 370, 230), ends, (5, 0))
        panel.axes({v: f"{v:g}" for v in ticks}, {}, title)
        rival = max(one["probe context"] for one in numbers["told"][kind].values())
        panel.line([(rival, 0), (rival, 5)], theme.ngram, dash="5 4")
        chart.text(panel.X(rival) + 5, 52, "the last 8 characters", colour=theme.ngram, size=12)
        for row, cell in enumerate(CELLS):
            found = numbers["told"][kind][cell]
            if n == 0:
                chart.text(108, panel.Y(row + 0.5) + 4, NAMES[cell], anchor="end")
            for y, score, interval, other, colour in (
                (row + 0.32, found["score"], found["interval"], found["untrained"], theme.runs[0]),
                (
                    row + 0.68,
                    found["probe"],
                    found["probe interval"],
                    found["probe untrained"],
                    theme.runs[3],
                ),
            ):
                if score is None:
                    continue
                if interval:
                    panel.line([(interval[0], y), (interval[1], y)], colour)
                if other is not None:
                    panel.dot(other, y, theme.muted, hollow=True)
                panel.dot(score, y, colour)
    chart.text(120, 314, "● one unit", colour=theme.runs[0], size=12)
    chart.text(210, 314, "● all units, by a linear probe", colour=theme.runs[3], size=12)
    chart.text(
        400,
        314,
        "○ the same before training, best of three copies; lines: 95 % intervals",
        colour=theme.muted,
        size=12,
    )
    return chart.svg()


def counter(numbers: Numbers, theme: Theme) -> str:
    """The unit's value along the same words, in lines of three widths."""
    chart = Chart(theme, 430, "One unit's value along the same words in lines of 70, 40 and 100 characters")
    for n, (name, found) in enumerate(numbers["counter"].items()):
        text, values = found["text"], found["value"]
        high = float(np.ceil(max(values)))
        panel = Panel(chart, (60, 34 + n * 130, 880, 82), (0, len(values)), (0, high))
        panel.axes({}, {0: "0", high: f"{high:g}"}, f"lines of at most {name} characters")
        for at in (t for t, character in enumerate(text) if character == "\n"):
            panel.line([(at, 0), (at, high)], theme.ngram, width=1)
            chart.text(
                panel.X(at), panel.Y(0) + 14, visible("\n"), anchor="middle", colour=theme.ngram, size=12
            )
        panel.line([*enumerate(values)], theme.runs[0], width=1.5)
    chart.text(
        60, 424, "each of 400 characters; ⏎ and the lines through it: line ends", colour=theme.muted, size=12
    )
    return chart.svg()


def held(numbers: Numbers, theme: Theme) -> str:
    """What becomes of line ends when a unit is held as it is where a line begins."""
    chart = Chart(
        theme, 230, "Probability of a line end and line ends written, with one unit held and with others held"
    )
    found = numbers["held"]
    for n, (name, title, high, ticks) in enumerate(
        (
            ("read", "P(line end) where a line did end", 0.4, (0, 0.1, 0.2, 0.3, 0.4)),
            ("written", "line ends among 1,000 characters that it writes", 35, (0, 10, 20, 30)),
        )
    ):
        panel = Panel(chart, (150 + n * 420, 40, 350, 130), (0, high), (3, 0))
        panel.axes({v: f"{v:g}" for v in ticks}, {}, title)
        values = found[name]
        for row, (words, group, colour) in enumerate(
            (
                ("unchanged", [values["plain"]], theme.text),
                ("the counter held", [values["held"]], theme.runs[0]),
                ("another unit held", values["others"], theme.muted),
            )
        ):
            if n == 0:
                chart.text(138, panel.Y(row + 0.5) + 4, words, anchor="end")
            for value in group:
                panel.dot(value, row + 0.5, colour, hollow=row == 2)
    chart.text(
        150,
        218,
        "each hollow dot is one of 20 other units of the same layer, held in the same way",
        colour=theme.muted,
        size=12,
    )
    return chart.svg()


FIGURES: dict[str, Callable[[Numbers, Theme], str]] = {
    one.__name__: one for one in (letter, context, told, counter, held)
}
