"""What a run would take: parameters, memory, speed, time; measured once, in the background."""

import logging
import time
from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial

import streamlit as st

from rnnviz.errors import RnnvizError
from rnnviz.i18n import _
from rnnviz.networks.config import TrainConfig
from rnnviz.training import estimate
from rnnviz.ui.hosting import allowed
from rnnviz.ui.jobs import progress, store
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import OVER, Check, Jobs, Step, Steps
from rnnviz.ui.pages.train import words as say
from rnnviz.ui.pages.train.settings import Recipe
from rnnviz.ui.pages.train.texts import Chosen
from rnnviz.ui.words import duration

log = logging.getLogger("rnnviz")

QUIET = 1.5  # seconds that a choice must stand before its speed is measured


@dataclass(frozen=True)
class Forecast:
    """An estimate, the characters per second if known, and the job that measures them."""

    found: estimate.Estimate
    speed: float | None
    job: Key | None


def of(jobs: Jobs, text: Chosen, recipe: Recipe, *, measure: bool) -> Forecast:
    """What is known by now; `measure`: whether to measure the speed."""
    key = Key("speed", rest=shape(recipe.config, text.symbols))
    fast = store.shared().get(key)
    found = estimate.estimate(recipe.config, text.symbols, text.corpus.characters)
    if fast or found.refusal or not measure or text.toy or not allowed.to_measure():
        return Forecast(found, fast, None)
    job = jobs.ask(key, "", partial(_measuring, recipe.config, text.symbols, key), kind="trial")
    return Forecast(found, job.result, None if job.state in OVER else key)  # over: not for want of asking


def shape(config: TrainConfig, symbols: int) -> Hashable:
    """What decides the speed."""
    return (
        config.cell, config.hidden_size, config.layers, config.embedding_size, config.batch, config.steps,
        config.dropout_weight > 0, config.dropout_layer > 0, config.precision, symbols,
    )  # fmt: skip


def _measuring(config: TrainConfig, symbols: int, key: Key, check: Check) -> Steps[float | None]:
    until = time.monotonic() + QUIET
    while (found := store.shared().get(key)) is None and time.monotonic() < until:
        time.sleep(0.05)
        yield Step(0.0)
    check()
    if found is None:  # it wasn't measured for another visitor while this one waited
        try:
            found = estimate.measured(config, symbols, check=check)
        except (RnnvizError, OSError) as error:  # the page then says what it knows without
            log.warning("the speed could not be measured: %s", error)
            return None
    return store.shared().put(key, float(found))


def show(jobs: Jobs, text: Chosen, recipe: Recipe, forecast: Forecast) -> None:
    """The forecast in one line, refreshed while the speed is being measured."""
    every = 0.5 if forecast.job is not None else None
    st.fragment(_line, run_every=every, key="train-forecast")(jobs, text, recipe, forecast)


def _line(jobs: Jobs, text: Chosen, recipe: Recipe, forecast: Forecast) -> None:
    found, fast, config = forecast.found, forecast.speed, recipe.config
    parts = [
        say.kind(config.to_json()),
        _("{n} parameters").format(n=f"{found.parameters:,}"),
        _("about {size} of memory").format(size=roughly(found.bytes)),
    ]
    if fast is not None:
        parts.append(_("about {speed} characters a second").format(speed=f"{float(f'{fast:.2g}'):,.0f}"))
    elif forecast.job is not None:
        parts.append(_waiting(jobs, forecast.job))
    if recipe.minutes is not None:
        parts.append(_("{m} min").format(m=f"{recipe.minutes:,g}"))
        if fast is not None:
            passes = fast * recipe.minutes * 60 / max(1, text.parts[0])
            read = f"{passes:.2g}" if passes < 9.95 else f"{passes:.0f}"
            parts.append(_("reads the text {n} times").format(n=read))
    elif fast is not None:
        parts.append(_("about {time}").format(time=duration(config.characters / fast)))
    elif text.toy:
        parts.append(_("a few seconds"))
    if recipe.changed:
        parts.append(_("settings changed"))
    st.caption(" · ".join(parts))


def roughly(count: int) -> str:
    """Memory in words, to two digits: an estimate has no more."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{float(f'{count / 1e6:.2g}'):.0f} MB"


def _waiting(jobs: Jobs, key: Key) -> str:
    job = jobs.get(key)
    if job is None or job.state in OVER:
        st.rerun()  # it is measured
    before = jobs.places.before(job)
    if before is None:
        return _("measuring its speed …")
    return _("its speed will be measured: {place}").format(place=progress.place(before))
