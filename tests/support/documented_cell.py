"""The cell of docs/cells.md, added as the page says: a plugin of pytest (`-p tests.support.documented_cell`).

A plugin is imported before any test module, as a change of cells.py would be there before the rest is read.
"""

import re
from pathlib import Path

from rnnviz.networks import cells

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cells.md"
record, formulas = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
exec(record, vars(cells))

from tests.support import textbook  # noqa: E402  # it reads the cells

exec(formulas, vars(textbook))
