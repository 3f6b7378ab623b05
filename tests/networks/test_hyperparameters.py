"""A card says how its settings were chosen; so does one made again."""

import json
from pathlib import Path
from typing import Any

import pytest

from rnnviz.errors import ConfigError
from rnnviz.networks import model_card
from tests.support.choices import CANDIDATES, RECIPE, TABLE, candidate


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (json.dumps(CANDIDATES[:1]), "which has .*epochs 2"),
        (json.dumps([*CANDIDATES, candidate(9.0, 3)]), "which has .*epochs 3"),
        ("[]", "which has none"),
        ("{}", "which has none"),
        ('[{"settings": {}}]', "not a list of candidates"),
        ('{"settings": 3}', "not a list of candidates"),
        ("nonsense", "not a list of candidates"),
        ("[" * 10**5, "not a list of candidates"),
        ('[{"settings": {}, "validation_perplexity": [], "characters": 1}]', "not a list of candidates"),
        ('[{"settings": {}, "validation_perplexity": 1, "characters": 1e999}]', "not a list of candidates"),
        (None, "can't be read"),
    ],
)
def test_unchosen_settings_are_refused(content: str | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    if content is not None:
        path.write_text(content, "utf-8")
    with pytest.raises(ConfigError, match=message):
        model_card.read_candidates(path, {**RECIPE, "epochs": 1.0, "seed": 1})


def test_malformed_candidates_are_left_out() -> None:
    odd: list[Any] = [
        None,
        [],
        "x",
        7,
        [None, {"settings": 3}, {"settings": {}, "validation_perplexity": "4"}],
    ]
    assert [model_card.sound_candidates(rows) for rows in odd] == [[]] * len(odd)
    assert model_card.candidates_table(odd) == ""
    assert model_card.sound_candidates(TABLE) == TABLE
