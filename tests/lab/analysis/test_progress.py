"""What takes long says how far it is: shares that rise to the end."""

from collections.abc import Callable

import numpy as np
import pytest

from rnnviz import gradients, units
from tests.support.built import built, quoted
from tests.support.models import TEXT
from tests.support.torch_models import tiny_torch

GRU = tiny_torch("gru")
BOOK = quoted(900)
STATES, MASK = np.random.default_rng(0).normal(size=(2000, 3)), np.arange(2000) % 61 < 25

STARTED: dict[str, Callable[..., object]] = {
    "ablate": lambda **on: units.ablate(GRU, TEXT, batch=5, controls=2, **on),
    "effect": lambda **on: units.effect(GRU, TEXT, units.Zero(3), controls=3, **on),
    "attribute": lambda **on: gradients.attribute(GRU, TEXT[:30], **on),
    "occlusion": lambda **on: gradients.attribute(GRU, TEXT[:400], method="occlusion", **on),
    "memory length": lambda **on: gradients.memory_length(GRU, TEXT[:60], lags=10, **on),
    "scan": lambda **on: units.scan(GRU, text=TEXT * 10, layer=0, units=[3, 5], **on),
    "match": lambda **on: units.match(built(), "ab “cde” f", 3, 7, BOOK * 20, threshold=0.9, **on),
    "probe": lambda **on: units.probe(STATES, MASK, untrained=[STATES[:, ::-1]], controls=1, **on),
    "find": lambda **on: units.find(built(), BOOK, "quotes", copies=1, **on),
    "find several": lambda **on: units.find(built(), BOOK, ["quotes", "[A-Z]"], copies=2, **on),
    "find in networks": lambda **on: units.find(
        built(), BOOK, "quotes", models=units.untrained(built(), 1), copies=1, **on
    ),
}


@pytest.mark.parametrize("interval", [0.0, 1e9])  # whether a report is due at each step, or at none
@pytest.mark.parametrize("case", STARTED)
def test_shares_of_the_work_rise_to_the_end(
    case: str, interval: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rnnviz.networks.progress.REPORT_INTERVAL_S", interval)
    shares: list[float] = []
    STARTED[case](progress=lambda step: shares.append(step.fraction))
    assert shares == sorted(shares)
    assert interval or 0 <= shares[0] < shares[-1]
    assert shares[-1] == 1.0
