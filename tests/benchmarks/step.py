"""What one more character costs, beside calling torch's fused layer for it.

    python tests/benchmarks/step.py [--rounds N]

For texts of 10, 1,000 and 10,000 characters: the median time of
`Tracer.extend` by one character (all layers, prediction, cost, rank and entropy),
after typing and after deleting one, and of one call of torch's embedding, fused
layer, readout and log-softmax, which keeps nothing. The calls alternate, so
that a busy machine slows all of them alike: compare the ratios. The models are
random; weights make no difference to the time.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import TypeVar

import torch

from rnnviz import CharModel, ModelConfig
from rnnviz.networks.config import Cell
from rnnviz.reading.trace import Tracer
from rnnviz.text.vocabulary import Vocabulary
from tests.benchmarks.figures import figure

VOCABULARY = Vocabulary(tuple(map(chr, range(32, 127))))
SHAPES: tuple[tuple[Cell, int], ...] = (("gru", 256), ("lstm", 256), ("lstm", 512))
Result = TypeVar("Result")
LENGTHS = (10, 1_000, 10_000)
SENTENCE = "No man ever steps in the same river twice. "


def timed(call: Callable[[str], Result], text: str) -> tuple[float, Result]:
    """The time of one call, in microseconds, and what it returned."""
    begin = time.perf_counter()
    result = call(text)
    return (time.perf_counter() - begin) * 1e6, result


class Fused:
    """One character at a time through torch's layers, the state carried."""

    def __init__(self, model: CharModel) -> None:
        self.model, self.state = model, None

    def read(self, character: str) -> torch.Tensor:
        """log P (V,) of what follows."""
        symbol = torch.from_numpy(VOCABULARY.encode(character))
        with torch.inference_mode():
            h, self.state = self.model.recurrence(self.model.embed(symbol[None]), self.state)
            return torch.log_softmax(self.model.readout(h[0, 0]), dim=-1)


def main() -> None:
    """Print one line per model and length."""
    parser = argparse.ArgumentParser(description="The cost of one more character.")
    parser.add_argument("--rounds", type=int, default=300)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    print(f"median of {rounds}, in microseconds; ratio: torch's fused layer to rnnviz")
    for cell, hidden in SHAPES:
        torch.manual_seed(0)
        model = CharModel(ModelConfig(cell, VOCABULARY.size, hidden), VOCABULARY)
        fused = Fused(model)
        typed_after: dict[int, float] = {}
        for length in LENGTHS:
            text = (SENTENCE * (length // len(SENTENCE) + 1))[:length]
            tracer = Tracer(model)
            shown = tracer.extend(text)
            times = []
            for n in range(rounds):
                character = SENTENCE[n % len(SENTENCE)]
                # The page holds the trace that it drew last, so `shown` does here.
                typed, shown = timed(tracer.extend, text + character)
                shown = tracer.extend(text)
                again, shown = timed(tracer.extend, text + character)
                theirs, _ = timed(fused.read, character)
                text += character
                times.append((typed, again, theirs))
            assert len(shown) == length + rounds
            a, b, c = map(statistics.median, zip(*times, strict=True))
            typed_after[length] = a
            print(
                f"{cell}-{hidden} after {length:6,} characters: typed {a:5.0f}, "
                f"deleted and typed {b:5.0f}, torch's layer {c:5.0f}, ratio {c / a:.1f}"
            )
        figure(
            f"one more character after 10,000 ({cell}, {hidden} units)", a / 1000, "ms",
            beside=f"{a / typed_after[10]:.2f} × after 10; torch's layer alone {c / 1000:.2g} ms",
            front=(cell, hidden) == ("gru", 256),
        )  # fmt: skip


if __name__ == "__main__":
    main()
