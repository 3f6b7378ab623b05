"""What patches and attributions show on the shipped networks, beside their controls.

    python tests/benchmarks/patching.py examples
    python tests/benchmarks/patching.py sums [--model NAME ...]

`examples`: for the texts that Inside's Patch opens with, the effect of the whole state on the next prediction
and the largest later one, and the mean over 20 predictions beside random moves as long (95 % below) and the
same patch from elsewhere (5 and 95 %), with the seconds.

`sums`: by how much integrated gradients of the last 10, 20, 40 and 80 characters miss their sum, at eight
predictions of a model's example: the median and the largest error, and how many are below 1 %.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import rnnviz
from rnnviz import gradients, units
from rnnviz.networks.checkpoint import available
from rnnviz.ui import examples as texts
from rnnviz.ui.pages.inside import patch

MODELS = (
    "timemachine-gru",
    "timemachine-lstm",
    "timemachine-rnn",
    "shakespeare-lstm",
    "python-gru",
    "chinese-gru",
)


def examples() -> None:
    """One line a shipped network."""
    for info in available()[0]:
        if info.kind == "ngram" or info.card.get("corpus") not in patch.EXAMPLES:
            continue
        model = rnnviz.load(info.path)
        source, target = patch.EXAMPLES[str(info.card["corpus"])]
        at, to = source.index("|"), target.index("|")
        began = time.perf_counter()
        done = units.patch(model, source.replace("|", ""), at, target.replace("|", ""), to)
        found = units.patch_controls(model, done, texts.example(info.card), n=patch.STATES, ahead=patch.AHEAD)
        seconds = time.perf_counter() - began
        random, (low, high) = np.quantile(found.random, 0.95), np.quantile(found.elsewhere, [0.05, 0.95])
        print(
            f"{info.path.stem:18} next {done.divergence[to]:.2f}  later {done.divergence[to + 1 :].max():.2f}"
            f"  mean {found.kl:.3f}  random {random:.3f}  elsewhere {low:.3f} to {high:.3f}  {seconds:.2f} s"
        )


def sums(models: list[str]) -> None:
    """A table for each network."""
    for name in models:
        model = rnnviz.load(name)
        text = texts.example(model.card)
        places = np.linspace(85, min(len(text) - 1, 300), 8).astype(int).tolist()
        for instead in ("average", "zero", "unknown"):
            for last in (10, 20, 40, 80):
                began = time.perf_counter()
                found = [gradients.attribute(model, text, at=t, instead=instead, last=last) for t in places]
                errors = [one.error for one in found]
                print(
                    f"{name:18} {instead:8} {last:3}  error {np.median(errors):.4f}, most {max(errors):.4f}"
                    f"  add up {sum(one.adds_up for one in found)} of {len(found)}"
                    f"  {(time.perf_counter() - began) / len(found):.2f} s"
                )


def main() -> None:
    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shape)
    parser.add_argument("what", choices=("examples", "sums"))
    parser.add_argument("--model", action="append", help="for sums, again for more (default: six)")
    args = parser.parse_args()
    if args.what == "examples":
        examples()
    else:
        sums(args.model or list(MODELS))


if __name__ == "__main__":
    main()
