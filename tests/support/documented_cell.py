"""The cell of docs/cells.md, added as the page says: a pytest plugin (`-p tests.support.documented_cell`)."""

import re
from pathlib import Path

import pytest
from hypothesis import settings

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cells.md"


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Before a conftest or test is imported: a change of cells.py would be there before all else is read.

    In a hook, as `--doctest-modules` imports this file in every process of the suite.
    """
    from rnnviz.networks import cells

    record, formulas = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    exec(record, vars(cells))

    from tests.support import textbook  # it reads the cells

    exec(formulas, vars(textbook))


def pytest_configure() -> None:
    """Few examples of each property: a formula that differs anywhere differs in nearly all."""
    settings.register_profile("few", settings.get_profile("quick"), max_examples=4)
    settings.load_profile("few")
