"""How many characters a recipe trains on in a given time on this machine, from a short trial.

The trial trains a model of its own, which is thrown away: the run that follows
begins as if nothing had been measured. This module knows nothing of folders.
"""

from __future__ import annotations

import time
from dataclasses import replace

from rnnviz.networks.config import TrainConfig
from rnnviz.reading.sampling import sample
from rnnviz.reading.scoring import perplexity
from rnnviz.text.corpora import Corpus
from rnnviz.training.trainer import Trainer

TRIAL = 2.0
"""Seconds of a trial; a twentieth of the run, where that is less."""


def characters_in(minutes: float, config: TrainConfig, corpus: Corpus, *, device: str = "auto") -> int:
    """The characters that training reads in `minutes`, its reports included, at least one step's.

    Takes about two seconds, and one scoring of the validation text.
    """
    # Pieces of random lengths take as long as regular ones of the same mean.
    recipe = replace(config, characters=10**12, truncation="regular")
    trial = Trainer(recipe, corpus, device=device)
    trial.step()  # the first takes longer
    float(trial.loss)
    began, before, steps = time.perf_counter(), trial.characters, 0
    patience = min(TRIAL, minutes * 60 / 20)
    while (took := time.perf_counter() - began) < patience or not steps:
        trial.step()
        float(trial.loss)  # waits for a GPU, which a run does seldom: an estimate on the safe side
        steps += 1
    read = (trial.characters - before) / steps
    began = time.perf_counter()
    if trial.validation:
        perplexity(trial.model, text=trial.validation)
    sample(trial.model, "", 200, seed=0)
    report = time.perf_counter() - began
    per_step = took / steps + report / (config.evaluate_every or trial.streams.chunks)
    return max(1, round(minutes * 60 / per_step * read))
