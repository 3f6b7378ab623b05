"""What a recipe will take, measured once for all who ask."""

import threading
from collections.abc import Callable

import pytest

from rnnviz.errors import TrainingError
from rnnviz.lab.fit import estimate
from rnnviz.lab.pages.train import forecast
from rnnviz.lab.pages.train.settings import FormValues
from rnnviz.lab.pages.train.training_text import TrainingText
from rnnviz.networks.config import TrainConfig
from rnnviz.text.corpora import from_text
from rnnviz.ui.jobs import pending
from rnnviz.ui.jobs.worker import Jobs, Slots
from tests.support.jobs import SOON
from tests.support.waiting import until


def small_form() -> tuple[FormValues, TrainingText]:
    config = TrainConfig(cell="rnn", hidden_size=8, embedding_size=8, batch=4, steps=8, characters=100_000)
    text = TrainingText(from_text("abc " * 2500, "own"), True, 5, (8_000, 1_000, 1_000))
    return FormValues(config, None, "", "own", False), text


def test_a_speed_that_was_not_measured_at_first_is_the_next_time(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(forecast, "QUIET_S", 0.0)
    answers = iter([TrainingError("the processor was busy"), 5_000.0])

    def measured(config: TrainConfig, symbols: int, check: Callable[[], object]) -> float:
        if isinstance(answer := next(answers), Exception):
            raise answer
        return answer

    monkeypatch.setattr(estimate, "measure_speed", measured)
    form, text = small_form()
    for expected in (None, 5_000.0):
        jobs = Jobs()
        monkeypatch.setattr(pending, "_jobs", lambda jobs=jobs: jobs)
        forecast.make_forecast(text, form, measure=True)
        until(lambda jobs=jobs: not jobs.busy())  # type: ignore[misc]
        known = forecast.make_forecast(text, form, measure=True)
        assert (known.speed, known.job) == (expected, None)  # nothing more to wait for
    assert "the processor was busy" in caplog.text


def test_sessions_that_choose_the_same_recipe_share_one_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    trials: list[TrainConfig] = []
    all_asked = threading.Event()

    def counted(config: TrainConfig, symbols: int, check: Callable[[], object]) -> float:
        trials.append(config)
        assert all_asked.wait(SOON)
        return 20_000.0

    monkeypatch.setattr(estimate, "measure_speed", counted)
    slots = Slots(4, exclusive=("trial",))
    sessions = iter([Jobs(slots=slots) for n in range(4)])
    monkeypatch.setattr(pending, "_jobs", lambda: next(sessions))
    form, text = small_form()
    jobs = [forecast.make_forecast(text, form, measure=True).job for _session in range(3)]
    all_asked.set()
    assert all(job is not None and job.page_jobs.wait([job.key], 60) for job in jobs)
    assert len(trials) == 1
    assert {job.result for job in jobs if job is not None} == {
        forecast.make_forecast(text, form, measure=True).speed
    }
