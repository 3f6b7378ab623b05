"""Every page with a network whose gates don't look at the state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rnnviz.networks.checkpoint import save
from tests.conftest import TEXT, tiny, tiny_card
from tests.ui.apptest import clean, sent, settled
from tests.ui.conftest import Open, everything
from tests.ui.test_inside import PARTS, boards

__all__ = ["boards"]


@pytest.fixture
def linear(tmp_path: Path, only_tiny_models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A minGRU and an RG-LRU stand beside the tiny models."""
    for cell in ("mingru", "rglru"):
        save(tiny(cell, layers=2, card=tiny_card()), tmp_path / f"tiny-{cell}.safetensors")
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path, only_tiny_models])


@pytest.mark.usefixtures("linear")
def test_explore_offers_its_parts_in_scales_of_their_own(open_app: Open) -> None:
    found = {}
    for cell in ("mingru", "rglru"):
        app = open_app("explore", model=f"tiny-{cell}")
        clean(app)
        found[cell] = sent(app)[0]["static"]["quantities"]
    assert list(found["mingru"]) == ["hidden", "update", "candidate"]
    assert list(found["rglru"]) == ["hidden", "recurrence", "input", "decay", "candidate"]
    ends = {name: (q["low"], q["high"]) for name, q in found["mingru"].items()}
    assert ends == {"hidden": (0, 4), "update": (0, 1), "candidate": (0, 4)}
    ends = {name: (q["low"], q["high"]) for name, q in found["rglru"].items()}
    assert ends["hidden"] == ends["candidate"] == (-3, 3)
    assert ends["decay"] == (0, 1)


@pytest.mark.usefixtures("linear")
@pytest.mark.parametrize("part", PARTS)
def test_every_part_of_inside_opens(open_app: Open, part: str) -> None:
    app = open_app("inside", part=part, model="tiny-mingru")
    clean(app)
    assert "no gates" not in everything(app)


@pytest.mark.usefixtures("linear")
def test_connectivity_shows_what_is_left_in_the_state(open_app: Open, boards: dict[str, Any]) -> None:
    app = settled(open_app("inside", part="memory", model="tiny-mingru", layer="1"), "inside")
    clean(app)
    (panel,) = [p for p in boards["inside.memory"]["panels"] if p["name"] == "left"]
    assert "layer 1" in panel["title"]
    settled(open_app("inside", part="memory", model="tiny-gru"), "inside")
    assert not [p for p in boards["inside.memory"]["panels"] if p["name"] == "left"]


@pytest.mark.usefixtures("linear")
def test_perplexity_scores_with_it(open_app: Open) -> None:
    app = open_app("perplexity", model="tiny-mingru")
    app.text_area(key="pasted").set_value(TEXT)
    next(b for b in app.button if b.label == "Score this text").click().run()
    clean(settled(app, "perplexity"))
    assert "minGRU" in everything(app)
