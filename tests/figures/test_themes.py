"""Colours: the middle is the page itself, text stays readable, and both ends differ for everyone."""

import numpy as np
import pytest

from rnnviz.figures import themes
from rnnviz.figures.themes import CELL, COLOUR_LEVELS, GATE, TANH, THEMES, Theme, contrast, palette, ramp

in_both_themes = pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)

# Machado, Oliveira & Fernandes (2009), severity 1: what the colour-blind see of linear RGB.
BLINDNESS = {
    "protanopia": "0.152286 1.052583 -0.204868 0.114503 0.786281 0.099216 -0.003882 -0.048116 1.051998",
    "deuteranopia": "0.367322 0.860646 -0.227968 0.280085 0.672501 0.047413 -0.011820 0.042940 0.968881",
    "tritanopia": "1.255528 -0.076749 -0.178779 -0.078411 0.930809 0.147602 0.004733 0.691367 0.303900",
}


@in_both_themes
def test_neutral_value_has_background_colour(theme: Theme) -> None:
    background = [int(theme.background[i : i + 2], 16) for i in (1, 3, 5)]
    assert theme.bands[0] == theme.background
    for first in (theme.sequential, theme.surprisal):
        assert palette(first)[0].tolist() == background
    for both in (theme.diverging, theme.reason, theme.versus):
        assert palette(both)[COLOUR_LEVELS // 2].tolist() == background


@in_both_themes
def test_every_text_is_readable(theme: Theme) -> None:
    scales = (theme.surprisal, theme.reason, theme.versus)
    for behind in (*theme.bands, *(colour for anchors in scales for colour in ramp(anchors, 15))):
        assert contrast(theme.text, behind) >= 4.5
    for ink in (theme.text, theme.muted, theme.model, theme.ngram, theme.uniform, *theme.runs):
        assert contrast(ink, theme.background) >= 4.5
    for mark in (theme.actual, theme.cursor, theme.pinned):
        assert contrast(mark, theme.background) >= 3


@in_both_themes
def test_a_projector_shows_every_filled_area(theme: Theme) -> None:
    scales = (theme.surprisal, theme.reason, theme.versus, theme.diverging, theme.sequential, theme.bands)
    ends = {anchors[end] for anchors in scales for end in (0, -1)} - {theme.background}
    for colour in (theme.bar, *ends, theme.memoryless, *theme.runs):
        assert contrast(colour, theme.background) >= 3, colour


@in_both_themes
@pytest.mark.parametrize("kind", BLINDNESS)
def test_minus_and_plus_are_told_apart_with_any_colour_blindness(theme: Theme, kind: str) -> None:
    simulation = np.array(BLINDNESS[kind].split(), float).reshape(3, 3)
    for step in (0.25, 0.5, 0.75, 1.0):
        at = round((COLOUR_LEVELS - 1) / 2 * step)
        minus, plus = (palette(theme.diverging)[COLOUR_LEVELS // 2 + side * at] for side in (-1, 1))
        assert apart(simulation, minus, plus) > 0.15
    # Behind a text the ends are paler, and still told apart.
    for both in (theme.reason, theme.versus):
        assert apart(simulation, palette(both)[0], palette(both)[-1]) > 0.15


def apart(simulation: np.ndarray, first: np.ndarray, other: np.ndarray) -> float:
    colours = [simulation @ themes.linear("#{:02x}{:02x}{:02x}".format(*c)) for c in (first, other)]
    return float(np.abs(np.cbrt(np.clip(colours[0], 0, 1)) - np.cbrt(np.clip(colours[1], 0, 1))).max())


@in_both_themes
def test_more_is_always_stronger(theme: Theme) -> None:
    for anchors in (theme.diverging[3:], theme.diverging[3::-1], theme.sequential):
        strength = [contrast(colour, theme.background) for colour in ramp(anchors, 9)]
        assert strength == sorted(strength)


def test_levels_are_fixed_and_clipped() -> None:
    values = np.array([-9, -1, -0.5, 0, 0.5, 1, 9, np.nan, np.inf, -np.inf], np.float32)
    assert TANH.levels(values).tolist() == [0, 0, 64, 127, 191, 254, 254, 127, 254, 0]
    assert GATE.levels(np.array([0, 0.5, 1])).tolist() == [0, 127, 254]
    assert CELL.levels(np.array([-3, 0, 3])).tolist() == [0, 127, 254]
    assert values[0] == -9  # the caller's array stays as it is


def test_a_scale_as_plotly_writes_it() -> None:
    scale = TANH.colorscale(themes.LIGHT)
    assert scale[0] == [0.0, themes.LIGHT.diverging[0]]
    assert scale[len(scale) // 2] == [0.5, "#ffffff"]
    assert scale[-1] == [1.0, themes.LIGHT.diverging[-1]]
