"""What the words of a question are."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Words:
    """One question of rnnviz.lecture.questions, untranslated.

    A row's {cell} is its key in capitals; `bars` are the rows drawn as shares of 1.

    columns     what the columns of measurements are; `table` says its rows, `shares` are those in percent
    measured    on how much, with {error}, the largest standard error of a share
    """

    question: str
    formula: str
    options: dict[str, str]
    dial: str
    rows: dict[str, str]
    reason: str
    bars: frozenset[str] = frozenset()
    columns: str = ""
    table: dict[str, str] = field(default_factory=dict)
    shares: frozenset[str] = frozenset()
    measured: str = ""
