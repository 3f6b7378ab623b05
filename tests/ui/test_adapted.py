"""A network of one's own, saved with a card, in the app."""

from pathlib import Path

import pytest
import torch
from torch import nn

import rnnviz
from tests.ui.apptest import sent
from tests.ui.conftest import Open, everything

KNOWN = "the machine that remembers"


def test_it_opens_with_its_title_its_example_and_its_figure(
    open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    characters = sorted(set(KNOWN))
    rnn, output = nn.LSTM(len(characters), 12), nn.Linear(12, len(characters))
    own = rnnviz.adapt(rnn, output, characters)
    saved = rnnviz.save(
        own, tmp_path / "own.safetensors", title="Remembering", example="that machine", held_out=KNOWN
    )
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path])
    app = open_app("explore", model="own")
    assert not app.exception
    (data, _), words = sent(app), everything(app)
    assert data["text"] == "that machine"
    assert "**Remembering**" in words
    loaded = rnnviz.load(saved)
    assert f"between about {loaded.card['held_out']['perplexity']:.0f} characters" in words
