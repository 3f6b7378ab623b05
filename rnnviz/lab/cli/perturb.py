"""`python -m rnnviz perturb`: change one character of a text and follow the difference between both readings.

A row a character from there on: the distance of the states after it, and of the predictions then.
"""

from typing import Annotated

import rnnviz
from rnnviz.cli.bind import Help
from rnnviz.cli.output import JsonOptions, ModelArg, TextArg, load_network, print_findings, read_text_arg
from rnnviz.findings import count, words
from rnnviz.text.characters import visible


def perturb(
    source: TextArg,
    model_arg: ModelArg,
    options: JsonOptions,
    *,
    at: Annotated[int, Help("the character to change, counted from 0", metavar="N")],
    character: Annotated[str, Help("what stands in its place", metavar="C")],
    threshold: Annotated[
        float, Help("a difference of predictions that counts as remembered", metavar="BITS")
    ] = 0.01,
) -> None:
    """Change one character of a text and follow how long the network remembers it.

    examples:
      python -m rnnviz perturb --model timemachine-gru "The Time Traveller smiled" --at 4 --character d
      python -m rnnviz perturb --model timemachine-lstm --file book.txt --at 200 --character x --json
    """
    model = load_network(model_arg)
    text = read_text_arg(source)
    perturbation = rnnviz.units.perturb(model, text, at, character, threshold=threshold)
    original, letter = (
        visible(read.text[perturbation.at]) for read in (perturbation.before, perturbation.after)
    )
    heading = words("perturbation.changed", came=original, letter=letter, at=count(perturbation.at))
    print_findings([perturbation], options, heading, model=model_arg.model)
