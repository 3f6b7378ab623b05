"""Below the answer: where the number comes from, and everything that can be done with it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rnnviz.ui.context import Context
    from rnnviz.ui.perplexity.jobs import Jobs
    from rnnviz.ui.perplexity.texts import Text
    from rnnviz.ui.perplexity.work import Scored


def show(context: Context, jobs: Jobs, scored: Sequence[tuple[Text, Scored]], text: Text) -> list[Hashable]:
    return []
