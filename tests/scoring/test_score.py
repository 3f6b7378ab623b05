"""What may be said of a scored text, and of the rows of a file: which codes, with which values."""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from rnnviz.errors import TextError
from rnnviz.findings import Number, Sentence
from rnnviz.networks.contamination import Contamination
from rnnviz.scoring.interval import PerplexityInterval
from rnnviz.scoring.score import Averages, CostRow, RowsScore, Score, averages, describe_averages, mark_best
from rnnviz.sentences import describe, level

FIGURES = ("a.txt", "gru", 40_000, 0, 3.71, 3.71, 1.89, 1.88, "utf-8", 0.42, "verified", 0, 40_100)
RANGE = PerplexityInterval(3.6, 3.84, 40_000, halves=(3.7, 3.72))
SCORE = Score(*FIGURES, interval=RANGE, guess=70.0)
ROWS = RowsScore(*FIGURES, words=7, word_perplexity=80.0, rows=30, rows_scored=30, column="text")
scored = partial(replace, SCORE)


def without_range(reason: Any, characters: int = 40_000) -> Score:
    halves = None if reason == "short" else (3.0, 5.0)
    return replace(SCORE, interval=PerplexityInterval(None, None, characters, reason, halves))


def codes(score: Score) -> list[str]:
    return [sentence.code.partition(".")[2] for sentence in score.sentences()]


@pytest.mark.parametrize(
    ("score", "present", "absent"),
    [
        (SCORE, "hesitated range why.range unchanged made", "short few"),
        (without_range("drifts"), "drifts why.drifts", "range why.range"),
        (without_range("uneven"), "uneven why.uneven", "range why.range"),
        (without_range("short"), "short why.short", "range why.range few"),
        (without_range("short", 199), "few why.short", "short"),
        (scored(unknown=400, perplexity_known=3.70), "hesitated", "some-unknown"),
        (scored(unknown=400, perplexity_known=3.60), "some-unknown", "all-unknown hesitated"),
        (scored(unknown=4000, perplexity_known=2.0), "some-unknown", "hesitated"),
        (scored(unknown=40_000, perplexity_known=None), "all-unknown", "some-unknown hesitated"),
        (scored(perplexity=70.1), "some-unknown worse-than-guessing", "hesitated"),
        (scored(perplexity=70.1, perplexity_known=70.1), "worse-than-guessing", "hesitated"),
        (scored(perplexity=69.0, perplexity_known=69.0), "hesitated", "worse-than-guessing"),
        (scored(unsettled=512), "last-digits rounding", ""),
        (scored(words=7, word_perplexity=80.0), "words", ""),
        (scored(normalised=2), "converted", "unchanged"),
        (
            scored(normalised=2, replaced=2, normaliser="typography"),
            "replaced.typography",
            "converted unchanged",
        ),
        (
            scored(normalised=3, replaced=2, normaliser="corner-brackets"),
            "replaced.corner-brackets converted",
            "",
        ),
        (
            scored(unknown=20, rewritings={"straight": 2, "plain": 1, "composed": -9}),
            "rewriting.straight",
            "rewriting.plain rewriting.composed",
        ),
        (scored(perplexity=1e12, perplexity_known=1e12), "worse-than-guessing", "hesitated"),
        (scored(encoding=None), "made", "unchanged converted"),
        (scored(precise=True), "made-precisely", "made"),
        (scored(overlap=Contamination(0.2, 1000)), "trained-on", ""),
        (scored(overlap=Contamination(0.2, 10)), "", "trained-on"),  # too few to be sure
        (scored(overlap=Contamination(0.01, 10**6)), "", "trained-on"),  # idioms
    ],
)
def test_text_score_has_its_sentences(score: Score, present: str, absent: str) -> None:
    sentence_codes = codes(score)
    assert set(present.split()) <= set(sentence_codes)
    assert not set(absent.split()) & set(sentence_codes)


@pytest.mark.parametrize(
    ("low", "high", "digits"),
    [
        (5.16, 7.74, ("5.1", "7.8")),
        (1.0, 1.004, ("1.0", "1.1")),
        (9.96, 40.18, ("9.9", "41")),
        (123.4, 2345.0, ("120", "2,400")),
        (5.16, math.inf, ("5.1", "far beyond guessing")),
        (math.inf, math.inf, ("far beyond guessing", "far beyond guessing")),
    ],
)
def test_range_is_rounded_outward_to_two_digits(low: float, high: float, digits: Any) -> None:
    (sentence,) = (
        sentence
        for sentence in scored(interval=PerplexityInterval(low, high, 40_000)).sentences()
        if sentence.code == "score.range"
    )
    assert (
        describe(sentence.values["about_low"], "en"),
        describe(sentence.values["about_high"], "en"),
    ) == digits


