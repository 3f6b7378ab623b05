"""What is in deploy/, for the tests."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


def _script(name: str) -> ModuleType:
    """A script of deploy/, which is no part of the package."""
    found = importlib.util.spec_from_file_location(name, DEPLOY / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


serve = _script("serve")
