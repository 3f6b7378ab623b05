"""When a text is called foreign to a model, and when it isn't."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.networks import checkpoint
from rnnviz.networks.contamination import MIN_JUDGED_CHARS, foreign_reason, held_out_bits
from rnnviz.scoring.tracer import trace
from rnnviz.ui.shell.example_text import TEXTS

CARD = {"held_out": {"perplexity": 4.0}}  # 2 bits
CHINESE = {"held_out": {"perplexity": 2.0**7}}


def read(name: str, text: str) -> str:
    """What is said of a text under a shipped model."""
    model: Any = checkpoint.load_numpy(checkpoint.find(name))
    text_trace = trace(model, text)
    bits = float(text_trace.nll.mean()) / math.log(2)
    return foreign_reason(model.card, len(text), int((~text_trace.known).sum()), bits)


@pytest.mark.parametrize(
    ("card", "characters", "unknown", "bits", "reason"),
    [
        (CARD, 80, 8, 2.0, ""),
        (CARD, 80, 9, 2.0, "unknown"),
        (CARD, 80, 0, 4.5, ""),
        (CARD, 80, 0, 4.51, "surprise"),
        (CARD, 20, 0, 5.9, ""),
        (CARD, 20, 0, 6.1, "surprise"),
        (CHINESE, 80, 0, 10.9, ""),
        (CHINESE, 80, 0, 11.1, "surprise"),
        (CARD, MIN_JUDGED_CHARS - 1, MIN_JUDGED_CHARS - 1, 30.0, ""),
        (CARD, 80, 0, None, ""),
        ({}, 80, 0, 30.0, ""),
        ({"held_out": None}, 80, 0, 30.0, ""),
        ({"held_out": {"perplexity": math.inf}}, 80, 0, 30.0, ""),
        ({"held_out": {"perplexity": "4"}}, 80, 0, 30.0, ""),
        ({}, 80, 80, 30.0, "unknown"),
    ],
)
def test_text_is_foreign_beyond_a_threshold(
    card: dict[str, Any], characters: int, unknown: int, bits: float | None, reason: str
) -> None:
    assert foreign_reason(card, characters, unknown, bits) == reason


@given(st.integers(0, 500), st.integers(0, 500), st.floats(0, 40), st.floats(1, 500))
def test_more_surprise_or_more_unknown_is_never_less_foreign(
    characters: int, unknown: int, bits: float, perplexity: float
) -> None:
    card = {"held_out": {"perplexity": perplexity}}
    unknown = min(unknown, characters)
    reason = foreign_reason(card, characters, unknown, bits)
    if reason:
        assert foreign_reason(card, characters, unknown, bits + 1)
        assert foreign_reason(card, characters, characters, bits)
    assert not foreign_reason(card, characters, 0, held_out_bits(card))


def test_shipped_models_know_their_own_kind_alone() -> None:
    german = "Als Gregor Samsa eines Morgens aus unruhigen Träumen erwachte, fand er sich in seinem Bett."
    modern = "I bought a new phone yesterday, and the guy at the store told me it would last for two days."
    for name, corpus in (
        ("timemachine-gru", "timemachine"),
        ("shakespeare-lstm", "tinyshakespeare"),
        ("python-lstm", "python-source"),
        ("chinese-gru", "journey"),
    ):
        assert read(name, TEXTS[corpus]) == "", name
    assert read("timemachine-gru", TEXTS["journey"]) == "unknown"
    assert read("timemachine-gru", TEXTS["python-source"]) == "surprise"
    assert read("timemachine-gru", german) == "surprise"
    assert read("timemachine-gru", modern) == ""
    assert read("chinese-gru", modern) == "unknown"
