"""Texts that version 0.1.0 compressed are restored."""

from __future__ import annotations

from pathlib import Path

import pytest

from rnnviz.networks import checkpoint
from rnnviz.reading.compression import decompress


@pytest.mark.parametrize("name", ["tiny", "tiny-3gram"])
def test_a_compressed_text_comes_back(name: str) -> None:
    data = Path(__file__).with_name("made_by_0_1_0").joinpath(f"{name}.rnz").read_bytes()
    model = checkpoint.load(Path(__file__).parents[1] / "runs" / "made_by_0_1_0" / f"{name}.safetensors")
    assert decompress(model, data) == "the wet lamp\nat home – 5"
