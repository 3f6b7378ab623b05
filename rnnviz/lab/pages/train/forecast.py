"""The forecast of a run: parameters, memory, speed and time. A background job measures the speed once."""

import logging
import time
from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from rnnviz.errors import RnnvizError
from rnnviz.i18n import _
from rnnviz.lab.fit import estimate
from rnnviz.lab.pages.train import run_words
from rnnviz.lab.pages.train.settings import FormValues
from rnnviz.lab.pages.train.training_text import TrainingText
from rnnviz.networks.config import TrainConfig
from rnnviz.networks.progress import Progress, Share
from rnnviz.networks.settings import settings_of
from rnnviz.page.formatting import duration
from rnnviz.ui.jobs import pending, store
from rnnviz.ui.jobs.pending import ask
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import END_STATES, Job

log = logging.getLogger("rnnviz")

QUIET_S = 1.5  # seconds that a recipe must stay unchanged before its speed is measured


@dataclass(frozen=True)
class Forecast:
    """The forecast of a run.

    run_estimate  the estimate of parameters and memory, or a refusal
    speed         characters a second, or None before it is measured
    job           the job that measures the speed now, or None
    """

    run_estimate: estimate.Estimate
    speed: float | None
    job: Job | None


def make_forecast(text: TrainingText, form: FormValues, *, measure: bool) -> Forecast:
    """The forecast so far; `measure`: whether to measure the speed if it is unknown."""
    config, key = form.config, Key("speed", rest=speed_key(form.config, text.symbols))
    speed = store.shared().get(key)
    run_estimate = estimate.estimate(config, text.symbols, text.corpus.characters)
    # A known speed is kept. None is measured beside a run, whose steps would slow it, nor for the toy,
    # whose training takes seconds.
    if speed or run_estimate.refusal or not measure or text.toy:
        return Forecast(run_estimate, speed, None)
    work = partial(_measure, config, text.symbols)
    trial = ask(key, "the trial of a recipe's speed", work, patience=0, shared=True, kind="trial")
    return Forecast(run_estimate, trial.value, trial.job if trial.waits else None)


def speed_key(config: TrainConfig, symbols: int) -> Hashable:
    """The settings that the speed depends on, as a key."""
    recipe_type: Any = type(config)
    speed_settings = [
        # A mask takes as long whatever share it drops.
        getattr(config, name) > 0 if about.is_share else getattr(config, name)
        for name, about in settings_of(recipe_type).items()
        if about.affects_speed
    ]
    return (*speed_settings, symbols)


def _measure(config: TrainConfig, symbols: int, progress: Progress) -> float:
    check = partial(progress, Share(0.0))
    until = time.monotonic() + QUIET_S
    # A reader may still be changing settings: `check` ends this job once its recipe isn't wanted any more.
    while time.monotonic() < until:
        time.sleep(0.05)
        check()
    try:
        return float(estimate.measure_speed(config, symbols, check=check))
    except RnnvizError as error:  # the page then shows the forecast without a speed
        log.warning("the speed could not be measured: %s", error)
        raise


def show(text: TrainingText, form: FormValues, forecast: Forecast) -> None:
    """Draw the forecast in one line, refreshed while the speed is being measured."""
    # A fragment: Streamlit redraws this line alone, and only as long as the trial goes on.
    interval_s = 0.5 if forecast.job is not None else None
    st.fragment(_line, run_every=interval_s, key="train-forecast")(text, form, forecast)


def _line(text: TrainingText, form: FormValues, forecast: Forecast) -> None:
    run_estimate, speed, config = forecast.run_estimate, forecast.speed, form.config
    parts = [
        run_words.kind(config.to_json()),
        _("{n} parameters").format(n=f"{run_estimate.parameters:,}"),
        _("about {size} of memory").format(size=rough_size(run_estimate.bytes)),
    ]
    if speed is not None:
        parts.append(_("about {speed} characters a second").format(speed=f"{float(f'{speed:.2g}'):,.0f}"))
    elif forecast.job is not None:
        parts.append(_waiting(forecast.job))
    if form.minutes is not None:
        parts.append(_("{m} min").format(m=f"{form.minutes:,g}"))
        if speed is not None:
            passes = speed * form.minutes * 60 / max(1, text.parts[0])
            read = f"{passes:.2g}" if passes < 9.95 else f"{passes:.0f}"
            parts.append(_("reads the text {n} times").format(n=read))
    elif speed is not None:
        parts.append(_("about {time}").format(time=duration(config.characters / speed)))
    elif text.toy:
        parts.append(_("a few seconds"))
    if form.changed:
        parts.append(_("settings changed"))
    st.caption(" · ".join(parts))


def rough_size(count: int) -> str:
    """A number of bytes in MB or GB, to two digits: an estimate has no more."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{float(f'{count / 1e6:.2g}'):.0f} MB"


def _waiting(job: Job) -> str:
    if job.state in END_STATES:
        st.rerun()  # the speed is known
    before = job.page_jobs.slots.jobs_ahead(job)
    if before is None:
        return _("measuring its speed …")
    return _("its speed will be measured: {place}").format(place=pending.queue_position(before))
