"""A direction named on the command line, where units can be named: a KIND and what it is of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from rnnviz.cli.bind import Help, OneOf
from rnnviz.cli.output import Unclosed, numbers, source_text
from rnnviz.errors import ConfigError

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import Network
    from rnnviz.units import Direction

_FORMS = "random:SEED, difference:TARGET or probe:TARGET"


EITHER, WHERE = OneOf(), OneOf()


@dataclass(frozen=True)
class Along:
    """Units, or a direction and the text that it is found in."""

    units: Annotated[
        list[int] | None,
        Help(
            "patch these units of the layer, counted from 0 (default: all)",
            metavar="N,N",
            convert=numbers,
            one_of=EITHER,
        ),
    ] = None
    direction: Annotated[
        str | None,
        Help(
            f"a direction of the layer instead of units: {_FORMS}. All but random are found in the states "
            "of --corpus or --file: the difference of the mean states inside a target, such as quotes, and "
            "outside; a linear probe's weights",
            metavar="KIND:OF",
            one_of=EITHER,
        ),
    ] = None
    corpus: Annotated[
        str | None,
        Help(
            "a corpus's name or the text file of one, in which the direction is found: its held-out part, "
            "the last 10 %, is read",
            one_of=WHERE,
        ),
    ] = None
    file: Annotated[
        str | None,
        Help("a text file, of which all is read; - reads standard input", "-f", one_of=WHERE),
    ] = None
    encoding: Annotated[str | None, "the file's encoding (default: found)"] = None
    characters: Annotated[int, Help("characters of it to read at most", metavar="N", least=1)] = 20_000
    unclosed: Unclosed = "paragraph"


def direction(asked: Along, model: Network, layer: int, quantity: str) -> Direction | None:
    """The direction of --direction in a layer; None where it was not asked for.

    Raises ConfigError for another form, or a text that is missing or of no use, and what finds it raises.
    """
    given = asked.corpus is not None or asked.file is not None
    if asked.direction is None:
        if given:
            raise ConfigError("--corpus and --file are what a --direction is found in; give one, or neither")
        return None
    from rnnviz import units
    from rnnviz.networks.numpy_model import weights_of
    from rnnviz.reading.trace import trace

    kind, _, of = asked.direction.partition(":")
    if kind == "component":
        raise ConfigError(
            "{option} is gone: {instead}",
            option="--direction component",
            instead="name difference:TARGET or probe:TARGET; in Python, make a `Direction` of one of "
            "`rnnviz.units.project(trace).axes`",
        )
    if kind not in ("random", "difference", "probe") or not of or (kind == "random" and not of.isdecimal()):
        raise ConfigError(
            "a direction is {forms}; received {written!r}", forms=_FORMS, written=asked.direction
        )
    if kind == "random" and given:
        raise ConfigError("a random direction needs no text; leave --corpus and --file out")
    if kind != "random" and not given:
        raise ConfigError(
            "--direction {direction} is found in the states of a text: give one with --corpus or --file",
            direction=asked.direction,
        )
    if kind == "random":
        H = weights_of(model).layers[0].units
        return units.directions.random(H, int(of), layer=layer, quantity=quantity)
    read = trace(model, source_text(asked)[: asked.characters])
    target = units.target(of, read.text, unclosed=asked.unclosed)
    if kind == "difference":
        return units.directions.mean_difference(read, target, layer=layer, quantity=quantity)
    return units.probe(read, target, layer=layer, quantity=quantity, controls=0).direction(layer)
