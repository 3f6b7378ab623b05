"""Whether the commands in the shipped models' cards still give the models that ship.

    python tests/benchmarks/recipes.py          # timemachine-mlp and timemachine-rnn: 6 minutes, one thread
    python tests/benchmarks/recipes.py NAME …   # others

Each model is trained again by the command in its card, in a process of its own, with another `--output` and
`--run-dir` and without `--choice`, and compared with the shipped one, weight by weight:

    largest   the largest difference of two weights
    apart     the root mean square of the differences ÷ that of the weights
    equal     the share of weights that are the same in float16, as which they are stored
    held out  both perplexities

Wanted: `apart` below 10 %, and perplexities within 0.1 %. Another order of additions changes last digits,
and thousands of steps enlarge that: timemachine-rnn came 4.1 % apart, with perplexities 0.02 % apart, when
the gradient of W_hh was first added up block by block. After 1,200 steps that was 3e-7, as from weights
changed by 2e-7.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

from rnnviz.networks import checkpoint
from rnnviz.networks.torch_model import CharModel
from rnnviz.training.tuning import own_python
from tests.benchmarks.figures import figure

MODELS = Path(__file__).resolve().parents[2] / "models"
APART, WORSE = 0.1, 1e-3


def retrained(command: str, folder: Path) -> CharModel:
    """The model that a card's command gives now."""
    words = shlex.split(command)
    assert words[:4] == ["python", "-m", "rnnviz", "train"], command
    for option in ("--choice", "--run-dir", "--output"):
        if option in words:
            del words[(at := words.index(option)) : at + 2]
    output = folder / "again.safetensors"
    words += ["--quiet", "--run-dir", str(folder / "run"), "--output", str(output)]
    call = own_python(*words[1:])
    subprocess.run(**call, check=True, stdout=subprocess.DEVNULL)
    return load(output)


def load(path: Path) -> CharModel:
    model = checkpoint.load(path)
    assert isinstance(model, CharModel), path
    return model


def compare(name: str, folder: Path) -> bool:
    """Print one model's line; whether it is the same up to rounding."""
    shipped = load(MODELS / f"{name}.safetensors")
    began = time.perf_counter()
    again = retrained(str(shipped.card["command"]), folder)
    seconds = time.perf_counter() - began
    theirs, ours = shipped.state_dict(), again.state_dict()
    assert {k: v.shape for k, v in theirs.items()} == {k: v.shape for k, v in ours.items()}
    old, new = (torch.cat([state[k].flatten().double() for k in theirs]) for state in (theirs, ours))
    apart = float((new - old).square().mean().sqrt() / old.square().mean().sqrt())
    equal = float((new.half() == old.half()).double().mean())
    largest, where = max((float((ours[k] - theirs[k]).abs().max()), k) for k in theirs)
    then, now = (float(m.card["held_out"]["perplexity"]) for m in (shipped, again))
    same = apart < APART and abs(now / then - 1) < WORSE
    print(
        f"{name:20} {seconds:7.0f} s   largest {largest:.2e} ({where})   apart {apart:.3%}   "
        f"equal {equal:.1%}   held out {then:.4f} {now:.4f}   {'same' if same else 'DIFFERS'}",
        flush=True,
    )
    what = f"{name} trained again by its card's command: how far its weights are apart"
    figure(what, 100 * apart, "%", at_most=100 * APART, beside=f"held out {then:.4f}, again {now:.4f}")
    return same


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["timemachine-mlp", "timemachine-rnn"])
    names = parser.parse_args().names
    print(f"torch {torch.__version__}, load average {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        same = [compare(name, Path(folder) / name) for name in names]
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
