"""`python -m rnnviz units`: units of a network that respond to quotes, indentation, capitals and the like.

A row a target: the unit that ranked best on one part of the text, and its score on a second part. Then its
score on a third, which neither ranked nor confirmed, with its 95 % interval. On the second part, too: the
unit's chance level; the number of units above theirs; the scores of the character just read, of the best
short context, and of the best unit of an untrained copy. Last, the share of resampled texts in which the unit
ranks first, and the verdict. Targets searched together are held to Holm's levels.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import rnnviz
from rnnviz.cli.bind import Help, check_minimum
from rnnviz.cli.output import (
    CorpusArg,
    ModelArg,
    OutputOptions,
    ProgressOptions,
    Unclosed,
    command_line,
    load_network,
    print_findings,
    progress_bar,
    read_corpus_arg,
    read_text,
)
from rnnviz.errors import ConfigError
from rnnviz.findings import count, words
from rnnviz.networks.checkpoint import find, read_info
from rnnviz.networks.modelfile import rewrite
from rnnviz.networks.verdicts import UNTRAINED_COPIES
from rnnviz.text.characters import normalise

if TYPE_CHECKING:
    from rnnviz.lab.analysis.search_result import Search
    from rnnviz.lab.analysis.targets import Target
    from rnnviz.networks.numpy_model import Network, NumpyModel

MIN_SHIFTS, SHIFTS_PER_TARGET = 1_000, 40
"""Shifts for the chance level; and for each target of a family, if that gives more. Half as many would just
reach the strictest of Holm's levels.
"""


@dataclass(frozen=True)
class TargetOptions:
    """The targets of a search, and the units searched."""

    target: Annotated[
        list[str] | None,
        Help(
            "what to look for, again for more: quotes, brackets, capital … or, read by Python's tokeniser, "
            "py-string, py-comment, py-brackets, py-bracket-depth, py-indentation, py-blocks (default: all "
            "that suit the text). The others are rules of thumb: on Python's library, the tokeniser differs "
            "from them on 1 % of the characters for quotes, 8 % for brackets, 5 % for indentation",
            metavar="NAME",
        ),
    ] = None
    pattern: Annotated[list[str] | None, Help("look for matches of a pattern", metavar="REGEX")] = None
    layer: Annotated[int | None, "look at one layer, counted from 0 (default: all)"] = None
    quantity: Annotated[
        list[str] | None, "hidden, cell, or a gate's name, again for more (default: hidden)"
    ] = None
    unclosed: Unclosed = "paragraph"

    def targets(self, text: str) -> list[Target]:
        """The targets over a text: the requested ones, or all that suit it."""
        from rnnviz.lab.analysis.targets import kinds, named_target, pattern_target

        names = self.target if self.target or self.pattern else kinds(text)
        by_name = [named_target(name, text, unclosed=self.unclosed) for name in names or []]
        return by_name + [pattern_target(pattern, text) for pattern in self.pattern or []]


def units(
    model_arg: ModelArg,
    source: CorpusArg,
    target_options: TargetOptions,
    options: OutputOptions,
    *,
    characters: Annotated[int, Help("characters to read at most", least=1)] = 200_000,  # all states are kept
    edges: Annotated[int, "ask that the unit be off within so many characters before and after"] = 0,
    shifts: Annotated[
        int | None,
        f"shifts for the chance line (default: {MIN_SHIFTS}, or {SHIFTS_PER_TARGET} for each target if more)",
    ] = None,
    seed: Annotated[int, "chooses the shifts"] = 0,
    untrained: Annotated[
        int, Help("search N untrained copies of the network too, 0 for none", metavar="N", least=0)
    ] = UNTRAINED_COPIES,
    directions: Annotated[
        bool,
        "where no unit remembers, search weighted sums of units too, fitted to the training part of --corpus",
    ] = False,
    choose: Annotated[
        Path | None,
        Help(
            "with --directions and --card: sentences as for --typed. Weighted sums are sought for every "
            "target then; one that remembers takes a unit's place if it is right on more of these characters",
            metavar="FILE",
        ),
    ] = None,
    card: Annotated[bool, "put what is found, and this command, into the card of the model's file"] = False,
    typed: Annotated[
        Path | None,
        Help(
            "with --card: sentences that one might type, a line each, ⏎ in it for a line break; the card "
            "says at what share of their characters the unit found is right",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Find the units of a network that respond to something in a text."""
    from rnnviz.lab.analysis import search_result

    model = load_network(model_arg)
    check_minimum("untrained", untrained, int(card))  # a card needs at least one control
    if typed and not card:
        raise ConfigError("--typed is for the card; give --card too")
    if choose and not (directions and card):
        raise ConfigError("--choose is between units and --directions, for the card; give --card too")
    sentences, choosing = _read_sentences(model, typed), _read_sentences(model, choose)
    if directions and not source.corpus:
        raise ConfigError("--directions are fitted to a corpus's training part; give --corpus NAME")
    text = read_corpus_arg(source)
    searched_text = normalise(text[:characters], model.normaliser)
    targets = target_options.targets(searched_text)
    varying = [target for target in targets if target.varies or not searched_text]
    quantities = target_options.quantity or ["hidden"]
    family = len(targets) * len(quantities) * (1 + directions)
    if untrained:
        print_copies_start(model, options)
    if shifts is None:
        shifts = max(MIN_SHIFTS, SHIFTS_PER_TARGET * family)
    check_minimum("shifts", shifts, search_result.min_shifts(family))
    searches: list[Search] = []
    for quantity in quantities if varying else ():
        with progress_bar(f"{quantity}, beside untrained copies", options) as progress:
            searches += rnnviz.units.find(
                model,
                searched_text,
                varying,
                layer=target_options.layer,
                quantity=quantity,
                edges=edges,
                shifts=shifts,
                seed=seed,
                copies=untrained,
                progress=progress,
            )
    searches = search_result.holm(searches)  # all quantities together are one family
    if directions:
        with progress_bar("weighted sums, beside untrained copies", options) as progress:
            sums = _search_sums(
                model,
                source,
                searched_text,
                varying,
                target_options,
                searches,
                remembered=choose is not None,
                shifts=shifts,
                seed=seed,
                copies=untrained,
                progress=progress,
            )
        searches = search_result.holm([*searches, *sums])
    remaining = iter(searches)
    for quantity in quantities:
        print_findings(
            [
                next(remaining) if target in varying else search_result.Unanswered(target)
                for target in targets
            ],
            options,
            words("read", model=model.name, quantity=quantity, n=count(len(searched_text))),
            model=model_arg.model,
            family=family,
        )
    if sums := [search for search in searches if search.weighted is not None]:
        read = words("read", model=model.name, quantity="Σ", n=count(len(searched_text)))
        print_findings(sums, options, read, model=model_arg.model, family=family)
    if card:
        if choose:
            searches = _chosen(searches, choosing, target_options.unclosed)
        constant = [target for target in targets if target not in varying]
        _record_in_card(
            model_arg, source, target_options.unclosed, searches, text, sentences, constant, (typed, choose)
        )


