"""The control of a search: the same search in untrained copies of the network.

untrained(model)            untrained copies of a network; fresh= initialises them
echoes(model, text, …)      the best unit's values in each copy, one copy in memory at a time
controlled(model, trace, …) searches for several targets, each with its evidence
find(model, text, what)     all of this in one call
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypedDict, TypeVar, Unpack, overload

import numpy as np

from rnnviz.arrays import Array, Floats
from rnnviz.checks import checked
from rnnviz.errors import ConfigError
from rnnviz.lab.analysis.activations import activations
from rnnviz.lab.analysis.evidence import add_evidence, needs_fits
from rnnviz.lab.analysis.probing import random_labels, weighted_sums
from rnnviz.lab.analysis.search_result import Replication, Search, holm, min_shifts
from rnnviz.lab.analysis.searching import DEFAULT_SHIFTS, Searcher
from rnnviz.lab.analysis.targets import Target
from rnnviz.lab.analysis.targets import target as make_target
from rnnviz.lab.engines import untrained as networks
from rnnviz.lab.engines.untrained import Fresh
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.networks.progress import Progress, Reporter, part
from rnnviz.networks.verdicts import UNTRAINED_COPIES
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import trace_long_text
from rnnviz.text.characters import normalise
from rnnviz.text.decoding import TextOrPath, text_of

Sought = str | Target | Array
W = TypeVar("W", bound=Sought)


MAX_FITTING_CHARS = 60_000
"""Characters of a text to which weighted sums are fitted, at most, for a card."""

READING_SHARE, COPIES_SHARE = 0.2, 0.7
"""The share of the work that reading takes; and the share of the rest that the copies take."""


@checked
def untrained(model: Network, copies: int = UNTRAINED_COPIES, *, fresh: Fresh | None = None) -> list[Network]:
    """So many networks of the shape of `model` with random weights, always the same ones.

    A network that rnnviz trained began with weights like theirs. For any other network the copies have
    torch's default initial weights. Where yours began with others, give `fresh`, a function of a seed that
    adapts a new network. Raises ConfigError where `fresh` returns a network of another shape or vocabulary.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> model = rnnviz.load("timemachine-gru")
    >>> trace = rnnviz.trace(model, "The Time Traveller smiled at us. " * 9)
    >>> copies = [rnnviz.trace(copy, trace.text) for copy in units.untrained(model)]
    >>> found = units.probe(trace, "word-start", untrained=copies)
    >>> found.verdict, len(found.untrained)
    ('short', 3)
    """
    return [networks.untrained(model, seed, fresh) for seed in range(copies)]


def echoes(
    model: Network,
    text: str,
    targets: Sequence[Target],
    *,
    layer: int | None = None,
    quantity: str = "hidden",
    edges: int = 0,
    copies: int = UNTRAINED_COPIES,
    fresh: Fresh | None = None,
    progress: Progress | None = None,
) -> list[tuple[Floats, ...]]:
    """For each of `targets` the values (T,) of each untrained copy's best-ranked unit, signed: higher where
    the target holds.

    `text` is normalised, as `Trace.text` is, and as long as the targets. Graded targets ignore `edges`;
    `fresh` is that of `untrained`. Raises the errors of `Searcher.search`.
    """
    by_copy = []
    for number, copy in enumerate(untrained(model, copies, fresh=fresh)):
        traced = trace_long_text(copy, text, part(progress, number / copies, (number + 1) / copies))
        searcher = Searcher(traced, layer=layer, quantity=quantity)
        columns = [searcher.best_column(target, 0 if target.graded else edges) for target in targets]
        by_copy.append([column.astype(np.float32) for column in columns])
    return list(zip(*by_copy, strict=True)) if by_copy else [() for _ in targets]


def controlled(
    model: Network,
    traced: Trace,
    targets: Sequence[Target],
    *,
    layer: int | None = None,
    quantity: str = "hidden",
    edges: int = 0,
    shifts: int = DEFAULT_SHIFTS,
    seed: int = 0,
    copies: int = UNTRAINED_COPIES,
    fresh: Fresh | None = None,
    progress: Progress | None = None,
) -> list[Search | None]:
    """A search of `traced`, by `model`, for each of `targets`, with its evidence; None for a constant target.
    The searches form a family, see `holm`. Arguments and errors as in `search` and `echoes`.
    """
    needs_fits()
    report = Reporter(progress)
    searcher = Searcher(traced, layer=layer, quantity=quantity, seed=seed)
    varying = [target for target in targets if target.varies or not len(target)]
    edge_widths = [0 if target.graded else edges for target in varying]
    searches = []
    for target, width in zip(varying, edge_widths, strict=True):
        searches.append(searcher.search(target, edges=width, shifts=shifts))
        report(0.0)
    columns = echoes(
        model,
        traced.text,
        varying,
        layer=layer,
        quantity=quantity,
        edges=edges,
        copies=copies,
        fresh=fresh,
        progress=part(progress, 0.0, COPIES_SHARE),
    )
    searches_with_evidence = []
    for target, search, width, copy_values in zip(varying, searches, edge_widths, columns, strict=True):
        searches_with_evidence.append(add_evidence(searcher, search, target, copy_values, edges=width))
        report(COPIES_SHARE + (1 - COPIES_SHARE) * len(searches_with_evidence) / len(varying))
    remaining = iter(searches_with_evidence)
    return [next(remaining) if target.varies or not len(target) else None for target in targets]


def weighted(
    model: Network,
    traced: Trace,
    targets: Sequence[Target],
    fitting: Trace,
    fitting_targets: Sequence[Target],
    *,
    layer: int | None = None,
    quantity: str = "hidden",
    edges: int = 0,
    shifts: int = DEFAULT_SHIFTS,
    seed: int = 0,
    copies: int = UNTRAINED_COPIES,
    fresh: Fresh | None = None,
    progress: Progress | None = None,
) -> list[Search | None]:
    """As `controlled`, of weighted sums of a layer's units in place of units.

    They are fitted to the text `fitting`, by `model` too, and its targets; the searched text chooses one of
    their penalties and layers on its first part. Untrained copies have sums fitted alike, and chance is the
    score of sums fitted to random labels, for such labels, where that is more than a shifted target's.
    """
    needs_fits()
    report, random = Reporter(progress), np.random.default_rng(seed)
    pairs = list(zip(targets, fitting_targets, strict=True))
    varying = [pair for pair in pairs if pair[0].varies and pair[1].varies]
    networks = [model, *untrained(model, copies, fresh=fresh)] if varying else []
    searched, random_best, columns = [], [], list[list[Floats]]([] for _pair in varying)
    for number, network in enumerate(networks):
        if network is not model:
            traced_here, fitting_here = (trace_long_text(network, read.text) for read in (traced, fitting))
        else:
            traced_here, fitting_here = traced, fitting

        def fit(labels: Array, read: Trace = traced_here, fitted: Trace = fitting_here) -> Searcher:
            layers = range(fitted.hidden.shape[1]) if layer is None else [layer]
            planes = {n: activations(fitted, layer=n, quantity=quantity) for n in layers}
            sums = [line for n, plane in planes.items() for line in weighted_sums(plane, labels, n)]
            return Searcher(read, quantity=quantity, seed=seed, sums=sums)

        for place, (target, fitting_target) in enumerate(varying):
            searcher = fit(fitting_target.values)
            width = 0 if target.graded else edges
            if network is model:
                searched.append((searcher, searcher.search(target, edges=width, shifts=shifts)))
                by_chance = fit(random_labels(fitting_target.values, random))
                labels = replace(target, values=random_labels(target.values, random))
                random_best.append(by_chance.search(labels, shifts=0).best.score)
            else:
                columns[place].append(searcher.best_column(target, width).astype(np.float32))
            report((number + (place + 1) / len(varying)) / (len(networks) + 1))
    remaining = []
    for (searcher, search), chance, copy_values, (target, fitting_target) in zip(
        searched, random_best, columns, varying, strict=True
    ):
        fitted = fitting.ids, fitting_target.values
        search = replace(search, chance=max(search.chance, chance))
        width = 0 if target.graded else edges
        remaining.append(add_evidence(searcher, search, target, copy_values, edges=width, fitted=fitted))
    report.end()
    return [remaining.pop(0) if pair in varying else None for pair in pairs]


class _Options(TypedDict, total=False):
    layer: int | None
    quantity: str
    edges: int
    shifts: int | None
    seed: int
    copies: int
    fresh: Fresh | None
    directions: bool | TextOrPath
    progress: Progress | None


@overload
def find(model: Network, text: TextOrPath, target: Sought, **options: Unpack[_Options]) -> Search: ...
@overload
def find(model: Network, text: TextOrPath, target: list[W], **options: Unpack[_Options]) -> list[Search]: ...
@overload
def find(
    model: Network,
    text: TextOrPath,
    target: Sought,
    *,
    models: Sequence[Network],
    **options: Unpack[_Options],
) -> Replication: ...
@overload
def find(
    model: Network,
    text: TextOrPath,
    target: list[W],
    *,
    models: Sequence[Network],
    **options: Unpack[_Options],
) -> list[Replication]: ...
@checked
def find(
    model: Network,
    text: TextOrPath,
    target: Sought | list[W],
    *,
    models: Sequence[Network] | None = None,
    layer: int | None = None,
    quantity: str = "hidden",
    edges: int = 0,
    shifts: int | None = None,
    seed: int = 0,
    copies: int = UNTRAINED_COPIES,
    fresh: Fresh | None = None,
    directions: bool | TextOrPath = False,
    progress: Progress | None = None,
) -> Search | Replication | list[Search] | list[Replication]:
    """The units of `model` that follow a target in `text`: ranked, controlled, with a verdict.

    text      T characters; a str is the text itself, a `pathlib.Path` a file
    target    a name or a regular expression, see `rnnviz.units.target`; or a mask (T,) over the normalised
              text; or a list of these: a Search for each, all held to Holm's levels for the whole list
    models    other networks, such as those of other seeds, searched for the same: a Replication counts the
              networks that remember the target
    layer     the layer to search; None: all layers
    quantity  "hidden", "cell" of an LSTM, or a gate's name
    edges     a unit must also be off within so many characters before and after
    shifts    shifts of the target along the text, the null distribution; None: 1,000, or more where a list
              needs them
    seed      chooses the shifts
    copies    untrained copies of the network, searched for the same; `fresh` is that of `untrained`
    directions  search directions in place of units: all units of a layer, weighted by a fit. True: fitted to
              the first third of `text`, and searched in the rest; or another text to fit them to, where a
              target is no mask
    progress  called with the share done

    The Search has all units in `found`, the best-ranked first: .unit, .score (AUC or correlation, on text
    that did not choose the unit) and .p beside shifted targets. `best` is the first of them, `above_chance`
    those that chance doesn't explain, `verdict` what may be said:

        "short"      too little text, fewer than 20,000 characters: nothing
        "nothing"    no unit is above chance
        "character", "context", "untrained", "chance"   not surely more than that tells
        "open"       above chance; what is simpler was not measured
        "remembers"  more than the last characters and the untrained network tell

    print(found) says it in words; a notebook shows it as a table with its picture.

    50,000 characters of a GRU with 256 units take some ten seconds, most of them for the copies. Raises
    ConfigError for an unfit `target`, a target that is constant over the text, and numbers out of range;
    TextError and DecodingError for an unreadable file.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> model, text = rnnviz.load("timemachine-gru"), "The Time Traveller smiled at us. " * 9
    >>> found = units.find(model, text, "word-start", copies=1)
    >>> found.target, found.verdict
    ('word-start', 'short')
    >>> again = units.find(model, text, "word-start", models=[rnnviz.load("timemachine-lstm")], copies=1)
    >>> [search.verdict for search in again.searches], again.remember
    (['short', 'short'], 0)
    """
    targets = target if isinstance(target, list) else [target]
    if not targets:
        raise ConfigError("no target was given: name at least one, such as ['quotes']")
    options = dict[str, Any](
        layer=layer, quantity=quantity, edges=edges, seed=seed, copies=copies, shifts=shifts, fresh=fresh
    )
    networks, searched = [model, *(() if models is None else models)], []
    weights_of(model)  # refuses what is no network
    text = text_of(text, model.vocabulary.characters)
    for number, network in enumerate(networks):
        share = part(progress, number / len(networks), (number + 1) / len(networks))
        searches = _find(network, text, targets, directions=directions, progress=share, **options)
        searched.append(holm(searches) if isinstance(target, list) else searches)
    if models is None:
        return searched[0] if isinstance(target, list) else searched[0][0]
    names = tuple(network.name for network in networks)
    replicated = [Replication(names, same_target) for same_target in zip(*searched, strict=True)]
    return replicated if isinstance(target, list) else replicated[0]


def _find(
    model: Network,
    text: str,
    sought: Sequence[Sought],
    *,
    directions: bool | TextOrPath,
    shifts: int | None,
    progress: Progress | None,
    **options: Any,
) -> list[Search]:
    """A search for each target, with its evidence; `options` are arguments of `controlled`."""
    fitting, fitting_targets = None, list[Target]()
    if directions is True:
        text = normalise(text, model.normaliser)
        cut = len(text) // 3
        masks = [make_target(target, text) for target in sought]
        for mask in masks:
            mask.check(len(text))
        fitting, text = trace_long_text(model, text[:cut]), text[cut:]
        fitting_targets = [replace(mask, values=mask.values[:cut]) for mask in masks]
        targets = [replace(mask, values=mask.values[cut:]) for mask in masks]
    elif directions is not False:
        fitting = trace_long_text(model, text_of(directions, model.vocabulary.characters))
        fitting_targets = [make_target(target, fitting.text) for target in sought]
        for target in fitting_targets:
            target.check(len(fitting))
    traced = trace_long_text(model, text, part(progress, 0.0, READING_SHARE))
    targets = targets if directions is True else [make_target(target, traced.text) for target in sought]
    for target in targets:
        target.check(len(traced))
    enough = max(DEFAULT_SHIFTS, min_shifts(len(targets))) if shifts is None else shifts
    options |= {"shifts": enough, "progress": part(progress, READING_SHARE, 1.0)}
    if fitting is None:
        searches = controlled(model, traced, targets, **options)
    else:
        searches = weighted(model, traced, targets, fitting, fitting_targets, **options)
    Reporter(progress).end()
    return [search for search in searches if search is not None]
