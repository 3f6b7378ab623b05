"""What is shown of the connectivity of one prediction."""

from rnnviz.findings import Number, Sentence, Table, count, make_sentences, words
from rnnviz.lab.analysis.connectivity import ConnectivityRow
from rnnviz.text.characters import visible


def table(row: ConnectivityRow) -> Table:
    """A row a character."""
    heads = ("position", "character", "gradient", "share")
    return Table(
        [words(f"head.{name}") for name in heads],
        [
            (
                count(character["position"]),
                visible(character["character"]),
                Number(character["norm"], "significant"),
                Number(character["share"], "percent"),
            )
            for character in row.facts()["characters"]
        ],
    )


def sentences(row: ConnectivityRow) -> list[Sentence]:
    """The limit of a gradient: saturation hides effects."""
    return make_sentences(["connectivity.saturated"])
