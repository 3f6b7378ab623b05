"""What units of a model respond to: searches that `python -m rnnviz units --card` has put into its card."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from rnnviz.units.claims import Search, Verdict, verdict

KEY = "units"
"""Of a card: {"command": the command that made them, "findings": a list of Finding}."""


@dataclass(frozen=True)
class Finding:
    """One search, on the held-out text.

    target      a name of `rnnviz.units.KINDS` or `PYTHON_KINDS`
    layer, unit the unit that ranked best on one half
    score       what it reaches on the other: AUC, or correlation for a graded target, as `measure` says
    chance      what chance reaches in 95 of 100 searches
    character   the score of the character just read
    untrained   of the best unit of each untrained copy
    characters  of the text
    """

    target: str
    quantity: str
    measure: str
    layer: int
    unit: int
    score: float
    chance: float
    character: float
    untrained: tuple[float, ...]
    characters: int

    @classmethod
    def of(cls, search: Search) -> Finding:
        """What to keep of a search on a trace."""
        best, character = search.best, search.character
        assert character is not None  # it was on a trace
        return cls(
            search.target,
            search.quantity,
            search.measure,
            best.unit.layer,
            best.unit.unit,
            best.score,
            search.chance,
            character,
            search.untrained,
            search.characters,
        )

    @property
    def verdict(self) -> Verdict:
        """What may be said of the unit."""
        return verdict(self.score, self.chance, self.character, self.untrained, self.characters)

    @property
    def lead(self) -> float:
        """By how much the unit beats whatever is simpler."""
        return self.score - max(self.chance, self.character, *self.untrained)

    def to_json(self) -> dict[str, Any]:
        """A JSON object that a card can hold."""
        return {**asdict(self), "untrained": list(self.untrained)}


def of(card: Mapping[str, Any]) -> tuple[Finding, ...]:
    """The findings in a card, in their order; those that are damaged are left out."""
    kept = card.get(KEY)
    found = kept.get("findings") if isinstance(kept, dict) else None
    if not isinstance(found, list):
        return ()
    return tuple(_finding(one) for one in found if _sound(one))


def command(card: Mapping[str, Any]) -> str:
    """The command that made them, or ""."""
    kept = card.get(KEY)
    said = kept.get("command") if isinstance(kept, dict) else None
    return said if isinstance(said, str) else ""


def entry(command: str, searches: Sequence[Search]) -> dict[str, Any]:
    """What to write into a card, under KEY: the searches whose target was in both halves of the text."""
    return {
        "command": command,
        "findings": [Finding.of(search).to_json() for search in searches if search.held_out],
    }


def _finding(one: Mapping[str, Any]) -> Finding:
    return Finding(**{**one, "untrained": tuple(one["untrained"])})


def _sound(one: object) -> bool:
    if not isinstance(one, dict) or one.keys() != {field.name for field in fields(Finding)}:
        return False

    def number(value: object) -> bool:
        return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]

    return (
        all(type(one[name]) is str for name in ("target", "quantity", "measure"))
        and all(type(one[name]) is int and one[name] >= 0 for name in ("layer", "unit", "characters"))
        and all(number(one[name]) for name in ("score", "chance", "character"))
        and isinstance(one["untrained"], list)
        and bool(one["untrained"])
        and all(map(number, one["untrained"]))
    )
