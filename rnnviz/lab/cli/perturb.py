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
    of: ModelArg,
    shown: JsonOptions,
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
    model = load_network(of)
    text = read_text_arg(source)
    found = rnnviz.units.perturb(model, text, at, character, threshold=threshold)
    came, letter = (visible(read.text[found.at]) for read in (found.before, found.after))
    heading = words("perturbation.changed", came=came, letter=letter, at=count(found.at))
    print_findings([found], shown, heading, model=of.model)
