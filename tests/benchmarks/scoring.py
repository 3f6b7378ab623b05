"""How fast a long text is scored, beside torch's fused layer and a loop.

    python tests/benchmarks/scoring.py [--cells rnn gru lstm] [--units 256 512] [--characters N] [--threads N]

    sequence   embedding, torch's fused layer called on 1,024 characters with its state carried, readout and
               log-softmax, nothing else
    loop       the same called on one character at a time
    rnnviz     `rnnviz.perplexity`: long texts as stretches side by side, every seam checked

The first two read the beginning of the text only; what is compared are characters a second, and the ratio
is above 1 where rnnviz is faster. The models are random: weights make no difference to the time as long as
the network forgets. A cell that torch has no layer for stands alone.
"""

import time
from collections.abc import Callable
from statistics import median

import numpy as np
import torch
from sitting import figure, options_of
from torch import nn

import rnnviz
from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.text.vocabulary import Vocabulary

CHUNK = 1024
ROUNDS = 3
BEGINNING = 20 * CHUNK  # what the sequence reads
LOOP = 2 * CHUNK
EMBEDDING = 128
LETTERS = tuple(map(chr, range(32, 127)))


def yardstick(cell: str, units: int, symbols: torch.Tensor) -> Callable[[int, int], float]:
    """The summed log probability of so many symbols by torch's layers alone, called on so many at a time."""
    size = len(LETTERS) + 1
    embed, readout = nn.Embedding(size, EMBEDDING), nn.Linear(units, size)
    layer = getattr(nn, cell.upper())(EMBEDDING, units, batch_first=True)

    def score(count: int, chunk: int) -> float:
        carried, total = None, 0.0
        with torch.inference_mode():
            for begin in range(0, count, chunk):
                x, y = (symbols[at : at + chunk] for at in (begin, begin + 1))
                h, carried = layer(embed(x[None]), carried)
                log_probs = torch.log_softmax(readout(h[0]), dim=-1)
                total += float(log_probs.gather(1, y[:, None]).sum())
        return total

    return score


def speed(score: Callable[[], object], characters: int) -> float:
    """Characters a second of one call."""
    began = time.perf_counter()
    score()
    return characters / (time.perf_counter() - began)


def main() -> None:
    """Print one line per model."""
    parser = options_of(__doc__)
    parser.add_argument("--cells", nargs="+", default=["rnn", "gru", "lstm"])
    parser.add_argument("--units", type=int, nargs="+", default=[256, 512])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--characters", type=int, default=1_000_000)
    arguments = parser.parse_args()
    n, threads = arguments.characters, arguments.threads
    torch.set_num_threads(threads)
    ids = np.random.default_rng(0).integers(1, len(LETTERS), max(n, BEGINNING + 1))
    symbols, text = torch.from_numpy(ids), "".join(LETTERS[i] for i in ids[:n])
    print(f"{n:,} characters, {threads} threads, characters a second, median of {ROUNDS}\n")
    for cell, units in ((cell, units) for cell in arguments.cells for units in arguments.units):
        torch.manual_seed(0)
        config = rnnviz.ModelConfig(cell, len(LETTERS) + 1, units, embedding_size=EMBEDDING)
        model = CharModel(config, Vocabulary(LETTERS))
        calls = [(lambda m=model: rnnviz.perplexity(m, text=text), n)]
        if cell in ("rnn", "gru", "lstm"):
            score = yardstick(cell, units, symbols)
            calls += [(lambda s=score: s(BEGINNING, CHUNK), BEGINNING), (lambda s=score: s(LOOP, 1), LOOP)]
        rounds = [[speed(*call) for call in calls] for _ in range(ROUNDS)]
        mine, *theirs = (median(column) for column in zip(*rounds, strict=True))
        ratios = [mine / other for other in theirs]
        title = f"scoring a long text ({cell}, {units} units)"
        figure(title, mine, "characters a second")
        for ratio, other in zip(ratios, ("torch's fused layer in sequence", "a loop"), strict=False):
            figure(f"{title} ÷ {other}", ratio, "×")


if __name__ == "__main__":
    main()
