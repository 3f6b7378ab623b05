"""Names of the targets that can be looked for."""

from rnnviz.findings import Said
from rnnviz.lab.analysis.targets import KINDS, PYTHON_KINDS
from rnnviz.page.formatting import spoken

PATTERN, SPAN = "pattern", "span"
GRADED = ("bracket-depth", "line-position", "indent-depth", "py-bracket-depth", "py-blocks")


def targets(python: bool = False) -> dict[str, str]:
    """Targets' names in the session's language: `KINDS`, with `python` also `PYTHON_KINDS`, a pattern, a
    selection.
    """
    names = (*(PYTHON_KINDS if python else ()), *KINDS, PATTERN, SPAN)
    return {name: spoken(Said(f"target.{name}")) for name in names}
