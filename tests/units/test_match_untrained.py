"""The same passage in untrained copies: whose states, which thresholds, and what is counted."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz import units
from rnnviz.errors import ConfigError
from rnnviz.units import match_controls, match_untrained, matching
from rnnviz.units.match_untrained import CHARACTERS, copies, untrained
from tests.conftest import TEXT, tiny
from tests.units.built import built, quoted

BOOK = quoted(4000)
SAID = "ab “cde” f"


@pytest.mark.parametrize("layer", [None, 1])
def test_all_that_is_counted(layer: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_untrained, "CHARACTERS", 400)
    model, asked = tiny("gru", layers=2), {"share": 0.6, "most": 7}
    index = units.run(units.index(model, TEXT, tmp_path / "tiny"))
    read = rnnviz.trace(model, TEXT[3:60])
    found = index.match(units.pattern(read, 20, 23, threshold=0.05, layer=layer), **asked)
    beside = match_controls.beside(index, found, TEXT[23:26])
    made = units.run(copies(model, TEXT, 2))
    control = untrained(index, found, beside, read, 20, made, layer=layer, **asked)

    networks = [model, *units.untrained(model, 2)]
    share = np.mean(abs(units.activations(read, layer=layer)) >= 0.05)
    ends: list[list[int]] = []
    for number, network in enumerate(networks):
        here = rnnviz.trace(network, read.text)
        values = abs(units.activations(here, layer=layer))
        threshold = 0.05 if number == 0 else float(np.quantile(values, 1 - share))
        if number:
            assert np.mean(values >= threshold) == pytest.approx(share, abs=2 / values.size)
            assert control.thresholds[number - 1] == pytest.approx(threshold)
        pattern = units.pattern(here, 20, 23, threshold=threshold, layer=layer)
        if number:
            assert control.units[number - 1] == len(pattern)
        states = rnnviz.trace(network, TEXT[:400]).hidden.reshape(400, -1).T.astype(np.float16)
        ends.append([m.stop - 1 for m in matching.find(states, 12, pattern, least=3, **asked).found])
    own, theirs = ends[0], [*ends[1], *ends[2]]
    assert (control.characters, control.own, control.matches) == (400, len(own), len(theirs))
    assert min(len(own), len(ends[1]), len(ends[2])) > 2
    for shares, holds in zip(
        control.shares,
        (
            lambda n: TEXT[: n + 1].endswith(TEXT[23:26]),
            lambda n: TEXT[: n + 1].endswith(beside.ending),
        ),
        strict=True,
    ):
        assert shares.own == sum(map(holds, own))
        assert shares.untrained == sum(map(holds, theirs))
    assert [one.name for one in control.shares] == [TEXT[23:26], beside.ending]


def test_copies_may_have_no_unit_that_is_on_throughout(tmp_path: Path) -> None:
    """A unit set by hand is on inside quotes and off beside them; no unit of random weights is."""
    index = units.run(units.index(built(), BOOK, tmp_path / "built"))
    read = rnnviz.trace(built(), SAID)
    pattern = units.pattern(read, 3, 7, threshold=0.9, edges=1)
    found = index.match(pattern, share=1.0)
    beside = match_controls.beside(index, found, SAID[3:7])
    made = units.run(copies(built(), BOOK))
    control = untrained(index, found, beside, read, 3, made, edges=1)
    assert control.own > 5
    assert (control.units, control.matches, control.shares[1].untrained) == ((0, 0, 0), 0, 0)


def test_no_more_is_read_than_the_beginning_and_progress_runs_to_the_end(tmp_path: Path) -> None:
    steps: list[float] = []
    made = units.run(copies(built(), BOOK * 9), lambda now: steps.append(now.fraction))
    assert [copy.states.shape for copy in made] == [(8, CHARACTERS)] * 3
    assert made[0].states.dtype == np.float16
    assert steps == sorted(steps)
    assert steps[-1] == 1.0
    first = rnnviz.trace(made[0].model, BOOK).hidden[:, 0].T
    np.testing.assert_allclose(made[0].states[:, : len(BOOK)], first, atol=1e-3)


def test_without_a_copy_there_is_no_control(tmp_path: Path) -> None:
    index: Any = units.run(units.index(built(), BOOK, tmp_path / "built"))
    read = rnnviz.trace(built(), SAID)
    found = index.match(units.pattern(read, 3, 7, threshold=0.9))
    beside = match_controls.beside(index, found, SAID[3:7])
    with pytest.raises(ConfigError, match="at least one untrained copy"):
        untrained(index, found, beside, read, 3, [])
