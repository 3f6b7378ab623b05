"""What is shown of a patch beside its controls."""

from collections.abc import Iterator

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.findings import Lines, Number, Pair, Panel, Picture, Sentence, Table, count, make_sentences, words
from rnnviz.lab.analysis.patching import PatchControls
from rnnviz.scoring.trace import Trace
from rnnviz.text.characters import visible


def table(controls: PatchControls) -> Table:
    """A row a prediction of the target from the patch on."""
    heads = ("after", "letter", "kl-nats", "loss-nats", "expected", "patched")
    rows = [
        (
            count(prediction["after"]),
            visible(prediction["character"] or ""),
            Number(prediction["kl"]),
            None if prediction["loss"] is None else Number(prediction["loss"], "signed"),
            _expected_words(*prediction["expected"]),
            _expected_words(*prediction["expected_patched"]),
        )
        for prediction in controls.facts()["predictions"]
    ]
    return Table([words(f"head.{name}") for name in heads], rows)


def sentences(controls: PatchControls) -> list[Sentence]:
    """The patch's effect beside the controls, and the permitted conclusion."""
    along = controls.patched.part.direction
    random, low, high = (
        # Without an unrelated text there are no patches from elsewhere.
        float(np.quantile(nats, share)) if len(nats) else None
        for nats, share in ((controls.random, 0.95), (controls.elsewhere, 0.05), (controls.elsewhere, 0.95))
    )
    return make_sentences(
        _codes(controls, random or 0.0, high),
        direction=along and along.name,
        origin=along and along.origin,
        next=_nats_number(controls.patched.divergence[controls.patched.to]),
        kl=_nats_number(controls.kl),
        ahead=controls.ahead,
        random=_nats_number(random),
        low=_nats_number(low),
        high=_nats_number(high),
    )


def _codes(controls: PatchControls, random: float, elsewhere: float | None) -> Iterator[str]:
    """Codes of the true sentences. `random` and `elsewhere` are the controls' 95 % quantiles, nats."""
    if controls.patched.part.direction is not None:
        yield "patch.along"
    if controls.patched.moved == 0:
        yield from ("patch.same", "patch.same-click")
        return
    yield from ("patch.moves", "patch.random")
    if elsewhere is not None:
        yield from ("patch.elsewhere", "patch.elsewhere-here")
    if controls.kl <= random:
        # The weaker control first: a patch that does no more than noise needs no comparison with other
        # places.
        yield "patch.no-more-than-random"
    elif elsewhere is not None and controls.kl <= elsewhere:
        yield "patch.no-more-than-elsewhere"


def panels(controls: PatchControls) -> list[Panel]:
    """The next prediction without and with the patch, and KL_t of the later ones."""
    done = controls.patched
    curves: list[tuple[object, Doubles]] = [
        (words("patch.itself"), done.divergence[done.to : done.to + controls.ahead]),
        (words("patch.level-random"), np.quantile(controls.random_each, 0.95, axis=0)),
    ]
    if len(controls.elsewhere_each):
        curves.append((words("patch.level-elsewhere"), np.median(controls.elsewhere_each, axis=0)))
    pictures: dict[str, Picture] = {
        "next": expected_pair(done.into, done.after, done.to, (words("patch.without"), words("patch.with"))),
        "lines": Lines(curves, words("patch.lines-axis"), words("patch.kl-axis"), first=done.to),
    }
    return [
        Panel(
            name,
            words(f"patch.{name}-title"),
            picture,
            [words(f"patch.{name}-notice")],
            words(f"patch.{name}-limits"),
        )
        for name, picture in pictures.items()
    ]


def expected_pair(first: Trace, second: Trace, t: int, labels: tuple[object, object]) -> Pair:
    """The ten characters most probable in either of two readings after `t` characters; `labels` name the
    readings.
    """
    before, after = (np.exp(read.log_probs_at(t, t + 1)[0].astype(np.float64)) for read in (first, second))
    # By the larger of the two: a character that the patch alone expects is among them too.
    order = np.argsort(-np.maximum(before, after), kind="stable")[:10]
    symbols = [visible(first.vocabulary.symbol(int(i))) for i in order]
    return Pair(symbols, before[order], after[order], labels, words("axis.probability"))


def _expected_words(character: str, probability: float) -> Sentence:
    return words("expected", character=visible(character), percent=Number(100 * probability, digits=1))


def _nats_number(value: float | None) -> Number:
    return Number(value, "significant")
