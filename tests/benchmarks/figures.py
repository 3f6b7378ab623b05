"""What the table in README.md beside this file keeps of a program.

A program calls `figure` for each number that the table has, and goes on printing what it prints. Run by
itself, it records nothing; `python -m tests.benchmarks` names the file that takes the figures.
"""

from __future__ import annotations

import json
import os

FILE = "RNNVIZ_FIGURES"


def figure(
    what: str,
    measured: float,
    unit: str = "",
    *,
    at_most: float | None = None,
    at_least: float | None = None,
    beside: str = "",
    digits: int = 0,
    front: bool = False,
) -> None:
    """Record one number: what it is, its unit, its limit if it has one, and what makes it readable.

    So many `digits` are shown, zeros too; 0: three, without. `front` puts it into the project's README, too.
    """
    if file := os.environ.get(FILE):
        row: dict[str, object] = {"what": what, "measured": float(f"{measured:.{max(digits, 4)}g}")}
        limits = {"at_most": at_most, "at_least": at_least}
        row |= {name: value for name, value in limits.items() if value is not None}
        more = {"unit": unit, "digits": digits, "beside": beside, "front": front}
        row |= {name: value for name, value in more.items() if value}
        with open(file, "a", encoding="utf-8") as out:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
