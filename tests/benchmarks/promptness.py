"""What must be prompt: the toy is learnt, a run stops, runs are listed.

python tests/benchmarks/promptness.py [--rounds 5]

toy     "machine" trained to a perplexity below 1.05: the training alone, and as a run of its own process
        with all it writes, from the start to the end
stop    from the request until the run has saved and its process has ended: The Time Machine's five-minute
        preset, some seconds after it began
listed  100 runs of 500 events read from their folders, as the Train page does every second
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable

from rnnviz.runs import api as runs
from rnnviz.runs.folder import Description, RunFolder
from rnnviz.text import corpora
from rnnviz.training.presets import TOY, preset
from rnnviz.training.trainer import Trainer
from tests.benchmarks.figures import figure


def until(condition: Callable[[], object]) -> None:
    """Wait for a condition."""
    while not condition():
        time.sleep(0.005)


def timed(call: Callable[[], object]) -> float:
    """Seconds that a call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def say(what: str, times: list[float], unit: str = "s", at_most: float | None = None) -> None:
    """One line of the table."""
    scale = 1000 if unit == "ms" else 1
    middle, longest = statistics.median(times) * scale, max(times) * scale
    print(f"{what:38} median {middle:7.2f} {unit}   longest {longest:7.2f} {unit}")
    front, name = what.startswith("a run"), what.partition(" (at most")[0]
    figure(name, middle, unit, at_most=at_most, beside=f"longest {longest:.2f} {unit}", front=front)


def learn() -> None:
    """The toy in this process."""
    *_, last = Trainer(TOY, corpora.read("machine")).run()
    assert last.train_perplexity < 1.05


def run_toy() -> None:
    """The toy as the Train page starts it."""
    id = runs.start(Description("toy", TOY, corpus="machine", watched="machine"))
    until(lambda: not runs.find(id).alive)
    assert runs.find(id).state == "finished"


def stops(rounds: int) -> list[float]:
    """Seconds from a request to stop until the run has ended, in the middle of its training."""
    corpus = corpora.open_corpus("timemachine")
    config, minutes = preset("five-minutes", corpus.characters, os.cpu_count() or 1)
    id = runs.start(Description("long", config, corpus="timemachine", minutes=minutes, watched="The lamp"))
    times = []
    for number in range(rounds):
        if number:
            runs.resume(id)
        step = (runs.find(id).last or {"step": 0})["step"]
        until(lambda step=step: (runs.find(id).last or {"step": 0})["step"] > step + 50)
        times.append(timed(lambda: (runs.stop(id), until(lambda: not runs.find(id).alive))))
        assert runs.find(id).state == "stopped"
    return times


def many() -> None:
    """100 finished runs in their folders."""
    lines = b"".join(b'{"event": "progress", "step": %d}\n' % step for step in range(500))
    for number in range(100):
        folder = RunFolder(runs.home() / f"run-{number}")
        folder.path.mkdir(parents=True)
        folder.begin(Description(f"run-{number}", TOY, corpus="machine", created=float(number + 1)))
        folder.events.write_bytes(lines + b'{"event": "report", "step": 500}\n{"event": "finished"}\n')


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(RNNVIZ_RUNS=folder, RNNVIZ_MODELS=folder)
        say("the toy, training alone (at most 3 s)", [timed(learn) for _ in range(rounds)], at_most=3)
        say("the toy as a run, start to end", [timed(run_toy) for _ in range(rounds)])
        say("a run stops, its state saved (at most 2 s)", stops(rounds), at_most=2)
        many()
        say("100 runs listed, the first time", [timed(runs.listed)], "ms")
        say("100 runs listed again", [timed(runs.listed) for _ in range(20)], "ms")


if __name__ == "__main__":
    main()
