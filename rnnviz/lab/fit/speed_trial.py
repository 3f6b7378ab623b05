"""A speed trial: the fastest threads and engine for a recipe, found with a model that is thrown away."""

from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import torch

from rnnviz.errors import ConfigError, install
from rnnviz.lab.engines import compiled
from rnnviz.lab.engines.torch_model import pick_device
from rnnviz.lab.engines.torch_threads import TorchThreads, worth_trying
from rnnviz.lab.fit.batches import cuts
from rnnviz.lab.fit.step_report import early_steps
from rnnviz.lab.fit.trainer import SplittableText, Trainer
from rnnviz.networks.config import Engine, TrainConfig
from rnnviz.networks.threads import GOOD_SHARE, HOPELESS_SHARE
from rnnviz.scoring.perplexity import perplexity
from rnnviz.scoring.sampling import sample

MAX_TRIAL_CHARS = 2048  # characters of a trial step with 256 units, at most; with 512 a quarter
MIN_TRY_S = 0.04  # seconds of timing a candidate; at least one step
TRIAL_S = 0.5  # seconds after which no candidate is timed a second time
RETRY_SPEED_SHARE = 0.85  # the least share of the best speed that earns a second timing
SCORED_CHARS = 500  # characters of the validation text whose scoring is timed


class FastestSettings(NamedTuple):
    """The fastest settings: the threads with each number's characters a second, and the engine of the
    backward pass.
    """

    threads: TorchThreads
    engine: Engine = "auto"

    @property
    def speed(self) -> float:
        """Characters a second, reports not counted."""
        return self.threads.speed


def find_fastest_settings(
    config: TrainConfig,
    corpus: SplittableText,
    *,
    threads: int | None = None,
    device: str = "auto",
    engine: Engine = "auto",
) -> FastestSettings:
    """The fastest threads and engine for a recipe on `corpus`; `threads` and `engine` are kept where given.

    Times some steps of each candidate, for half a second in all or little more, and leaves torch at the
    number of threads that it found.
    """
    torch_device = pick_device(device)
    candidates = engines_to_try(config, torch_device, engine)
    # Pieces of random lengths, or at random places, take as long as regular ones of the same mean.
    recipe = replace(config, characters=config.batch * 10**6, truncation="regular", partition="sequential")
    trainer = Trainer(recipe, corpus, device=device)
    full_cuts, streams = trainer.cuts, trainer.streams
    if torch_device.type == "cpu":
        counts = [threads] if threads else [1] if config.is_small else worth_trying()
        # Fewer time steps use the same matrix products: enough to find the fastest, but not its speed, as
        # updates of the weights then weigh too much.
        characters = MAX_TRIAL_CHARS * min(1.0, 256 / config.hidden_size) ** 2
        steps = min(config.steps, max(8, int(characters) // streams.row_count))
        trainer.cuts = cuts(replace(recipe, steps=steps), streams)
    else:
        counts = [threads or torch.get_num_threads()]

    def timed(engine: Engine) -> float:
        """Characters a second with an engine."""
        trainer.model.engine = engine
        trainer.step()  # warm-up: the first takes longer
        float(trainer.loss)
        began, before, elapsed = perf_counter(), trainer.characters, 0.0
        while elapsed < MIN_TRY_S:
            trainer.step()
            float(trainer.loss)  # waits for a GPU, which a run seldom does: a conservative estimate
            elapsed = perf_counter() - began
        return (trainer.characters - before) / elapsed

    until, speed_by_count = perf_counter() + TRIAL_S, dict[int, float]()
    for count in counts:  # once a number is hopelessly slow, larger ones are too
        if not speed_by_count or speed_by_count[max(speed_by_count)] >= HOPELESS_SHARE * max(
            speed_by_count.values()
        ):
            torch.set_num_threads(count)
            speed_by_count[count] = timed(candidates[0])
    best = TorchThreads(counts, speed_by_count)
    torch.set_num_threads(best.now)
    speeds = {candidates[0]: best.speed}
    for candidate in [*candidates[1:], *candidates]:  # twice: another program may have delayed one
        again = candidate in speeds
        if not again or (
            perf_counter() < until and speeds[candidate] >= RETRY_SPEED_SHARE * max(speeds.values())
        ):
            speeds[candidate] = max(speeds.get(candidate, 0.0), timed(candidate))
    # Another engine wins only if it is over 3 % faster than the likeliest, candidates[0].
    winner = max(
        candidates,
        key=lambda candidate: speeds[candidate] * (1 if candidate == candidates[0] else GOOD_SHARE),
    )
    if trainer.cuts.at(0) != full_cuts.at(0):
        trainer.cuts = full_cuts
        speeds[winner] = timed(winner)
    # The trial of numbers took shorter steps: all its speeds are scaled to the winner's.
    share = speeds[winner] / best.speed
    return FastestSettings(
        TorchThreads(counts, {n: share * speed for n, speed in speed_by_count.items()}), winner
    )


def engines_to_try(config: TrainConfig, device: torch.device, engine: Engine = "auto") -> list[Engine]:
    """Engines that may be fastest for a recipe, the likeliest first. torch's is among them unless another is
    requested. Raises ConfigError where the requested one isn't available.
    """
    if engine == "numba" and not compiled.prepared(config.cell):
        raise ConfigError(
            "engine numba isn't available here; install it with {command}, or use another",
            command=install("lab"),
        )
    if engine != "auto":
        return [engine]
    both_possible = device.type == "cpu" and not config.is_small
    return ["numba", "torch"] if both_possible and compiled.prepared(config.cell) else ["torch"]


def characters_in(
    minutes: float,
    config: TrainConfig,
    corpus: SplittableText,
    fastest: FastestSettings,
    *,
    device: str = "auto",
) -> int:
    """The characters that training reads in `minutes` at the speed of `fastest`, reports included. A report
    scores the validation text, of which a piece is timed here, and draws a sample.
    """
    trainer = Trainer(config, corpus, device=device)
    began = perf_counter()
    sample(trainer.model, "", 50, seed=0)
    # 50 characters are timed, a report's sample has 200.
    report = 4 * (perf_counter() - began)
    began, piece = perf_counter(), (trainer.validation or trainer.text)[:SCORED_CHARS]
    perplexity(trainer.model, text=piece)
    report += (perf_counter() - began) * len(trainer.validation) / len(piece)
    report_steps = config.evaluate_every or trainer.streams.pieces_an_epoch
    between = trainer.streams.characters / trainer.streams.pieces_an_epoch * report_steps
    # The early reports come off first, but never more than half of the time.
    seconds = minutes * 60 - min(minutes * 30, len(early_steps(report_steps)) * report)
    return max(1, round(seconds / (1 / fastest.speed + report / between)))
