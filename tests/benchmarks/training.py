"""Characters a second of a run, beside the textbook's loop; what minutes come to, and the textbook's epochs.

    python tests/benchmarks/training.py speed [--cells gru lstm] [--units 256 512] [--seconds 8] [--turns 3]
    python tests/benchmarks/training.py minutes [--presets one-minute five-minutes] [--cores 2]
    python tests/benchmarks/training.py epochs
    python tests/benchmarks/training.py page

A run is `python -m rnnviz train` as users get it, with dropout on embedding, W_hh and output, batch 32 × 64:
backward pass and threads are its own choice. It is timed by its own events, once it has trained for twelve
seconds: after ten, numbers of threads are tried a second time.

speed    beside the textbook's loop: torch's layer on one-hot inputs, batch 32 × 35 steps, plain gradient
         descent, float32, gradients clipped, state carried, in a process as it comes. They take turns.
minutes  the presets on The Time Machine, on the first so many processors: the perplexity of the held-out
         text, read once, at the end, and when validation was first better than a 6-gram's
epochs   the preset As in the textbook by both partitions, as a table: the perplexity of the 10,000 characters
         it trains on, as it reads them, and of the next 10,000
page     a minute of The Time Machine in the page that needs no server, as it opens, while somebody types
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from statistics import median
from types import SimpleNamespace

from sitting import figure, options_of

import rnnviz

WARM = 12.0  # seconds of training
LIMITS = {"one-minute": 4.30, "five-minutes": 4.15}  # perplexity
DROPOUT = ("--dropout-embedding", "0.1", "--dropout-weight", "0.4", "--dropout-output", "0.4")
PARTS = ("speed", "minutes", "epochs", "page", "textbook")
EPOCHS = (1, 5, 10, 20, 50, 100, 150, 200, 250, 300, 350, 400, 450, 500)
BATCH, STEPS = 32, 35  # the textbook's


def train(folder: Path, *options: str) -> subprocess.Popen[bytes]:
    """A run in `folder`, which writes its events there."""
    command = [sys.executable, "-m", "rnnviz", "train", "--name", "run", "--quiet", *options]
    command += ["--run-dir", str(folder), "--output", str(folder / "run.safetensors")]
    return subprocess.Popen(command, cwd=folder.parent)


def events(folder: Path, kind: str) -> list[dict[str, float]]:
    """Those that a run has written whole."""
    file = folder / "events.jsonl"
    lines = file.read_text("utf-8").splitlines(keepends=True) if file.exists() else []
    return [event for line in lines if line.endswith("\n") and (event := json.loads(line))["event"] == kind]


@contextmanager
def running(cell: str, units: int, *options: str) -> Iterator[Callable[[float], float]]:
    """A run of a shape; what is given trains for so many seconds, and returns the characters a second."""
    with tempfile.TemporaryDirectory() as folder:
        shape = ("--cell", cell, "--hidden-size", str(units), "--batch", "32", "--steps", "64", *DROPOUT)
        run = Path(folder, "run")
        process = train(run, "--corpus", "python-docs", "--characters", str(10**10), *shape, *options)

        def trained() -> tuple[float, float]:
            assert process.poll() is None, "the run has ended"
            last = events(run, "progress")[-1:]
            return (last[0]["characters"], last[0]["seconds"]) if last else (0.0, 0.0)

        def speed(seconds: float) -> float:
            characters, began = trained()
            while (now := trained())[1] < began + seconds:
                time.sleep(0.2)
            return (now[0] - characters) / (now[1] - began)

        try:
            yield speed
        finally:
            process.kill()
            process.wait()


def textbook(cell: str, units: int, seconds: float) -> None:
    """Print the characters a second of the textbook's loop."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    text = rnnviz.corpora.open_corpus("python-docs").text
    ids = {character: n for n, character in enumerate(sorted(set(text)))}
    streams = torch.tensor([ids[character] for character in text[: len(text) // BATCH * BATCH]]).view(
        BATCH, -1
    )
    layer, readout = getattr(nn, cell.upper())(len(ids), units), nn.Linear(units, len(ids))
    parameters = [*layer.parameters(), *readout.parameters()]
    optimiser = torch.optim.SGD(parameters, lr=1.0)
    position, state = 0, None

    def step() -> None:
        nonlocal position, state
        if position + STEPS + 1 > streams.shape[1]:
            position, state = 0, None
        inputs, labels = (streams[:, at : at + STEPS].T for at in (position, position + 1))
        if state is not None:
            state = tuple(s.detach() for s in state) if isinstance(state, tuple) else state.detach()
        out, state = layer(F.one_hot(inputs, len(ids)).float(), state)
        loss = F.cross_entropy(readout(out).flatten(0, 1), labels.flatten())
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        position += STEPS

    step()
    began, steps = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        step()
        steps += 1
    print(steps * BATCH * STEPS / (time.perf_counter() - began))


def speed(shapes: list[tuple[str, int]], seconds: float, turns: int, warm: float) -> None:
    """A row for each shape."""
    for cell, units in shapes:
        rows = []
        for _ in range(turns):
            with running(cell, units) as trained:
                trained(warm)
                run_speed = trained(seconds)
            book = [sys.executable, __file__, "textbook", "--cells", cell, "--units", str(units)]
            loop_speed = subprocess.check_output([*book, "--seconds", str(seconds)], encoding="utf-8")
            rows.append((run_speed, float(loop_speed)))
        ratio = median(run_speed / loop_speed for run_speed, loop_speed in rows)
        title = f"training ({cell}, {units} units)"
        figure(title, median(run_speed for run_speed, _loop_speed in rows), "characters a second")
        figure(f"{title} ÷ the textbook's loop", ratio, "×", least=2.5 if units >= 512 else 1.5)


def minutes(presets: list[str], cores: int) -> None:
    """A line for each preset."""
    from rnnviz.lab.fit.presets import PRESETS, preset

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    corpus = rnnviz.corpora.open_corpus("timemachine")
    split = corpus.split()
    counts = rnnviz.ngram(split.train, order=6)
    counted = rnnviz.perplexity(counts, text=split.validation).perplexity
    usual = asdict(rnnviz.TrainConfig())
    for key in presets:
        config, duration = preset(key, corpus.characters, cores)
        assert duration == PRESETS[key]
        changed = {name: value for name, value in asdict(config).items() if value != usual[name]}
        options = [f"--{name.replace('_', '-')}={value}" for name, value in changed.items()]
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder, "run")
            assert train(run, "--corpus", "timemachine", "--minutes", str(duration), *options).wait() == 0
            reports, (done,) = events(run, "report"), events(run, "finished")
        best = min(report["validation_perplexity"] for report in reports)
        below = [report["seconds"] for report in reports if report["validation_perplexity"] < counted]
        passed = f"passed after {below[0]:.0f} s" if below else "not passed"
        read = f"{reports[-1]['characters'] / 1e6:.1f} million characters"
        print(f"{key}: {read}, validation {best:.3f}, the 6-gram ({counted:.2f}) {passed}", flush=True)
        title = f"{duration:g} min of training on *The Time Machine*, {cores} cores: held-out perplexity"
        figure(title, done["held_out"], most=LIMITS[key])


def epochs() -> None:
    """A row for each of EPOCHS."""
    from rnnviz.lab.fit.presets import TEXTBOOK, textbook_text
    from rnnviz.lab.fit.trainer import Trainer

    text, columns = textbook_text(rnnviz.corpora.open_corpus("timemachine").text, 20_000), []
    parts = rnnviz.text.corpora.Split(text[:10_000], text[10_000:], "")
    for partition in ("sequential", "random"):
        recipe = replace(TEXTBOOK, partition=partition)
        trainer = Trainer(recipe, SimpleNamespace(split=lambda: parts), device="cpu")
        trainer.model.engine = "numba"
        reports = list(trainer.run(sample_length=0))
        columns += [[r.train_perplexity for r in reports], [r.validation_perplexity for r in reports]]
    for n in EPOCHS:
        print("|", n, "|", " | ".join(f"{column[n - 1]:.2f}" for column in columns), "|")


def page() -> None:
    """A figure for speed, held-out perplexity and keys."""
    from keystroke import LETTERS, TYPE, high
    from sitting import browser

    from rnnviz.networks import checkpoint
    from rnnviz.page import build, folder
    from tests.support.serving import serve_files

    info = checkpoint.read_info(checkpoint.find("timemachine-gru"))
    with tempfile.TemporaryDirectory() as root, browser() as opened:
        folder.write(Path(root, "page"), build.folder_files([info]))
        with serve_files(Path(root)) as port:
            opened.goto(f"http://127.0.0.1:{port}/page/?show=train")
            opened.get_by_role("button", name="Start", exact=True).click()
            opened.get_by_role("button", name="Stop", exact=True).wait_for()
            times, left = list[float](), ""
            while not opened.get_by_role("link", name="Save", exact=True).is_visible():
                times.append(opened.evaluate(TYPE, LETTERS[len(times) % len(LETTERS)]))
                left = opened.locator(".tr-left").inner_text() or left  # with the speed so far
                opened.wait_for_timeout(200)  # between two keys
            said = opened.locator(".tr-said").inner_text()
    speed = int(re.findall(r"([\d,]+) characters", left)[0].replace(",", ""))
    figure("a minute of training in the page, a GRU of 64 units", speed, "characters a second", least=55_000)
    figure("its held-out perplexity", float(re.findall(r"perplexity is (\d+\.\d+)", said)[0]), most=5.0)
    figure("95 % of the keys meanwhile within", high(times), "ms", most=50)


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("what", nargs="?", choices=PARTS, default=PARTS[0], metavar="PART")
    parser.add_argument("--cells", nargs="+", default=["gru", "lstm"])
    parser.add_argument("--units", type=int, nargs="+", default=[256, 512])
    parser.add_argument("--seconds", type=float, default=8.0, help="for each side and turn")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--warm", type=float, default=WARM, help="seconds before a run is timed")
    parser.add_argument("--presets", nargs="+", choices=list(LIMITS), default=list(LIMITS))
    parser.add_argument("--cores", type=int, default=2)
    args = parser.parse_args()
    shapes = [(cell, units) for units in args.units for cell in args.cells]
    if args.what == "textbook":
        textbook(*shapes[0], args.seconds)
    elif args.what == "minutes":
        minutes(args.presets, args.cores)
    elif args.what == "epochs":
        epochs()
    elif args.what == "page":
        page()
    else:
        speed(shapes, args.seconds, args.turns, args.warm)


if __name__ == "__main__":
    main()
