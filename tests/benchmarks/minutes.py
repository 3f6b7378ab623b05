"""What the presets come to on The Time Machine: one minute of training, and five.

    python tests/benchmarks/minutes.py [--presets one-minute five-minutes] [--cores 2]

Each preset runs as the command `train` with its `--minutes`, on the first so many processors. The validation
perplexity is the lowest of its reports, whose weights are kept; the 6-gram is counted on the same 85 %, and
passed at the first report below it. The held-out text (the last tenth) is read once, at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from dataclasses import asdict
from pathlib import Path

from rnnviz import NgramModel
from rnnviz.networks import checkpoint
from rnnviz.networks.config import TrainConfig
from rnnviz.reading.scoring import perplexity
from rnnviz.text import corpora
from rnnviz.training.presets import PRESETS, preset
from rnnviz.training.tuning import own_python
from tests.benchmarks.figures import figure

LIMITS = {"one-minute": 4.30, "five-minutes": 4.15}


def options(config: TrainConfig) -> list[str]:
    """The command's options for a recipe."""
    usual = asdict(TrainConfig())
    return [
        word
        for name, value in asdict(config).items()
        if value != usual[name]
        for word in (f"--{name.replace('_', '-')}", str(value))
    ]


def trained(config: TrainConfig, minutes: float, folder: Path) -> tuple[list[dict[str, float]], float]:
    """The reports of a run, and its perplexity on the held-out text."""
    command = ["-m", "rnnviz", "train", "--corpus", "timemachine", "--name", "minutes", "--quiet"]
    command += ["--minutes", str(minutes), *options(config)]
    output = folder / "minutes.safetensors"
    subprocess.run(
        **own_python(*command, "--run-dir", str(folder / "run"), "--output", str(output)), check=True
    )
    lines = (folder / "run" / "events.jsonl").read_text("utf-8").splitlines()
    reports = [event for line in lines if (event := json.loads(line))["event"] == "report"]
    return reports, checkpoint.read_info(output).card["held_out"]["perplexity"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", nargs="+", choices=list(LIMITS), default=list(LIMITS))
    parser.add_argument("--cores", type=int, default=2)
    args = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.cores])
    split = corpora.read("timemachine").split()
    counted = perplexity(NgramModel.fit(split.train, order=6), text=split.validation).perplexity
    for key in args.presets:
        config, minutes = preset(key, 178_979, args.cores)
        assert minutes == PRESETS[key]
        with tempfile.TemporaryDirectory() as folder:
            reports, held_out = trained(config, minutes, Path(folder))
        best = min(one["validation_perplexity"] for one in reports)
        below = [one for one in reports if one["validation_perplexity"] < counted]
        passed = f"the 6-gram ({counted:.2f}) is passed after {below[0]['seconds']:.0f} s" if below else ""
        read = f"{reports[-1]['characters'] / 1e6:.1f} million characters"
        print(f"{key}: {read}, held out {held_out:.3f}, validation {best:.3f}; {passed}", flush=True)
        name = f"{minutes:g} {'minute' if minutes == 1 else 'minutes'}"
        what = f"{name} of training on *The Time Machine*, {args.cores} cores: held-out perplexity"
        beside = f"{read}; validation {best:.2f}, where {passed or 'the 6-gram is not passed'}"
        figure(what, held_out, at_most=LIMITS[key], beside=beside, digits=3, front=True)


if __name__ == "__main__":
    main()
