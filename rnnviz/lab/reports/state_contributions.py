"""What is shown of a linear recurrence: each character's share of each state."""

import numpy as np

from rnnviz.findings import Panel, Square, words
from rnnviz.lab.analysis.state_contributions import Remaining


def panels(remaining: Remaining) -> list[Panel]:
    """Each character's share of each state, without the start symbol."""
    with np.errstate(divide="ignore"):
        log10 = np.log10(remaining.shares()[1:, 1:]).astype(np.float32)
    picture = Square(log10, words("connectivity.read"), words("remaining.state"))
    title, notice, limits = (
        words(f"remaining.{name}", layer=remaining.layer) for name in ("title", "notice", "limits")
    )
    return [Panel("left", title, picture, [notice], limits, link="xy", pick="at")]