def test_facts_hold_figures_interval_and_comparison() -> None:
    compared = mark_best(
        [CostRow("gru", "model", "the model", 3.71, 1.89), CostRow("xz", "compressor", "", 4, 2.0)]
    )
    facts = scored(compared=compared, overlap=Contamination(0.2, 10)).facts()
    figures = SCORE.to_json()
    assert list(figures.values()) == [*FIGURES, False, 0, None, None, 0]
    assert list(facts) == [*figures, "interval", "interval_method", "interval_why_not", "overlap", "compared"]
    assert facts.items() >= figures.items()
    assert (facts["interval"], facts["interval_why_not"]) == ([3.6, 3.84], None)
    assert [row["best"] for row in facts["compared"]] == [True, False]
    assert "compared" not in SCORE.facts()
    drifting = without_range("drifts").facts()
    assert (drifting["interval"], drifting["interval_why_not"]) == (None, "drifts")
    assert scored(interval=None).facts() == figures


def test_facts_of_rows_hold_counts_and_no_examples() -> None:
    lost = replace(ROWS, damage=TextError("it ends early"), examples=((3, TextError("its text is null")),))
    added = {"rows": 30, "rows_scored": 30, "rows_left_out": {}, "column": "text", "given": None}
    assert lost.facts() == {
        **scored(words=7, word_perplexity=80.0).to_json(),
        **added,
        "column_found": False,
        "separator_missing": None,
        "damage": "it ends early",
    }


def test_unigram_is_never_the_best_row() -> None:
    rows = [CostRow(name, name, "", 2.0, bits) for name, bits in (("model", 2.0), ("unigram", 1.0))]
    score = scored(compared=mark_best([*rows, CostRow("other", "model", "", 4.0, 2.1)]))
    assert [entry.best for entry in score.compared] == [True, False, False]
    rows = [(row[2], row[3], row[5]) for row in score.table().rows]
    assert rows == [
        ("model", Sentence("score.kind.own"), Number(2.0)),
        ("unigram", Sentence("score.kind.unigram"), Number(1.0)),
        ("other", Sentence("score.kind.model"), Number(2.1)),
    ]
    (panel,) = score.panels()
    assert panel.picture.chosen == 0  # type: ignore[union-attr]
    assert panel.notice[0].values["name"] == "model"
    assert SCORE.panels() == []


@pytest.mark.parametrize(
    ("score", "present"),
    [
        (ROWS, "scored words column made"),
        (replace(ROWS, column_found=True), "column-found"),
        (replace(ROWS, given="asked", given_characters=9), "after-context"),
        (replace(ROWS, rows=33, rows_left_out={"null": 1, "type": 2}), "left-out"),
    ],
)
def test_rows_score_has_its_sentences(score: RowsScore, present: str) -> None:
    assert set(present.split()) <= set(codes(score))


def test_rows_left_out_are_a_caution_that_counts_them() -> None:
    left_out = {"null": 1, "type": 2}
    score = replace(ROWS, rows=33, rows_left_out=left_out, examples=((3, TextError("its text is null")),))
    (caution,) = [sentence for sentence in score.sentences() if level(sentence) == "caution"]
    assert (caution.values["left"], caution.values["rows"]) == (Number(3, "count"), Number(33, "count"))
    assert [sentence.code for sentence in caution.values["kinds"]] == ["rows.null", "rows.type"]  # type: ignore[attr-defined]


def test_kinds_of_change_have_counts_of_their_own() -> None:
    sentences_by_code = {
        sentence.code: sentence
        for sentence in scored(normalised=180, replaced=177, normaliser="typography").sentences()
    }
    assert "3 line endings converted" in describe(sentences_by_code["score.converted"], "en")
    replaced = describe(sentences_by_code["score.replaced.typography"], "en")
    assert replaced.startswith("177 characters")
    assert "the text as read" in replaced
    assert "line" not in replaced


@pytest.mark.parametrize(
    ("readings", "named"),
    [
        (["", "", ""], None),
        (["typography"] * 3, None),
        (["typography", "", "typography"], ["0", "2"]),
        (["typography", "corner-brackets"], ["0", "1"]),
    ],
)
def test_comparison_names_models_that_replace_characters(
    readings: list[str], named: list[str] | None
) -> None:
    rows = [CostRow(str(n), "model", "", 2.0, 1.0, reading=reading) for n, reading in enumerate(readings)]
    score = scored(compared=mark_best(rows))
    for sentences in (score.sentences(), score.panels()[0].notice):
        names = [sentence.values["names"] for sentence in sentences if sentence.code == "score.read-apart"]
        assert names == ([named] if named else [])
    table = replace(ROWS, compared=mark_best(rows))
    assert ("read-apart" in codes(table)) is bool(named)


def test_averages_weigh_characters_or_texts() -> None:
    long = scored(characters=30, bits_per_character=1.0)
    both = averages([long, replace(long, characters=10, bits_per_character=3.0)])
    assert (both.micro, both.macro) == (pytest.approx(2**1.5), pytest.approx(2**2))
    assert (both.texts, both.characters) == (2, 40)


def test_averages_are_one_sentence() -> None:
    sentence = describe_averages(Averages(2.16, 4.66, 2, 30))
    assert [describe(sentence.values[name], "en") for name in ("micro", "macro", "texts")] == [
        "2.16",
        "4.66",
        "2",
    ]
