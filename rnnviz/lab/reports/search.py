"""What is shown of a search: its verdict with the grounds, and the best units beside their rivals."""

from collections.abc import Iterator
from operator import attrgetter

from rnnviz.findings import Bars, Number, Panel, Sentence, Table, count, interval_words, make_sentences, words
from rnnviz.lab.analysis.search_result import Search
from rnnviz.networks.verdicts import MIN_VERDICT_CHARS, Report, Rival, measured

MAX_BARS = 12
"""Bars of units in the picture, apart from the chosen one's."""

_SIGNS = {1: "+", -1: "−"}


def table(search: Search) -> Table:
    """One row."""
    best, evidence = search.best, search.evidence
    report = evidence.report if evidence is not None else None
    interval = report.interval if report is not None else evidence and evidence.interval
    context = _best_context(search)
    numbers = {
        "held-out": Number(best.score if search.held_out else None),
        "reported": Number(report.score if report is not None else None),
        "interval": words("range", low=Number(interval[0]), high=Number(interval[1]))
        if interval
        else Number(None),
        "chance": Number(search.chance if search.held_out else None),
        "above": count(len(search.above_chance) or None),
        "character": Number(search.character),
        "context": words("head.reached", k=context.number, score=Number(context.score))
        if context
        else Number(None),
        "untrained": Number(max(search.untrained, default=None)),
        "stable": Number(evidence.stability if evidence is not None else None, "whole percent"),
    }
    cells = (
        search.target,
        None if search.inside is None else Number(search.inside / search.characters, "percent"),
        measured(search.measure),
        f"{best.unit.layer}:Σ"
        if search.weighted
        else f"{_SIGNS[best.direction]}{best.unit.layer}:{best.unit.unit}",
        Number(best.ranked_by),
        *(numbers.values() if search.held_out else [Number(None)] * len(numbers)),
        _verdict_words(search),
    )
    heads = ("target", "share", "measure", "unit", "ranked-by", *numbers, "verdict")
    return Table([words(f"head.{name}") for name in heads], [cells])


def _verdict_words(search: Search) -> Sentence:
    """The verdict, for a table's cell."""
    verdict, rival = search.verdict, search.rival
    code = verdict.replace(" ", "-")
    if verdict == "short" and search.characters >= MIN_VERDICT_CHARS:
        code = "too-rare"
    elif verdict in ("character", "untrained") and rival is not None and rival.suffices:
        code = f"{verdict}-surely"
    return words(f"brief.{code}", enough=count(MIN_VERDICT_CHARS), k=rival.number if rival else None)


def _best_context(search: Search) -> Rival | None:
    """The highest-scoring context."""
    rivals = search.evidence.rivals if search.evidence is not None else ()
    contexts = [rival for rival in rivals if rival.kind == "context"]
    return max(contexts, key=lambda rival: rival.score, default=None)


def sentences(search: Search) -> list[Sentence]:
    """The verdict and its grounds."""
    evidence, report = search.evidence, _confirmed_report(search)
    interval = report.interval if report else evidence and evidence.interval
    rivals = (report or evidence).rivals if evidence else ()
    # The best of each kind: a later one takes the place of an earlier one.
    rivals_by_kind = {rival.kind: rival for rival in sorted(rivals, key=attrgetter("score"))}
    measured_rivals = evidence.rivals if evidence else ()
    # Where no rival is unbeaten the sentence names the one that came nearest: the lowest end of a lead.
    closest = min(measured_rivals, key=lambda rival: (rival.low or 0.0, -rival.score), default=None)
    rival, simplest, context = search.strongest or closest, search.rival, rivals_by_kind.get("context")
    lines = make_sentences(
        _codes(search),
        unit=search.best.unit.unit,
        best=words("unit", n=search.best.unit.unit) if search.weighted is None else words("weighted"),
        measure=measured(search.measure),
        score=Number(report.score if report else search.best.score),
        interval=interval_words(*interval) if interval else Number(None),
        chance=Number(search.chance),
        character=_rival_score(rivals_by_kind.get("character")),
        untrained=_rival_score(rivals_by_kind.get("untrained")),
        context=_rival_score(context),
        k=context.number if context else None,
        rival=_rival_score(rival),
        number=rival.number if rival else None,
        lead=interval_words(rival.low, rival.high) if rival else Number(None),
        simplest=_rival_score(simplest),
        few=simplest.number if simplest else None,
        stable=Number(evidence.stability if evidence is not None else None, "whole percent"),
        n=count(search.characters),
        enough=count(MIN_VERDICT_CHARS),
        **(
            {}
            if search.weighted is None
            else {"units": count(len(search.weighted.weights)), "verdict": _verdict_words(search)}
        ),
    )
    if search.verdict not in ("short", "same text", "nothing") and search.weighted is None:
        lines.append(words("search.above-chance", n=count(len(search.above_chance))))
    return lines


