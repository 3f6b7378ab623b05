"""What is shown of a unit's card: its extremes, its values, what moves it and what it favours."""

from rnnviz.findings import (
    Bars,
    Histogram,
    Number,
    Panel,
    Picture,
    Sentence,
    Table,
    count,
    make_sentences,
    words,
)
from rnnviz.lab.analysis.scanning import Pushes, UnitReport
from rnnviz.text.characters import visible


def table(card: UnitReport) -> Table:
    """The characters where the unit is highest, then lowest, with their context."""
    columns = [words(f"head.{name}") for name in ("position", "value", "text")]
    rows = [
        (count(context.position), Number(context.value, digits=2), context.text)
        for context in (*card.top, *card.bottom)
    ]
    return Table(columns, rows)


def sentences(card: UnitReport) -> list[Sentence]:
    """The unit's mean and range."""
    n = count(int(card.counts.sum()))
    mean, low, high = (Number(x, digits=2) for x in (card.mean, card.lowest, card.highest))
    return make_sentences(["unit.read"], n=n, mean=mean, low=low, high=high)


def panels(card: UnitReport) -> list[Panel]:
    """The distribution of values, the characters that move the unit, and the next ones it favours."""
    values = Histogram(card.counts, card.edges, words("unit.value"), words("unit.share"))
    moved = Bars(
        [visible(move.character) for move in card.moves],
        [move.change for move in card.moves],
        words("unit.change"),
    )
    pictures: list[tuple[str, Picture]] = [
        ("histogram", values),
        *([("moves", moved)] if card.moves else []),
    ]
    panels = [
        Panel(
            name,
            words(f"unit.{name}"),
            picture,
            [words(f"unit.{name}-notice")],
            words(f"unit.{name}-limits"),
        )
        for name, picture in pictures
    ]
    if card.raises or card.lowers:
        title = words("unit.pushes", name=words("unit", n=card.unit.unit))
        panels.append(pushes_panel(title, card.raises, card.lowers))
    return panels


def pushes_panel(title: Sentence, raises: Pushes, lowers: Pushes) -> Panel:
    """Bars of the next characters that a unit favours and suppresses."""
    # Favoured characters above, most suppressed at the bottom; a unit at 0 pushes nothing, and gets one
    # empty bar.
    rows = [*raises, *reversed(lowers)] or [("–", 0.0)]
    bars = Bars([visible(symbol) for symbol, _ in rows], [nats for _, nats in rows], words("unit.nats"))
    return Panel("pushes", title, bars, [words("unit.pushes-notice")], words("unit.pushes-limits"))
