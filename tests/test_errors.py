"""An error is a template and its values, also after a detour through a file or another process."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from rnnviz.errors import CheckpointError, ConfigError, Phrase, RnnvizError, TrainingError

INNER = ConfigError(
    "{name!r} is at least {low:g}; received {size:,}", name="hidden_size", low=1.0, size=-1200
)
OUTER = TrainingError("{path} is damaged ({error}); {{start}} a new run", path=Path("a{b"), error=INNER)


def test_a_sentence_comes_out_of_a_file_as_it_went_in() -> None:
    again = RnnvizError.from_json(json.loads(json.dumps(OUTER.to_json())))
    assert again is not None
    assert (
        str(again)
        == str(OUTER)
        == "a{b is damaged ('hidden_size' is at least 1; received -1,200); {start} a new run"
    )
    assert again.message == OUTER.message
    assert isinstance(again.values["error"], RnnvizError)


def test_a_sentence_crosses_to_another_process() -> None:
    again = pickle.loads(pickle.dumps(INNER))
    assert (type(again), str(again), again.message) == (ConfigError, str(INNER), INNER.message)
    assert again.values == INNER.values


def test_a_phrase_keeps_its_template_inside_a_sentence() -> None:
    error = CheckpointError(
        "{name} is no model: {what}", name="a", what=Phrase("it has {size:,} bytes", size=1234)
    )
    assert str(error) == "a is no model: it has 1,234 bytes"
    again = RnnvizError.from_json(error.to_json())
    assert str(again) == str(error)
    assert again is not None
    assert again.values["what"].message == "it has {size:,} bytes"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "value",
    [
        None,
        "text",
        {"message": "no values"},
        {"message": 3, "values": {}},
        {"message": "{missing}", "values": {"a": 1}},
        {"message": "{a:,}", "values": {"a": "no number"}},
        {"message": "{a:>999999999}", "values": {"a": 1}},
        {"message": "{a.__class__}", "values": {"a": 1}},
        {"message": "{a[0]}", "values": {"a": "x"}},
        {"message": "{", "values": {"a": 1}},
    ],
)
def test_what_is_no_kept_error_is_none(value: object) -> None:
    assert RnnvizError.from_json(value) is None
