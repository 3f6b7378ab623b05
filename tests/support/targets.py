"""Targets as a line to read."""

from rnnviz.lab.analysis.targets import Target


def target_signs(search: Target) -> str:
    """One sign a character: a digit where it is graded, x and . elsewhere."""
    return "".join(f"{v:.0f}" if search.graded else ".x"[int(v)] for v in search.values)
