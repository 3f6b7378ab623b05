"""What some tests need of the machine, and others can do without: a browser."""

import os
from typing import NoReturn

import pytest


def missing(what: str, why: BaseException) -> NoReturn:
    """Skip, or fail where the variable RNNVIZ_REQUIRE_`what` is 1, as in continuous integration."""
    if os.environ.get(f"RNNVIZ_REQUIRE_{what}") == "1":
        raise why
    pytest.skip(f"not on this machine: {str(why).splitlines()[0]}")
