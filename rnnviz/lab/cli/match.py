"""`python -m rnnviz match`: places of a corpus where most units are on that are on throughout a passage.

A row a place: units, length, context, and the most probable next characters. Then the number of places that
end as the passage does, beside the whole corpus and the matches of untrained copies.
"""

from dataclasses import dataclass
from typing import Annotated

import rnnviz
from rnnviz.cli.bind import Help, Removed
from rnnviz.cli.output import (
    CORPUS_OR_FILE,
    STANDARD_INPUT,
    CorpusArg,
    ModelArg,
    OutputOptions,
    load_network,
    print_findings,
    progress_bar,
    read_corpus_arg,
    read_text,
)
from rnnviz.errors import ConfigError
from rnnviz.lab.cli.units import print_copies_start
from rnnviz.text.characters import normalise


@dataclass(frozen=True)
class WholeCorpusArg(CorpusArg):
    """A whole text to search."""

    corpus: Annotated[
        str | None, Help("a corpus's name or the text file of one, to look in", one_of=CORPUS_OR_FILE)
    ] = None


@dataclass(frozen=True)
class MatchOptions:
    """Arguments of `rnnviz.units.match`."""

    threshold: Annotated[float, "how far from 0 a unit is on"] = 0.5
    edges: Annotated[int, "take only units that are off within so many characters before and after"] = 0
    layer: Annotated[int | None, "look at one layer, counted from 0 (default: all)"] = None
    share: Annotated[float, "the share of the units that a place needs"] = 0.75
    least: Annotated[
        int | None, "characters over which it needs them (default: as many as the passage has)"
    ] = None
    most: Annotated[int, "places to show at most"] = 20


def parse_span(text: str) -> tuple[int, int]:
    """The first character of a passage, and the one after its last, for argparse. Raises ValueError."""
    start, _, stop = text.partition(":")
    return int(start), int(stop)


def match(
    model_arg: ModelArg,
    source: WholeCorpusArg,
    match_options: MatchOptions,
    options: OutputOptions,
    *,
    text: Annotated[str, "a text with the passage in it; - reads standard input"],
    span: Annotated[
        tuple[int, int],
        Help("the passage in --text, counted from 0, as 10:24", metavar="START:STOP", convert=parse_span),
    ],
    index: Annotated[
        str | None,
        Help(
            "states stay in memory, and a folder of indexes is of no use any more: remove it", action=Removed
        ),
    ] = None,
    characters: Annotated[int, Help("characters to search at most", least=1)] = 1_000_000,
    untrained: Annotated[
        int,
        Help(
            "match in the corpus's beginning with N untrained copies of the network too, 0 for none",
            metavar="N",
            least=0,
        ),
    ] = 3,
) -> None:
    """Find the places of a corpus where the same units are on as in a passage.

    examples:
      python -m rnnviz match --model shakespeare-lstm --corpus tinyshakespeare --threshold 0.3 \\
          --text "ROMEO: What, shall this speech be spoke" --span 7:12
      python -m rnnviz match --model python-lstm --corpus python-library --text "x = 'the value'" \\
          --span 5:14 --threshold 0.8 --json

    --span counts characters from 0; its second number is the first character after the passage.
    """
    model = load_network(model_arg)
    passage = _passage_text(text, source)
    corpus = normalise(read_corpus_arg(source, whole=True), model.normaliser)[:characters]
    if untrained:
        print_copies_start(model, options)
    with progress_bar(f"reading {len(corpus):,} characters", options) as progress:
        result = rnnviz.units.match(
            model,
            passage,
            *span,
            corpus,
            copies=untrained,
            progress=progress,
            **vars(match_options),
        )
    print_findings([result], options, result.pattern.said(), model=model_arg.model)


def _passage_text(text: str, source: CorpusArg) -> str:
    if text != STANDARD_INPUT:
        return text
    if source.file == STANDARD_INPUT:
        raise ConfigError("--text and --file can't both be read from standard input; give a file's path")
    return read_text(STANDARD_INPUT, None)
