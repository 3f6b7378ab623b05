"""What is shown of several networks on one text."""

from rnnviz.findings import Bars, Lines, Number, Panel, Sentence, Table, count, make_sentences, words
from rnnviz.lab.analysis.comparison import Comparison
from rnnviz.scoring.trace import Trace
from rnnviz.text.characters import visible

MAX_NEXT_CHARS = 8
"""Characters named for each network's next prediction."""


def table(comparison: Comparison) -> Table:
    """A row a network."""
    return Table(
        [words(f"head.{name}") for name in ("network", "perplexity", "unknown")],
        [
            (network["model"], Number(network["perplexity"], "perplexity", 2), count(network["unknown"]))
            for network in comparison.facts()["networks"]
        ],
    )


def sentences(comparison: Comparison) -> list[Sentence]:
    """The network with the lowest perplexity."""
    if len(comparison.traces) < 2 or not comparison.text:
        return []
    best = min(comparison.facts()["networks"], key=lambda network: network["perplexity"])
    perplexity = Number(best["perplexity"], "perplexity", 2)
    return make_sentences(
        ["compare.lowest"],
        characters=count(len(comparison.text)),
        model=best["model"],
        perplexity=perplexity,
    )


def panels(comparison: Comparison, at: int | None = None) -> list[Panel]:
    """Running perplexity, and each network's prediction after character `at`, counted from 0; None: the
    last character.
    """
    row = len(comparison.text) if at is None else at + 1
    running = Panel(
        "running",
        words("compare.running"),
        Lines(
            [(read.model_name, read.perplexity) for read in comparison.traces],
            words("axis.character"),
            words("axis.perplexity"),
            log=True,
            places=True,
        ),
        [words("compare.running-notice")],
        words("compare.running-limits"),
        link="x",
        pick="at",
    )
    return [running, *(_next(read, row) for read in comparison.traces)]


def _next(read: Trace, row: int) -> Panel:
    expected = read.top(row, MAX_NEXT_CHARS)
    return Panel(
        f"next-{read.model_name}",
        words("compare.next", model=read.model_name, at=count(row)),
        Bars(
            [visible(character) for character, _probability in expected],
            [probability for _character, probability in expected],
            words("axis.probability"),
            last=1.0,
        ),
        [words("compare.next-notice")],
        words("compare.next-limits"),
    )
