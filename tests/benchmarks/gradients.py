"""What going back through time costs, beside one backward pass of autograd for each row.

    python tests/benchmarks/gradients.py [--rounds N] [--model NAME] [--no-autograd]

For a shipped model of 256 units: all T × T entries of the connectivity of 200
characters, one row over 1,000, and the norms ‖∂h_T/∂h_t‖ of 200, Frobenius and
spectral. The median and the least of N rounds of wall-clock time, and the
median of processor time, which other programs on the same cores disturb less.
The limit of each is 150 ms on two idle cores. Autograd runs once, through
torch's layer, in float32.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the app has it

import numpy as np
import torch

import rnnviz
from rnnviz import CharModel
from rnnviz.networks.checkpoint import load_numpy
from rnnviz.networks.numpy_model import NumpyModel
from tests.benchmarks.figures import figure

TEXT = (
    "Would you tell me, please, which way I ought to go from here? That depends a good deal on where you "
    "want to get to, said the Cat. I don't much care where, said Alice. Then it doesn't matter which way you "
    "go, said the Cat. "
) * 6


def measured(call: Callable[[], object], rounds: int) -> tuple[float, float, float]:
    """Wall-clock median and least, and processor median, in milliseconds."""
    call()
    wall, processor = [], []
    for _ in range(rounds):
        begin, busy = time.perf_counter(), time.process_time()
        call()
        wall.append((time.perf_counter() - begin) * 1e3)
        processor.append((time.process_time() - busy) * 1e3)
    return statistics.median(wall), min(wall), statistics.median(processor)


def rows(model: CharModel, text: str, which: range) -> np.ndarray:
    """Norms (rows, T), one backward pass each."""
    ids = torch.tensor([[model.vocabulary.start, *model.vocabulary.encode(text)]])
    x = model.embed(ids).detach().requires_grad_()
    hidden, _ = model.hidden(x)
    logits = torch.nn.functional.linear(hidden, model.readout_weight, model.readout.bias)[0]
    predictions = torch.log_softmax(logits, dim=-1)
    found = []
    for t in which:
        of = int(ids[0, t + 1]) if t < len(text) else int(predictions[t].argmax())
        (gradient,) = torch.autograd.grad(predictions[t, of], x, retain_graph=True)
        found.append(gradient[0, 1:].norm(dim=-1).numpy())
    return np.array(found)


def main() -> None:
    """Print one line per limit."""
    parser = argparse.ArgumentParser(description="The cost of gradients.")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--model", default="timemachine-gru")
    parser.add_argument("--no-autograd", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    model, network = load_numpy(options.model), rnnviz.load(options.model)
    assert isinstance(model, NumpyModel)
    assert isinstance(network, CharModel)
    short, long = TEXT[:200], TEXT[:1_000]
    tasks: list[tuple[str, Callable[[], object], Callable[[], np.ndarray] | None]] = [
        (
            "200 characters, all rows",
            lambda: rnnviz.connectivity(model, short).norms,
            lambda: rows(network, short, range(1, 201)),
        ),
        (
            "1,000 characters, one row",
            lambda: rnnviz.connectivity_row(model, long).norms[None],
            lambda: rows(network, long, range(1_000, 1_001)),
        ),
        (
            "200 steps, Frobenius norms",
            lambda: rnnviz.jacobian_norms(model, short),
            None,
        ),
        (
            "200 steps, spectral norms",
            lambda: rnnviz.jacobian_norms(model, short, norm="spectral"),
            None,
        ),
    ]
    print(f"{options.model}, milliseconds of {options.rounds} rounds; load {os.getloadavg()[0]:.1f}")
    for name, call, theirs in tasks:
        wall, least, processor = measured(call, options.rounds)
        beside, line = "", f"{name:28} median {wall:5.0f}, least {least:5.0f}, processor {processor:5.0f}"
        if theirs is not None and not options.no_autograd:
            begin = time.perf_counter()
            expected = theirs()
            took = (time.perf_counter() - begin) * 1e3
            error = np.abs(np.asarray(call()) - expected).max() / expected.max()
            line += (
                f"; autograd, a row at a time {took:6.0f} ({took / wall:.0f} times), difference {error:.0e}"
            )
            beside = f"{took / wall:.0f} × a backward pass a row"
        print(line)
        figure(
            f"gradients of a text (gru, 256 units): {name}", wall, "ms", at_most=150, beside=beside,
            front=name.endswith("all rows"),
        )  # fmt: skip


if __name__ == "__main__":
    main()