def _confirmed_report(search: Search) -> Report | None:
    """The report, where the verdict is "remembers"."""
    return search.evidence.report if search.verdict == "remembers" and search.evidence is not None else None


def _codes(search: Search) -> Iterator[str]:
    """Codes of the true sentences, in their order."""
    verdict, strongest, rival = search.verdict, search.strongest, search.rival
    if verdict in ("short", "same text", "nothing"):
        short = "too-short" if search.characters < MIN_VERDICT_CHARS else "too-rare"
        yield f"search.{short if verdict == 'short' else verdict.replace(' ', '-')}"
        return
    if search.evidence is None:
        yield from ("search.first", "search.not-compared")
        return
    if search.weighted is not None:
        yield from ("search.weighted", "search.weighted-beside")
        return
    yield "search.first-reported" if _confirmed_report(search) is not None else "search.first-measured"
    if strongest is not None:
        yield f"search.behind-{strongest.kind}"
        if rival is not None and rival.kind != strongest.kind:
            yield f"search.nor-{rival.kind}"
    else:
        yield {"chance": "search.chance-only", "remembers": "search.remembers"}.get(verdict, "search.open")
    if search.evidence.stability is not None:
        yield "search.stable"


def about(search: Search, unit: int) -> Sentence | None:
    """The score of a unit other than the best-ranked one; None for that one."""
    result = next((candidate for candidate in search.found if candidate.unit.unit == unit), search.best)
    if result is search.best:
        return None
    scores = {"score": Number(result.score), "ranked": Number(result.ranked_by)}
    return words("search.unit", unit=unit, measure=measured(search.measure), **scores)


def panels(search: Search, chosen: int | None = None) -> list[Panel]:
    """Bars of the best units, and of the `chosen` one, beside the rivals' scores."""
    listed = list(search.found[:MAX_BARS])
    # The reader's unit gets a bar of its own below the best ones.
    if all(candidate.unit.unit != chosen for candidate in listed):
        listed += [candidate for candidate in search.found if candidate.unit.unit == chosen][:1]
    context, mask = _best_context(search), search.measure == "AUC"
    levels: list[tuple[Sentence, float | None]] = [
        (words("search.level-chance"), search.chance if search.held_out else None),
        (words("search.level-character"), search.character),
        *([(words("search.level-context", k=context.number), context.score)] if context else []),
        (words("search.level-untrained"), max(search.untrained, default=None)),
    ]
    kind = "" if search.held_out else "-same-text"
    signs = "search.notice-mask" if mask else "search.notice-graded"
    return [
        Panel(
            "ranking",
            words(f"search.title{kind}"),
            Bars(
                [
                    f"{_SIGNS[candidate.direction]} {candidate.unit.unit}"
                    if search.weighted is None
                    else f"Σ {n}"
                    for n, candidate in enumerate(listed, 1)
                ],
                [candidate.score for candidate in listed],
                measured(search.measure),
                [(name, value) for name, value in levels if value is not None],
                first=0.5 if mask else 0.0,
                last=1.0 if mask else None,
                chosen=next((n for n, candidate in enumerate(listed) if candidate.unit.unit == chosen), None),
            ),
            make_sentences(
                (f"search.notice{kind}", signs, "search.notice-click"), enough=count(MIN_VERDICT_CHARS)
            ),
            words("search.limits"),
            pick="bar",
            picks=[candidate.unit.unit for candidate in listed],
        )
    ]


def _rival_score(rival: Rival | None) -> Number:
    return Number(None if rival is None else rival.score)
