"""`python -m rnnviz ablate`: how much worse a network predicts without each of its units.

A row a unit, largest loss first. No rows where the two halves of the text rank the units too differently:
another text would then have other units on top.
"""

from typing import Annotated, Any

import rnnviz
from rnnviz.cli.bind import Help
from rnnviz.cli.output import (
    CorpusArg,
    ModelArg,
    OutputOptions,
    Unclosed,
    load_network,
    parse_integers,
    print_findings,
    progress_bar,
    read_corpus_arg,
)
from rnnviz.findings import count, words
from rnnviz.text.characters import normalise


def parse_value(text: str) -> Any:
    """A number, or "zero" or "mean", for argparse. Raises ValueError."""
    return text if text in ("zero", "mean") else float(text)


def ablate(
    model_arg: ModelArg,
    source: CorpusArg,
    options: OutputOptions,
    *,
    layer: Annotated[int, "the layer, counted from 0"] = 0,
    units: Annotated[
        list[int] | None,
        Help("these units alone, counted from 0 (default: all)", metavar="N,N", convert=parse_integers),
    ] = None,
    to: Annotated[
        Any,
        Help(
            "what the missing unit is held at: zero, its mean over the text, or a number",
            metavar="zero|mean|NUMBER",
            convert=parse_value,
        ),
    ] = "mean",
    target: Annotated[
        str | None,
        Help(
            "show losses where this holds and where it doesn't, such as quotes (default: no)", metavar="NAME"
        ),
    ] = None,
    unclosed: Unclosed = "paragraph",
    controls: Annotated[
        int,
        Help("random directions that are held like the units, for comparison", metavar="N", least=0),
    ] = 16,
    until: Annotated[
        float,
        Help(
            "stop reading once two halves of what was read rank the units with this correlation; asked "
            "after 4,000 characters, 8,000 and so on",
            metavar="R",
        ),
    ] = 0.5,
    characters: Annotated[int, Help("characters to read at most", metavar="N", least=1)] = 64_000,
) -> None:
    """Measure how much worse a network predicts without each unit.

    examples:
      python -m rnnviz ablate --model timemachine-rnn --corpus timemachine
      python -m rnnviz ablate --model python-lstm --corpus python-library --units 98,193 --target quotes \\
          --unclosed line --json
    """
    from rnnviz.lab.analysis import targets

    model = load_network(model_arg)
    text = normalise(read_corpus_arg(source), model.normaliser)[:characters]
    target_values = None if target is None else targets.named_target(target, text, unclosed=unclosed)
    with progress_bar("Reading without each unit", options) as progress:
        ablation = rnnviz.units.ablate(
            model,
            text,
            layer=layer,
            units=units,
            to=to,
            until=until if units is None else None,
            target=target_values,
            controls=controls,
            progress=progress,
        )
    heading = words(
        "ablation.read", model=model.name, layer=ablation.layer, characters=count(ablation.characters)
    )
    print_findings([ablation], options, heading, model=model_arg.model)
