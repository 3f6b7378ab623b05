"""`python -m rnnviz connectivity`: how far back the predictions of a text reach.

A row a lag, with the share of the gradient beyond it; or, with --at, a row a character, with its share of one
prediction's gradient.
"""

from typing import Annotated

import rnnviz
from rnnviz.cli.bind import Help
from rnnviz.cli.output import (
    ModelArg,
    OutputOptions,
    TextArg,
    load_network,
    print_findings,
    progress_bar,
    read_text_arg,
)
from rnnviz.findings import count, words
from rnnviz.text.characters import visible


def connectivity(
    source: TextArg,
    model_arg: ModelArg,
    options: OutputOptions,
    *,
    at: Annotated[
        int | None,
        Help(
            "look at the prediction after so many characters alone (default: at all that have --lags "
            "characters before them)",
            metavar="N",
        ),
    ] = None,
    character: Annotated[
        str | None,
        Help(
            "the character whose probability is looked at (default: the one that came)",
            metavar="C",
        ),
    ] = None,
    lags: Annotated[
        int | None,
        Help(
            "characters that a prediction may rest on (default: a third of the text, at most 100)",
            metavar="K",
        ),
    ] = None,
    characters: Annotated[
        int, Help("characters of the text that are read, at most 10,000", metavar="N", least=1)
    ] = 5_000,
) -> None:
    """Show how far back a network's predictions reach, by their gradients.

    examples:
      python -m rnnviz connectivity --model timemachine-gru --file book.txt
      python -m rnnviz connectivity --model timemachine-lstm "The Time Traveller" --at 13 --json
    """
    model = load_network(model_arg)
    text = read_text_arg(source)[:characters]
    if at is not None:
        row = rnnviz.gradients.connectivity(model, text, at=at, character=character)
        symbol = model.vocabulary.symbol(row.target)
        heading = words(
            "connectivity.heading", model=model.name, target=visible(symbol), characters=count(len(row))
        )
        print_findings([row], options, heading, model=model_arg.model, target=symbol)
        return
    if lags is None:  # a short text has no prediction with 100 characters before it
        lags = max(2, min(100, len(text) // 3))
    with progress_bar("Going back", options) as progress:
        memory_length = rnnviz.gradients.memory_length(
            model, text, lags=lags, character=character, progress=progress
        )
    print_findings([memory_length], options, words("reach.heading", model=model.name), model=model_arg.model)
