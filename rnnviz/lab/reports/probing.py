"""What is shown of a probe: its verdict, and the scores of few units beside that of all."""

from collections.abc import Iterator

import numpy as np

from rnnviz.findings import Bars, Number, Panel, Sentence, Table, make_sentences, one_row, words
from rnnviz.lab.analysis.probing import HOLDING_SHARE, SUBSET_SIZES, Probe
from rnnviz.networks.verdicts import MIN_VERDICT_CHARS, measured


def table(probe: Probe) -> Table:
    """One row."""
    scores_by_size = {len(subset.units): subset.score for subset in probe.few}
    context = probe.context
    code = "too-rare" if probe.verdict == "short" and probe.characters >= MIN_VERDICT_CHARS else probe.verdict
    k = context.number if context else None
    verdict = words(f"brief.{code.replace(' ', '-')}", enough=Number(MIN_VERDICT_CHARS, "count"), k=k)
    return one_row(
        (words("head.target"), probe.target),
        (words("head.measure"), measured(probe.measure)),
        (words("head.all-units"), Number(probe.score)),
        *((words("head.best", n=n), Number(scores_by_size.get(n))) for n in SUBSET_SIZES),
        (words("head.control"), Number(_control(probe))),
        (words("head.character"), Number(probe.character)),
        (words("head.context"), Number(context.score if context else None)),
        (words("head.untrained"), Number(max(probe.untrained, default=None))),
        (words("head.held-by"), words(f"held.{probe.held}") if probe.held else Number(None)),
        (words("head.verdict"), verdict),
    )


def sentences(probe: Probe) -> list[Sentence]:
    """The verdict and its grounds."""
    context, pairs = probe.context, zip(probe.few, probe.shares, strict=True)
    enough = next((subset for subset, share in pairs if share >= HOLDING_SHARE), probe.few[-1])
    low, high = probe.interval or (None, None)
    return make_sentences(
        _codes(probe),
        units=probe.weights.size,
        measure=measured(probe.measure),
        score=Number(probe.score),
        unit=probe.few[0].units[0].unit,
        one=Number(probe.few[0].score),
        k=len(enough.units),
        few=Number(enough.score),
        control=Number(_control(probe)),
        low=Number(low),
        high=Number(high),
        copies=len(probe.untrained),
        untrained=Number(max(probe.untrained, default=None)),
        character=Number(probe.character),
        last=context.number if context else None,
        context=Number(context.score if context else None),
        least=Number(context.low if context else None),
        most=Number(context.high if context else None),
    )


def _codes(probe: Probe) -> Iterator[str]:
    """Codes of the true sentences, in their order."""
    context, verdict = probe.context, probe.verdict
    if verdict == "short":
        yield "probe.short"
        return
    yield f"probe.{probe.held or 'nothing'}"
    if probe.interval is not None:
        yield "probe.interval"
    if verdict != "nothing":
        yield "probe.control-mask" if probe.measure == "AUC" else "probe.control-graded"
    if probe.untrained:
        yield "probe.copies"
    if verdict in ("character", "context"):
        yield f"probe.behind-{verdict}"
    elif verdict == "learned" and context is not None and context.low is None:
        yield "probe.unsure"
    elif verdict != "nothing" and context is not None and context.low is not None:
        yield "probe.ahead"
    if verdict == "untrained":
        yield "probe.behind-untrained"


def panels(probe: Probe) -> list[Panel]:
    """The scores of the best 1, 2, 4 and 8 units beside that of all units."""
    context = probe.context
    levels = [
        (words("probe.level-control"), max(probe.control, default=None)),
        (words("search.level-character"), probe.character),
        *([(words("probe.level-context", k=context.number), context.score)] if context else []),
        (words("probe.level-untrained"), max(probe.untrained, default=None)),
    ]
    names = [*(str(len(subset.units)) for subset in probe.few), words("probe.all", n=probe.weights.size)]
    picture = Bars(
        names,
        [*(subset.score for subset in probe.few), probe.score],
        measured(probe.measure),
        [(name, value) for name, value in levels if value is not None],
        first=probe.floor,
        last=1.0 if probe.measure == "AUC" else None,
        chosen=len(names) - 1,
    )
    title, notice, limits = (words(f"probe.{name}") for name in ("title", "notice", "limits"))
    return [Panel("probe", title, picture, [notice], limits)]


def _control(probe: Probe) -> float | None:
    """The mean score of the control task; None without one."""
    return float(np.mean(probe.control)) if probe.control else None
