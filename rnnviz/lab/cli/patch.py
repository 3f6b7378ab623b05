"""`python -m rnnviz patch`: put the state after some characters of one text into the reading of another.

A row a prediction of the target from the patch on: KL, the actual character's loss, and the most probable
characters without and with the patch; beside them random moves of the same length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import rnnviz
from rnnviz.cli.bind import ExclusiveGroup, Help
from rnnviz.cli.output import (
    CorpusArg,
    JsonOptions,
    ModelArg,
    Unclosed,
    load_network,
    parse_integers,
    print_findings,
    read_corpus_arg,
)
from rnnviz.errors import ConfigError
from rnnviz.findings import words

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import NumpyModel

DIRECTION_FORMS = "random:SEED, difference:TARGET or probe:TARGET"


UNITS_OR_DIRECTION = ExclusiveGroup()


@dataclass(frozen=True)
class DirectionOptions:
    """Units, or a direction and the text that it is found in."""

    units: Annotated[
        list[int] | None,
        Help(
            "patch these units of the layer, counted from 0 (default: all)",
            metavar="N,N",
            convert=parse_integers,
            one_of=UNITS_OR_DIRECTION,
        ),
    ] = None
    direction: Annotated[
        str | None,
        Help(
            f"a direction of the layer instead of units: {DIRECTION_FORMS}. All but random are found in the "
            "states of --corpus or --file: the difference of the mean states inside a target, such as "
            "quotes, and outside; a linear probe's weights",
            metavar="KIND:OF",
            one_of=UNITS_OR_DIRECTION,
        ),
    ] = None
    characters: Annotated[int, Help("characters of that text to read at most", metavar="N", least=1)] = 20_000
    unclosed: Unclosed = "paragraph"


def patch(
    model_arg: ModelArg,
    direction_options: DirectionOptions,
    options: JsonOptions,
    *,
    corpus: CorpusArg | None = None,
    source: Annotated[str, Help("the text whose state is taken", metavar="TEXT")],
    at: Annotated[
        int | None, Help("after so many of its characters (default: all of them)", metavar="N")
    ] = None,
    into: Annotated[str, Help("the text that it is put into", metavar="TEXT")],
    to: Annotated[int, Help("after so many of that text's characters", metavar="N")],
    layer: Annotated[int | None, "patch one layer, counted from 0 (default: all)"] = None,
    quantity: Annotated[
        Literal["state", "hidden", "cell"],
        "state: H, and C of an LSTM; hidden or cell: one of them (default: state; a direction: hidden)",
    ] = "state",
    unrelated: Annotated[
        str | None,
        Help(
            "for comparison, take the same patch from random places of this text (default: none)",
            metavar="TEXT",
        ),
    ] = None,
    length: Annotated[int, "characters to go on with from there"] = 80,
    temperature: Annotated[float, "of that continuation"] = 1.0,
    seed: Annotated[int, "of that continuation and of the controls"] = 0,
) -> None:
    """Put the state after one text's beginning into the reading of another text.

    examples:
      python -m rnnviz patch --model shakespeare-lstm --source "Too slowly, my lord" \\
          --into "And so my lord, and all the time" --to 14
      python -m rnnviz patch --model python-lstm --source "name = 'the" --into "name = the value" --to 10 \\
          --units 3,17 --json
      python -m rnnviz patch --model python-lstm --source "name = 'the" --into "name = the value" --to 10 \\
          --direction difference:quotes --corpus python-library --unclosed line
    """
    from rnnviz.scoring import sampling

    model = load_network(model_arg)
    source_trace = rnnviz.trace(model, source)
    direction = _find_direction(
        direction_options, corpus, model, layer or 0, "cell" if quantity == "cell" else "hidden"
    )
    patched_reading = rnnviz.units.patch(
        model,
        source_trace,
        len(source_trace) if at is None else at,
        into,
        to,
        layer=layer,
        units=direction_options.units if direction is None else direction,
        quantity=quantity,
    )
    controls = patched_reading.controls(model, unrelated, seed=seed)
    sampling_options: dict[str, Any] = {"temperature": temperature, "seed": seed}
    plain = sampling.resume(patched_reading.into, patched_reading.to, length, **sampling_options)
    patched = patched_reading.continuation(length, **sampling_options)
    continuations = {"continuation": plain, "continuation_patched": patched}
    heading = words("patch.goes-on", plain=repr(plain), patched=repr(patched))
    print_findings([controls], options, heading, lambda _controls: continuations, model=model_arg.model)


def _find_direction(
    direction_options: DirectionOptions,
    corpus: CorpusArg | None,
    model: NumpyModel,
    layer: int,
    quantity: str,
) -> rnnviz.units.Direction | None:
    """The direction of --direction in a layer; None without the option.

    Raises ConfigError for an unknown form, a missing or superfluous text, and the errors of finding a
    direction.
    """
    from rnnviz.lab.analysis import directions, targets

    if direction_options.direction is None:
        if corpus is not None:
            raise ConfigError("--corpus and --file are what a --direction is found in; give one, or neither")
        return None
    kind, _, argument = direction_options.direction.partition(":")
    if (
        kind not in ("random", "difference", "probe")
        or not argument
        or (kind == "random" and not argument.isdecimal())
    ):
        raise ConfigError(
            "a direction is {forms}; received {written!r}",
            forms=DIRECTION_FORMS,
            written=direction_options.direction,
        )
    if kind == "random":
        if corpus is not None:
            raise ConfigError("a random direction needs no text; leave --corpus and --file out")
        return directions.random_direction(
            model.config.hidden_size, int(argument), layer=layer, quantity=quantity
        )
    if corpus is None:
        raise ConfigError(
            "--direction {direction} is found in the states of a text: give one with --corpus or --file",
            direction=direction_options.direction,
        )
    corpus_trace = rnnviz.trace(model, read_corpus_arg(corpus)[: direction_options.characters])
    target = targets.named_target(argument, corpus_trace.text, unclosed=direction_options.unclosed)
    if kind == "difference":
        return directions.mean_difference(corpus_trace, target, layer=layer, quantity=quantity)
    return rnnviz.units.probe(corpus_trace, target, layer=layer, quantity=quantity, controls=0).direction(
        layer
    )
