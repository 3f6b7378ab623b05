"""The light and dark themes as the browser's views take them."""

from dataclasses import asdict
from typing import Any

from rnnviz.figures.themes import THEMES, ramp


def themes(**steps: int) -> dict[str, dict[str, Any]]:
    """Every colour by name, for each theme; a scale named in `steps` is a ramp of that many colours."""
    return {
        theme.name: {**asdict(theme), **{name: ramp(getattr(theme, name), n) for name, n in steps.items()}}
        for theme in THEMES.values()
    }
