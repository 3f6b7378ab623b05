"""What Inside says in words of a search and of a probe."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rnnviz import units
from rnnviz.figures.themes import Scale, contrast
from rnnviz.runs import unit_findings
from rnnviz.ui import dashboard
from rnnviz.ui import words as page_words
from rnnviz.ui.pages.inside import probe, words


def weighed(interval: tuple[float, float] | None = (0.88, 0.92), **scores: float) -> units.Evidence:
    """Evidence for a unit that reaches 0.9, beside rivals of such scores."""
    rivals = []
    for kind, number, usual in (("character", 1, 0.7), ("context", 8, 0.8), ("untrained", 1, 0.75)):
        score = scores.get(kind, usual)
        lead = 0.9 - score
        rivals.append(units.Rival(kind, number, score, lead - 0.02, lead + 0.02, 0.002))
    return units.Evidence(tuple(rivals), interval, 0.75, 80)


def reported(**scores: float) -> units.Evidence:
    """The same, where text that had no say in it gives less."""
    rivals = [
        units.Rival(kind, number, score, 0.85 - score - 0.02, 0.85 - score + 0.02, 0.002)
        for kind, number, score in (("character", 1, 0.6), ("context", 8, 0.78), ("untrained", 1, 0.64))
    ]
    return replace(weighed(**scores), report=units.Report(0.85, (0.83, 0.87), tuple(rivals)))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"characters": 19_999}, "**Too little text to tell**: in another text of 19,999 characters"),
        (
            {"characters": 449, "held_out": False},
            "**Too little text to tell**: in another text of 449 characters",
        ),
        ({"evidence": weighed(interval=None)}, "starts and stops too few times in these 20,000 characters"),
        ({"held_out": False}, "unit 0 scores best, with AUC 0.900, but on the text that chose it"),
        (
            {"chance": 0.95},
            "**Nothing found**: on text that the ranking didn't see, the unit that ranked first",
        ),
        ({"evidence": None}, "It has not been compared with all simpler explanations yet."),
        (
            {"evidence": weighed(character=0.89)},
            "alone reaches 0.890. The unit's lead over it is −0.010 to 0.030: too small",
        ),
        (
            {"evidence": weighed(context=0.91)},
            "last 8 characters alone reach 0.910. The unit's lead over them is −0.030 to 0.010",
        ),
        ({"evidence": weighed(untrained=0.99)}, "unit of the same network untrained reaches 0.990"),
        # The strongest is named, as the chart draws it, and the simplest beside it.
        ({"evidence": weighed(character=0.89, context=1.0)}, "But the last 8 characters alone reach 1.000."),
        (
            {"evidence": weighed(character=0.89, context=1.0)},
            "remembers more. It isn't clearly ahead of the current character alone, either (0.890).",
        ),
        (
            {"evidence": weighed(context=0.91, untrained=0.99)},
            "learnt it. It isn't clearly ahead of the last 8 characters alone, either (0.910).",
        ),
        (
            {"evidence": weighed(character=1.0, context=0.99)},
            "But the current character alone reaches 1.000.",
        ),
        ({"evidence": weighed(untrained=0.879)}, "the closest by 0.001 to 0.041: it remembers."),
        ({"chance": 0.89}, "hardly more than chance"),
        ({}, "95 % interval 0.880 to 0.920"),
        ({}, "the last 8 characters 0.800, the best unit of the same network untrained 0.750"),
        ({}, "the closest by 0.080 to 0.120: it remembers. It stays first in 75 % of resamples"),
        ({"evidence": reported()}, "On a third it reaches AUC 0.850 (95 % interval 0.830 to 0.870)"),
        (
            {"evidence": reported()},
            "characters 0.780, the best unit of the same network untrained 0.640.",
        ),
        ({"evidence": reported()}, "Where it was confirmed, it leads the closest by 0.080 to 0.120: it"),
        # What is not confirmed is said with the figures that did not confirm it.
        ({"evidence": reported(context=0.91)}, "last 8 characters alone reach 0.910. The unit's lead"),
    ],
)
def test_what_a_search_found_is_said_in_words(changed: dict[str, Any], said: str) -> None:
    best, other = (units.Found(units.Unit(0, n), score, 0.9, 1, 0.0) for n, score in enumerate((0.9, 0.99)))
    facts = {
        "target": "quotes",
        "measure": "AUC",
        "quantity": "hidden",
        "found": (best, other),
        "chance": 0.6,
        "shifts": np.empty(0),
        "character": 0.7,
        "held_out": True,
        "characters": 20_000,
        "inside": 9,
        "untrained": (0.6, 0.75, 0.7),
        "evidence": weighed(),
    }
    search = units.Search(**{**facts, **changed})
    words_said = words.verdict(search)
    assert said in words_said
    assert ("the closest by" in words_said) == (search.verdict == "remembers")
    kinds = {rival.kind for rival in (search.rival, search.strongest) if rival is not None}
    assert ("either" in words_said) == (len(kinds) == 2)
    assert "Unit 1" not in words_said  # what passes on the half that would have chosen it is no find


def test_the_strongest_rival_is_one_that_is_not_beaten() -> None:
    found = weighed(character=0.89, untrained=0.895)
    assert (found.unbeaten(0.9).kind, found.strongest(0.9).kind) == ("character", "untrained")
    assert weighed().strongest(0.9) is None
    # Where each is beaten, but not surely enough for a family of searches, it is the one that came closest.
    assert weighed().strongest(0.9, level=0.001) == weighed().unbeaten(0.9, level=0.001) is not None


def test_what_is_on_record_is_said_with_the_figures_that_had_no_say_in_it() -> None:
    found = unit_findings.Recorded(
        "quotes", "hidden", "AUC", 0, 7, 0.9, 0.6, 0.7, (0.75,), 66_128, reported()
    )
    said = words.recorded(found)
    assert "names unit 7 for this, confirmed on 66,128 characters" in said
    assert "AUC 0.850 (95 % interval 0.830 to 0.870)" in said
    assert "0.9" not in words.recorded(replace(found, evidence=weighed()))


FEW = tuple(
    units.Few(tuple(units.Unit(0, n) for n in range(k)), score)
    for k, score in [(1, 0.7), (2, 0.7), (4, 0.8), (8, 0.85)]
)


AHEAD = units.Rival("context", 8, 0.8, 0.11, 0.19, 0.002)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "**Spread over many units**: a linear probe on all 16 units reaches AUC 0.950, on the best 8"),
        (
            {"score": 0.71},
            "**One unit** is enough: unit 0 alone reaches AUC 0.700, a linear probe on all 16 units 0.710",
        ),
        (
            {"score": 0.81},
            "**A few units** are enough: a linear probe on 4 units reaches AUC 0.800, on all 16 0.810",
        ),
        ({"untrained": (0.94,)}, "no sign that the network learnt"),
        ({"character": 0.94}, "memory may not be needed"),
        ({"control": (0.94,)}, "0.940 on average for a random target"),
        ({}, "95 % interval of the probe on all units is 0.910 to 0.970"),
        ({"interval": None}, "too short"),
        ({"context": AHEAD}, "last 8 characters alone reach 0.800; the probe is ahead by 0.110 to 0.190."),
        ({"context": replace(AHEAD, low=-0.01)}, "0.800: the probe is not clearly ahead."),
        ({"context": replace(AHEAD, low=None, high=None)}, "too short to say how surely the probe is ahead"),
    ],
)
def test_what_a_probe_found_is_said_in_words(changed: dict[str, Any], said: str) -> None:
    facts = {
        "target": "quotes",
        "measure": "AUC",
        "quantity": "hidden",
        "layers": (0,),
        "score": 0.95,
        "few": FEW,
        "control": (0.5,),
        "untrained": (0.6,),
        "character": 0.55,
        "held_out": True,
        "characters": 20_000,
        "inside": 9,
        "weights": np.ones((1, 16)),
        "interval": (0.91, 0.97),
    }
    found = units.Probe(**{**facts, **changed})
    assert said in probe.sentence(found)
    assert "{" not in probe.sentence(found)
    assert ("no sign" in probe.sentence(found)) == (found.verdict == "untrained")


@pytest.mark.parametrize(("language", "joined"), [("en", "One. Two."), ("zh", "One.Two.")])
def test_chinese_sentences_follow_one_another_without_a_space(
    language: str, joined: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rnnviz.ui.words.language", lambda: language)
    assert page_words.together(["One.", "Two."]) == joined


def test_a_letter_can_be_read_on_every_colour_behind_it() -> None:
    for theme in dashboard._themes().values():
        for colours in theme["palettes"].values():
            assert min(contrast(behind, letter) for behind, letter in colours) >= 4.5


def test_a_scales_ends_have_true_minus_signs() -> None:
    assert dashboard.ends(Scale("diverging", -1.0, 1.0)) == ("diverging", "−1", "1")