def _read_sentences(model: Network, file: Path | None) -> list[rnnviz.Trace]:
    lines = read_text(str(file), None).splitlines() if file else []
    return [rnnviz.trace(model, line.replace("⏎", "\n")) for line in lines]


def _chosen(
    searches: Sequence[Search], sentences: Sequence[rnnviz.Trace], unclosed: Unclosed
) -> list[Search]:
    """The searches without the units that are right on fewer characters of `sentences` than a weighted sum
    for the same target, if both remember; and without the sums that are not.
    """
    from rnnviz.lab.run.unit_search import share_typed

    def share(search: Search) -> float:
        typed = share_typed(search, sentences, unclosed)
        return typed[0] if typed else 0.0

    left_out = []
    for weighted in (search for search in searches if search.weighted is not None):
        sought = weighted.target, weighted.quantity
        unit = next(s for s in searches if s.weighted is None and (s.target, s.quantity) == sought)
        if unit.verdict == "remembers":
            is_better = weighted.verdict == "remembers" and share(weighted) > share(unit)
            left_out.append(unit if is_better else weighted)
    return [search for search in searches if not any(search is other for other in left_out)]


def _search_sums(
    model: Network,
    source: CorpusArg,
    text: str,
    targets: Sequence[Target],
    target_options: TargetOptions,
    searches: Sequence[Search],
    *,
    remembered: bool,
    **arguments: Any,
) -> list[Search]:
    """Searches for weighted sums, for each target and quantity of `searches` that no unit remembers, or for
    all if `remembered`.
    """
    from rnnviz.lab.analysis.controls import MAX_FITTING_CHARS, weighted
    from rnnviz.scoring.tracer import trace_long_text
    from rnnviz.text.corpora import named_or_file

    trained_on = normalise(named_or_file(source.corpus or "").split().train, model.normaliser)
    traced, fitting = (trace_long_text(model, read) for read in (text, trained_on[-MAX_FITTING_CHARS:]))
    fitting_targets = {target.name: target for target in target_options.targets(fitting.text)}
    sum_searches: list[Search] = []
    for quantity in dict.fromkeys(search.quantity for search in searches):
        lacking = {
            s.target for s in searches if s.quantity == quantity and (remembered or s.verdict != "remembers")
        }
        sought = [t for t in targets if t.name in lacking & fitting_targets.keys()]
        fitted_to = [fitting_targets[target.name] for target in sought]
        sums = weighted(
            *(model, traced, sought, fitting, fitted_to),
            layer=target_options.layer,
            quantity=quantity,
            **arguments,
        )
        sum_searches += [search for search in sums if search is not None]
    return sum_searches


def _record_in_card(
    model_arg: ModelArg,
    source: CorpusArg,
    unclosed: Unclosed,
    searches: Sequence[Search],
    text: str,
    sentences: Sequence[rnnviz.Trace],
    constant: Sequence[Target],
    typed_files: Sequence[Path | None],
) -> None:
    """Record the searches in the card, and the targets that are `constant` in the text. The checksum
    identifies the text that training held out, whatever its name.
    """
    from rnnviz.lab.run import unit_search
    from rnnviz.networks.model_card import UNITS_KEY
    from rnnviz.text.corpora import sha256

    path, checksum = find(model_arg.model), sha256(text)
    about = {
        "name": Path(source.corpus or source.file or "").name,
        "sha256": checksum,
        "held_out": read_info(path).card.get("sha256_held_out") == checksum,
    }
    command = command_line(model_arg.model, source.corpus, source.file, *typed_files)
    shares = [unit_search.share_typed(search, sentences, unclosed) for search in searches]
    entry = unit_search.card_entry(command, searches, about, unit_search.same_throughout(constant), shares)
    rewrite(path, path, card={UNITS_KEY: entry})


def print_copies_start(model: NumpyModel, options: ProgressOptions) -> None:
    """Say on standard error how untrained copies are initialised, unless they begin as the network did."""
    from rnnviz.lab.engines.untrained import of_known_start

    if not options.quiet and not of_known_start(model):
        print("untrained copies have torch's default initial weights", file=sys.stderr)
