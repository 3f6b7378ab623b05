"""What is shown of matches, and of the pattern that they share."""

from collections.abc import Iterator
from typing import Literal

from rnnviz.arrays import Floats
from rnnviz.findings import (
    Heat,
    Number,
    Panel,
    Sentence,
    Table,
    Value,
    count,
    interval_words,
    make_sentences,
    words,
)
from rnnviz.lab.analysis.matching import CHARS_AFTER, CHARS_BEFORE, Ending, Matches, Pattern
from rnnviz.text.characters import visible

MAX_NAMED = 30
"""Units of a pattern, and characters of an ending, that a sentence names."""


def table(matches: Matches) -> Table:
    """A row a place: units, length, context, and the most probable next characters."""
    rows: list[list[Value]] = [
        [
            count(match.start),
            count(match.overlap),
            count(len(match)),
            _visible_text(match.before[-CHARS_BEFORE // 2 :]),
            _visible_text(match.text),
            _visible_text(match.after[: CHARS_AFTER // 2]),
            " ".join(f"{visible(symbol)} {p:.0%}" for symbol, p in match.next[:3]),
        ]
        for match in matches.found
    ]
    heads = ("at", "units", "length", "before", "match", "after", "next")
    return Table([words(f"head.{name}") for name in heads], rows)


def sentences(matches: Matches) -> list[Sentence]:
    """The number of places, their endings, and the same for untrained copies."""
    passage, ending, beside = matches.passage, matches.ending, matches.untrained
    shares = beside.shares if beside else ()
    low, high = (min(beside.units), max(beside.units)) if beside else (0, 0)
    return make_sentences(
        _codes(matches),
        needed=matches.needed,
        all=len(matches.pattern),
        least=count(matches.least),
        share=Number(100 * matches.share, "significant", 2),
        characters=count(matches.characters),
        shown=len(matches.found),
        passage=_ending_text(passage),
        inside=passage and passage.inside,
        everywhere=_percent(passage),
        ending=_ending_text(ending),
        ends=ending and ending.inside,
        anywhere=_percent(ending),
        copies=beside and len(beside.units),
        units=count(low) if low == high else interval_words(low, high, digits=0),
        first=count(beside.characters if beside else None),
        own=beside and beside.own,
        theirs=beside and beside.matches,
        a=shares and shares[0].own,
        b=shares and shares[0].untrained,
        c=shares and shares[-1].own,
        d=shares and shares[-1].untrained,
    )


def _codes(matches: Matches) -> Iterator[str]:
    if not matches.found:
        yield "match.nowhere"
        return
    yield "match.places"
    if matches.passage is None or matches.ending is None:
        return
    shorter = matches.ending.text != matches.passage.text
    yield "match.passage"
    if shorter:
        yield "match.ending"
    beside = matches.untrained
    if beside is not None:
        yield "match.control"
        if beside.own and beside.matches:
            yield "match.both"
            if shorter:
                yield "match.both-ending"
            yield "match.alike"
        else:
            # One of the two has no match, so that their shares can't be compared.
            yield "match.copies-alone" if beside.matches else "match.no-copy"
    yield "match.few"
    yield "match.rows"


def _percent(ending: Ending | None) -> Number:
    """The share of all places, in percent; it may be very small."""
    return Number(None if ending is None else 100 * ending.everywhere, "significant", 2)


def _visible_text(text: str) -> str:
    """A text with marks for invisible characters other than spaces."""
    # Spaces stay spaces here: a context full of dots would be hard to read.
    return "".join(c if c.isprintable() else visible(c) for c in text)


def _ending_text(ending: Ending | None) -> str:
    text = "".join(map(visible, ending.text)) if ending else ""
    return text if len(text) <= MAX_NAMED else f"…{text[-MAX_NAMED:]}"


def pattern_words(pattern: Pattern, edges: int = 0) -> Sentence:
    """The units that are on, in words; or that none is on throughout the passage and off within `edges`
    of it.
    """
    layers = any(unit.layer for unit in pattern.units)
    pairs = zip(pattern.units, pattern.signs, strict=True)
    names = [
        ("+" if sign > 0 else "−") + (f"{unit.layer}:{unit.unit}" if layers else f"{unit.unit}")
        for unit, sign in sorted(pairs)
    ]
    code = "match.units" if names else "match.margin" if edges else "match.none"
    listed = names if len(names) <= MAX_NAMED else [*names[:MAX_NAMED], "…"]
    return words(code, n=count(len(pattern)), units=", ".join(listed), length=count(pattern.length), k=edges)


def pattern_panel(
    pattern: Pattern, states: Floats, scale: tuple[Literal["diverging", "sequential"], float, float]
) -> Panel:
    """A heat map of the pattern's units in the layer's `states` (T, H), those above 0 first; all units
    for an empty pattern.
    """
    kind = "" if pattern.units else "-none"
    # Sorting is stable: within either side of 0 the units keep their order.
    order = sorted(range(len(pattern)), key=lambda k: -pattern.signs[k])
    names = [pattern.units[k].unit for k in order] or list(range(states.shape[1]))
    values = states[:, names]
    axes = words("match.character"), words("head.unit")
    return Panel(
        "pattern",
        words(f"match.title{kind}"),
        Heat(values.T, scale, *axes, names=names, places="x"),
        [words(f"match.notice{kind}")],
        words("match.limits"),
        link="x",
        pick="at",
    )
