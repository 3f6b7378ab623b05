"""The closing scene: its numbers, the ways to its steps, and the score of what was answered."""

import pytest

from rnnviz.lecture import summary
from rnnviz.lecture.questions import QUESTIONS
from rnnviz.ui.pages.learn import models, scene_9_summary, scenes
from rnnviz.ui.pages.learn.session import Lecture
from tests.ui.test_learn import answered

NUMBER = scenes.MODULES.index("scene_9_summary") + 1


def test_every_point_leads_to_the_step_that_shows_its_number() -> None:
    lecture = Lecture({"scene": str(NUMBER)})
    places = []
    for step, count in ((0, 5), (1, 4)):
        rows = answered(lecture, {"step": step})["data"]["rows"]
        assert len(rows) == count
        for row in rows:
            assert any(c.isdigit() for c in row["number"])
            assert len(row["says"].split()) <= 25
            places.append((row["go"]["scene"], row["go"]["step"]))
            found = answered(Lecture({"scene": str(places[-1][0]), "step": str(places[-1][1] + 1)}))
            assert (found["scene"], found["step"]) == places[-1]
    assert len(set(places)) == len(places)
    assert [scene for scene, _ in places] == sorted(scene for scene, _ in places[:5]) + [7] * 4


def test_the_numbers_are_those_of_the_core() -> None:
    lecture = Lecture({"scene": str(NUMBER)})
    first, second = (answered(lecture, {"step": step})["data"]["rows"] for step in (0, 1))
    rnn, gru = models.network("timemachine-rnn"), models.network("timemachine-gru")
    run = summary.learned()
    assert [row["number"] for row in first] == [
        f"{summary.recurrent(rnn):.2f}",
        f"{summary.history():.2f}",
        "83",
        f"{run.before:.1f} → {run.after:.2f}",
        f"{2 ** gru.card['held_out']['bits_per_character']:.2f}",
    ]
    assert str(gru.vocabulary.size) in first[-1]["of"]
    assert second[0]["number"] == f"{summary.handed_back(recurrent=True):.3f}"
    assert second[1]["number"] == str(summary.cached())
    assert float(second[2]["number"]) == pytest.approx(summary.powers(), rel=0.05)
    assert second[3]["number"].split()[::2] == [str(n) for n in summary.left()]


def test_the_first_number_is_the_one_its_step_shows() -> None:
    row = answered(Lecture({"scene": str(NUMBER)}))["data"]["rows"][0]
    place = {name: str(row["go"][name] + (name == "step")) for name in ("scene", "step")}
    assert row["number"] == f"{answered(Lecture(place))['data']['prediction']:.2f}"


def test_a_trained_network_s_perplexity_is_below_a_uniform_guess() -> None:
    gru = models.network("timemachine-gru")
    assert 1 < 2 ** gru.card["held_out"]["bits_per_character"] < gru.vocabulary.size / 10


def test_the_score_is_of_what_this_lecture_has_answered() -> None:
    lecture = Lecture({"scene": "8"})
    right = 0
    for step, question in enumerate(QUESTIONS[:3]):
        answered(lecture, {"step": step})
        sent = answered(lecture, {"ask": {"question": question.key, "pick": 0}})
        right += sent["data"]["answer"] == 0
    sent = answered(lecture, {"scene": NUMBER, "step": scene_9_summary.FURTHER})
    assert sent["data"]["score"] == {"right": right, "given": 3}
    assert sent["data"]["count"] == len(QUESTIONS)
    assert f"{len(QUESTIONS) - 3} more to answer" in sent["notice"]
    again = answered(Lecture(sent["query"]))
    assert again["data"] == sent["data"], "its address keeps the answers"
    assert answered(Lecture({"scene": str(NUMBER), "step": "3"}))["data"]["score"]["given"] == 0


def test_what_to_read_is_in_the_order_of_its_years() -> None:
    assert len(scene_9_summary.READING) == 8
    years = [year for _authors, year, _title in scene_9_summary.READING]
    assert years == sorted(years)
