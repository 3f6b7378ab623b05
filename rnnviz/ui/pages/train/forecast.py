"""What a run would take: parameters, memory, speed, time; measured once, in the background."""

import logging
import threading
import time
from collections.abc import Generator, Hashable
from dataclasses import dataclass

import streamlit as st

from rnnviz.errors import RnnvizError
from rnnviz.i18n import _
from rnnviz.networks.config import TrainConfig
from rnnviz.training import estimate
from rnnviz.ui.hosting import allowed
from rnnviz.ui.jobs import progress
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import OVER, Check, Jobs, Step
from rnnviz.ui.pages.train import words as say
from rnnviz.ui.pages.train.settings import Recipe
from rnnviz.ui.pages.train.texts import Chosen
from rnnviz.ui.words import duration

log = logging.getLogger("rnnviz")

QUIET = 1.5  # seconds that a choice must stand before its speed is measured
_speeds: dict[Hashable, float] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class Forecast:
    """An estimate, the characters per second if known, and the job that measures them."""

    found: estimate.Estimate
    speed: float | None
    job: Key | None


def of(jobs: Jobs, text: Chosen, recipe: Recipe, *, measure: bool) -> Forecast:
    """What is known by now; `measure`: whether to measure the speed."""
    key = shape(recipe.config, text.symbols)
    with _lock:
        fast = _speeds.get(key)
    found = estimate.estimate(recipe.config, text.symbols, text.characters)
    if fast or found.refusal or not measure or text.toy or not allowed.to_measure():
        return Forecast(found, fast, None)
    name = Key("speed", rest=key)
    job = jobs.ask(name, "", lambda check: _measuring(recipe.config, text.symbols, key, check), kind="trial")
    return Forecast(found, job.result, None if job.state in OVER else name)  # over: not for want of asking


def shape(config: TrainConfig, symbols: int) -> Hashable:
    """What decides the speed."""
    return (
        config.cell, config.hidden_size, config.layers, config.embedding_size, config.batch, config.steps,
        config.dropout_weight > 0, config.dropout_layer > 0, config.precision, symbols,
    )  # fmt: skip


def _measuring(
    config: TrainConfig, symbols: int, key: Hashable, check: Check
) -> Generator[Step, None, float | None]:
    until = time.monotonic() + QUIET
    while time.monotonic() < until and key not in _speeds:
        time.sleep(0.05)
        yield Step(0.0)
    check()
    with _lock:
        if key in _speeds:  # measured for another visitor while this one waited
            return _speeds[key]
    try:
        found = estimate.measured(config, symbols, check=check)
    except (RnnvizError, OSError) as error:  # the page then says what it knows without
        log.warning("the speed could not be measured: %s", error)
        return None
    with _lock:
        _speeds[key] = found
    return found


def show(jobs: Jobs, text: Chosen, recipe: Recipe, forecast: Forecast) -> None:
    """The forecast in one line, refreshed while the speed is being measured."""
    busy = forecast.job is not None and bool(jobs.busy([forecast.job]))
    st.fragment(_line, run_every=0.5 if busy else None, key="train-forecast")(jobs, text, recipe, forecast)


def roughly(count: int) -> str:
    """Memory in words, to two digits: an estimate has no more."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{float(f'{count / 1e6:.2g}'):.0f} MB"


def span(seconds: float) -> str:
    """A chosen length of time: whole minutes without seconds."""
    if seconds >= 60 and seconds % 60 == 0:
        return _("{m} min").format(m=f"{seconds / 60:,.0f}")
    return duration(seconds)


def _waiting(jobs: Jobs, key: Hashable) -> str:
    job = jobs.get(key)
    before = None if job is None else jobs.before(job)
    if before is None:
        return _("measuring its speed …")
    return _("its speed will be measured: {place}").format(place=progress.place(before))


def _line(jobs: Jobs, text: Chosen, recipe: Recipe, forecast: Forecast) -> None:
    found, fast = forecast.found, forecast.speed
    busy = forecast.job is not None and bool(jobs.busy([forecast.job]))
    if forecast.job is not None and not busy:
        st.rerun()  # it is measured
    config = recipe.config
    parts = [
        say.kind(config.to_json()),
        _("{n} parameters").format(n=f"{found.parameters:,}"),
        _("about {size} of memory").format(size=roughly(found.bytes)),
    ]
    share = max(1, text.parts[0])
    if fast is not None:
        parts.append(_("about {speed} characters a second").format(speed=f"{float(f'{fast:.2g}'):,.0f}"))
    elif busy:
        parts.append(_waiting(jobs, forecast.job))
    if recipe.minutes is not None:
        parts.append(span(recipe.minutes * 60))
        if fast is not None:
            passes = fast * recipe.minutes * 60 / share
            parts.append(
                _("reads the text {n} times").format(n=f"{passes:.2g}" if passes < 9.95 else f"{passes:.0f}")
            )
    elif fast is not None:
        parts.append(_("about {time}").format(time=duration(config.characters / fast)))
    elif text.toy:
        parts.append(_("a few seconds"))
    line = " · ".join(parts)
    if recipe.changed:
        line += " · " + _("settings changed")
    st.caption(line)
