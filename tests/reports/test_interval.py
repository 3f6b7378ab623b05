"""Intervals: what they cover of a known distribution, what blocks they come from, what they refuse."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rnnviz.errors import ConfigError
from rnnviz.networks.ngram import NgramModel
from rnnviz.reports.interval import MOST, _Blocks, interval
from tests.conftest import TEXT
from tests.reports.recorded import recorded, told

NGRAM = NgramModel.fit(TEXT, order=3, name="3gram")


def _coverage(draw, truth: float, times: int, **options) -> float:
    hits = 0
    for seed in range(times):
        found = interval(draw(np.random.default_rng(seed)), samples=500, seed=seed, **options)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= truth <= found.high
    return hits / times


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize(("n", "block"), [(200, "line"), (300, "line"), (1200, 100), (20_000, 100)])
def test_it_covers_the_truth_as_often_as_it_says(n: int, block: int | str, level: float) -> None:
    # Costs like a model's: skewed, and neighbours alike for some 5 characters. The mean is 2 nats.
    def draw(rng: np.random.Generator) -> np.ndarray:
        return np.repeat(rng.exponential(2.0, size=n // 5), 5)

    found = _coverage(draw, math.exp(2), 300, level=level, block=block)
    # 300 trials tell a coverage to within about 2.5 of its standard errors here.
    assert abs(found - level) < 2.5 * math.sqrt(level * (1 - level) / 300) + 0.02


def test_it_is_the_bootstrap_t_and_not_the_plain_percentile() -> None:
    # Few blocks with skewed costs, where the two differ most; both by their definitions, drawn anew.
    costs = np.random.default_rng(3).exponential(2.0, 15) ** 1.5
    drawn = np.random.default_rng(4).choice(costs, (20_000, len(costs)))
    means, errors = drawn.mean(axis=1), drawn.std(axis=1) / math.sqrt(len(costs))
    t = np.quantile((means - costs.mean()) / errors, [0.975, 0.025])
    low, high = costs.mean() - t * costs.std() / math.sqrt(len(costs))
    found = interval(costs, block=1, samples=20_000)
    assert math.log(found.high) == pytest.approx(high, rel=0.05)
    assert math.log(found.low) == pytest.approx(max(low, 0), rel=0.05)
    assert math.log(found.high) > 1.3 * np.quantile(means, 0.975)


def test_blocks_are_there_because_neighbours_are_alike() -> None:
    def draw(rng: np.random.Generator) -> np.ndarray:
        return np.repeat(rng.exponential(2.0, size=200), 50)

    assert _coverage(draw, math.exp(2), 200, block=1) < 0.5
    assert _coverage(draw, math.exp(2), 200, block=500) > 0.88


def test_a_longer_text_has_a_narrower_interval() -> None:
    widths = []
    for n in (2_000, 32_000):
        found = interval(np.random.default_rng(1).exponential(2.0, n), block=20)
        widths.append(math.log(found.high / found.low))
    assert widths[0] / widths[1] == pytest.approx(4, rel=0.3)


def test_lines_are_drawn_and_the_perplexity_lies_within(tmp_path: Path) -> None:
    made = recorded(tmp_path, NGRAM, "The Time Traveller was quiet.\nHe jumped, then:\n brass!\n" * 30)
    found = interval(made)
    assert (found.blocks, found.block_kind, found.level, found.reason) == (90, "line", 0.95, "")
    assert found.low < made.report.perplexity < found.high
    assert interval(made) == found
    assert interval(made, seed=1) != found
    narrower = interval(made, level=0.5)
    assert found.low < narrower.low < narrower.high < found.high


def test_stretches_of_a_record_and_of_its_costs_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = recorded(tmp_path, NGRAM, TEXT)
    expected = interval(made, block=30)
    assert (expected.blocks, expected.block_kind) == (-(-len(TEXT) // 30), "30 characters")
    for stretch in (7, 64, 1 << 18):
        monkeypatch.setattr("rnnviz.reports.interval.STRETCH", stretch)
        for costs in (made, made.read("nll")):
            found = interval(costs, block=30)
            assert found.blocks == expected.blocks
            assert (found.low, found.high) == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_costs_alone_have_no_lines() -> None:
    found = interval(np.random.default_rng(0).exponential(size=2_050))
    assert (found.blocks, found.block_kind) == (21, "100 characters")


@pytest.mark.parametrize("text", ["x" * 3000, "a\n" * 30 + "x" * 3000], ids=["one line", "one long line"])
def test_a_text_that_is_mostly_one_line_is_cut_into_stretches(text: str, tmp_path: Path) -> None:
    made = told(tmp_path, text, np.random.default_rng(0).exponential(size=len(text)))
    found = interval(made)
    assert (found.blocks, found.block_kind) == (-(-len(text) // 100), "100 characters")
    assert found.low < made.report.perplexity < found.high


def test_too_short_a_text_gets_a_reason_and_no_interval(tmp_path: Path) -> None:
    for costs in (told(tmp_path, "a\n" * 9, np.ones(18)), np.ones(180), np.empty(0)):
        found = interval(costs)
        assert (found.low, found.high) == (None, None)
        assert found.blocks < 10
        assert found.reason == f"{found.blocks} blocks of 20 characters are too few; it takes 10"
    assert interval(np.ones(900), block=100).reason.startswith("9 blocks of 100 characters are too few")
    assert interval(told(tmp_path, "a\n" * 10, np.ones(20))).low is not None


@pytest.mark.parametrize(
    ("n", "blocks", "size"), [(200, 10, 20), (205, 11, 20), (345, 11, 34), (999, 11, 99), (1000, 10, 100)]
)
def test_a_short_text_of_few_lines_is_cut_into_tenths(n: int, blocks: int, size: int, tmp_path: Path) -> None:
    made = told(
        tmp_path, "x" * (n // 2) + "\n" + "y" * (n - n // 2 - 1), np.random.default_rng(0).exponential(size=n)
    )
    found = interval(made)
    assert (found.blocks, found.block_kind) == (blocks, f"{size} characters")
    assert found.low < made.report.perplexity < found.high


def test_one_block_unlike_all_others_is_no_ground_for_an_interval() -> None:
    costs = np.concatenate([np.full(100, 5.0), np.tile([0.1, 0.12], 2000)])
    found = interval(costs, block=100)
    assert (found.low, found.high) == (None, None)
    assert "one block of 100 characters" in found.reason


def test_equal_costs_leave_nothing_uncertain() -> None:
    found = interval(np.full(2000, math.log(26)))
    assert (found.low, found.high) == (pytest.approx(26), pytest.approx(26))
    assert interval(np.zeros(2000)).low == interval(np.zeros(2000)).high == 1


def test_a_perplexity_is_never_below_one() -> None:
    costs = np.zeros(1000)
    costs[500] = 300.0
    found = interval(costs)
    assert 1 <= found.low < found.high


def test_many_lines_are_joined_and_none_is_lost(tmp_path: Path) -> None:
    n = 3 * MOST + 5
    costs = np.random.default_rng(0).exponential(size=2 * n)
    found = interval(told(tmp_path, "a\n" * n, costs))
    assert (found.block_kind, found.blocks) == ("4 lines", -(-n // 4))
    assert found.low < math.exp(costs.mean()) < found.high
    assert interval(costs, block=1).block_kind == "8 characters"


@pytest.mark.parametrize("step", [1, 7, 1000, 10**6])
def test_joining_keeps_sums_sizes_and_neighbours(step: int) -> None:
    n = 5 * MOST + 3
    values = np.random.default_rng(0).exponential(size=n)
    blocks = _Blocks()
    for start in range(0, n, step):
        part = values[start : start + step]
        blocks.add(part, np.ones(len(part)))
    unit = blocks.finish()
    assert unit == 8
    np.testing.assert_allclose(blocks.sums, np.add.reduceat(values, np.arange(0, n, unit)))
    assert blocks.counts.tolist() == [8] * (n // 8) + [n % 8]


@pytest.mark.parametrize("block", ["line", 100])
@pytest.mark.parametrize("text", ["a line\n" * 300, "x" * 2100], ids=["lines", "one line"])
def test_whoever_waits_can_end_it_at_any_time(
    text: str, block: int | str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Enough(Exception):
        pass

    made = told(tmp_path, text, np.random.default_rng(0).exponential(size=len(text)))
    monkeypatch.setattr("rnnviz.reports.column_files.STRETCH", 200)
    monkeypatch.setattr("rnnviz.reports.interval.STRETCH", 200)
    looks: list[int] = []
    expected = interval(made, block=block, check=lambda: looks.append(1))
    assert expected == interval(made, block=block)
    assert len(looks) > 10  # one for each stretch, and for each batch of samples
    for last in range(len(looks)):
        left = iter(range(last))

        def check(left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise Enough

        with pytest.raises(Enough):
            interval(made, block=block, check=check)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": 0}, "between 0 and 1"),
        ({"level": 1.0}, "between 0 and 1"),
        ({"samples": 99}, "at least 100 samples; received 0.95 and 99"),
        ({"block": 0}, 'a block is "line" or a number of characters; received 0'),
        ({"block": True}, "received True"),
        ({"block": "word"}, "received 'word'"),
    ],
)
def test_settings_that_cannot_be(options: dict, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        interval(np.ones(100), **options)


@pytest.mark.parametrize("costs", [np.ones((2, 3)), [1.0, np.nan], [np.inf]])
def test_costs_that_are_none(costs) -> None:
    with pytest.raises(ConfigError, match="finite numbers in one row"):
        interval(costs)
