"""What is shown of a target that cannot be searched for."""

from rnnviz.findings import Number, Sentence, Table, words
from rnnviz.lab.analysis.search_result import Unanswered


def table(unanswered: Unanswered) -> Table:
    """One row, which stacks under those of other targets."""
    values = unanswered.target.values
    share = None if unanswered.target.graded or not len(values) else Number(float(values.mean()), "percent")
    heads = [words(f"head.{name}") for name in ("target", "share", "verdict")]
    return Table(heads, [(unanswered.target.name, share, words("brief.throughout"))])


def sentences(unanswered: Unanswered) -> list[Sentence]:
    """The sentence that the target is constant."""
    return [words("search.unanswered", target=unanswered.target.name)]
