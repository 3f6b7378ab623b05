"""Scene 7's long gap, without a browser: what is replayed and said is what was recorded."""

import statistics
from typing import Any

import pytest

from rnnviz.lecture import long_gap
from rnnviz.ui.pages.learn import scene_7_backwards, scene_7_gap
from rnnviz.ui.pages.learn.session import Lecture
from tests.ui.test_learn import answered


def gap(**ask: Any) -> tuple[str, dict[str, Any]]:
    """What is said and drawn after an ask."""
    sent = answered(Lecture({"scene": "7"}), {"step": scene_7_backwards.GAP, "ask": ask})
    return sent["notice"], sent["data"]


@pytest.mark.parametrize("k", long_gap.GAPS)
@pytest.mark.parametrize("gates", scene_7_gap.GATES)
@pytest.mark.parametrize("updates", [0, 7, scene_7_gap.LAST])
def test_every_number_is_the_recordings(k: int, gates: str, updates: int) -> None:
    notice, shown = gap(gap=k, gates=gates, updates=updates)
    rows = {row["cell"]: row for row in shown["rows"]}
    for cell, row in rows.items():
        name = f"{cell}.open" if gates == "open" and cell in ("gru", "lstm") else cell
        recorded = long_gap.recorded().at(name, k)
        assert row["curves"] == [[100 * a for a in seed] for seed in recorded.accuracy]
        for other in long_gap.GAPS:
            right = [100 * seed[updates] for seed in long_gap.recorded().at(name, other).accuracy]
            assert row["ranges"][str(other)] == [min(right), max(right)]
        if cell in ("rnn", "gru", "lstm"):
            low, high = (int(v + 0.5) for v in row["ranges"][str(k)])
            assert f"{cell.upper()} {low}" in notice
            assert f"{high} %" in notice
    mean = statistics.geometric_mean(before for before, _ in long_gap.recorded().at("rnn", k).gradient)
    assert f"arrives: {scene_7_gap.said(float(f'{mean:.1g}')).replace('.0 ×', ' ×')}" in notice
    assert shown["chance"] == 12.5
    assert len(shown["sequence"]) == k + 2


def test_clipping_is_asked_for_where_both_were_run() -> None:
    for k in long_gap.GAPS:
        _, shown = gap(gap=k, clipping="off")
        assert (shown["clipping"] == "off") == (k == long_gap.UNCLIPPED)
    _, shown = gap(gap=long_gap.UNCLIPPED, clipping="off", gates="usual")
    lstm = long_gap.recorded().at("lstm", long_gap.UNCLIPPED, clipped=False)
    row = next(row for row in shown["rows"] if row["cell"] == "lstm")
    assert row["curves"][0][-1] == 100 * lstm.accuracy[0][-1]
    assert list(row["ranges"]) == [str(long_gap.UNCLIPPED)]


def test_its_address_brings_it_back() -> None:
    lecture = Lecture({"scene": "7", "step": "8", "k": "40", "gates": "usual", "updates": "3"})
    assert answered(Lecture(answered(lecture)["query"]))["data"] == answered(lecture)["data"]
    assert gap(gap=33)[1]["gap"] == long_gap.GAPS[-1], "no such gap was run"
