"""Scene 6's cells: perplexity from probabilities, of continuations and beginnings, and Shannon's bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rnnviz.lecture import perplexity, shannon
from rnnviz.lecture.snippets.cell import Cell, cell, literal
from rnnviz.networks.numpy_model import Model


def mean(probabilities: Sequence[perplexity.Probability], symbols: int) -> Cell:
    """exp of the mean −log P: of these probabilities, then 1, ∞ and |V|.

    >>> print(mean([0.5, 0.5], symbols=28).printed, end="")
    mean 0.693 nats
    perplexity 2.00
    1.00 inf 28.00
    """
    found = float(perplexity.perplexity(probabilities))
    code = """
        import torch

        def perplexity(P):
            return torch.exp((1 / P).log().mean())

        P = $p
        print(f"mean {(1 / P).log().mean():.3f} nats")
        print(f"perplexity {perplexity(P):.2f}")

        certain, never = torch.ones(7), torch.eye(7)[0]
        uniform = torch.full((7,), 1 / $symbols)
        for P in (certain, never, uniform):
            print(f"{perplexity(P):.2f}", end=" ")
        print()
    """
    nats = math.fsum(perplexity.surprisal(p) for p in probabilities) / len(probabilities)
    printed = [f"mean {nats:.3f} nats", f"perplexity {found:.2f}", f"1.00 inf {symbols:.2f} "]
    return cell(code, printed, p=literal([float(f"{float(p):.6g}") for p in probabilities]), symbols=symbols)


def endings(model: Model, beginning: str, ends: Sequence[str]) -> Cell:
    """What each ending costs a model after the same beginning."""
    code = """
        import numpy as np
        import rnnviz

        model = rnnviz.load("$model")
        begin = $begin
        for end in $ends:
            nll = rnnviz.trace(model, begin + end).nll
            L = nll[len(begin) :].mean()
            print(f"{np.exp(L):.2f}{end}")
    """
    found = [(end, perplexity.continuation(model, beginning, end).perplexity) for end in ends]
    printed = [f"{value:.2f}{end}" for end, value in found]
    listed = "[\n" + "".join(f"    {end!r},\n" for end in ends) + "]"
    return cell(code, printed, model=model.name, begin=repr(beginning), ends=listed)


def beginnings(model: Model, cuts: Sequence[tuple[str, int]]) -> Cell:
    """Likelihood and perplexity of the beginnings of two texts: a sum and a mean."""
    code = """
        import numpy as np
        import rnnviz

        model = rnnviz.load("$model")
        texts = $texts
        for text in texts:
            nll = rnnviz.trace(model, text).nll
            log10 = -nll.sum() / np.log(10)
            PP = np.exp(nll.mean())
            print(f"10^{log10:.1f}  perplexity {PP:.2f}")
    """
    printed = []
    for text, cut in cuts:
        found = perplexity.prefixes(model, text[:cut])
        printed.append(f"10^{found.log10[-1]:.1f}  perplexity {found.perplexity[-1]:.2f}")
    listed = "[\n" + "".join(f"    {text[:cut]!r},\n" for text, cut in cuts) + "]"
    return cell(code, printed, model=model.name, texts=listed)


def guessed(ranks: Sequence[int]) -> Cell:
    """Shannon's bounds from the guess at which each letter was found.

    >>> print(guessed([1, 1, 2, 1]).printed, end="")
    0.50 <= F <= 0.81 bits
    """
    found = shannon.bounds(ranks)
    code = """
        import torch

        guesses = $ranks
        q = torch.bincount(guesses, minlength=28)[1:]
        q = q.sort(descending=True).values / q.sum()
        i = torch.arange(1, 28)
        later = torch.cat((q[1:], torch.zeros(1)))

        low = (i * (q - later) * i.log2()).sum()
        bits = torch.where(q > 0, -q.log2(), 0.0)
        high = (q * bits).sum()
        print(f"{low:.2f} <= F <= {high:.2f} bits")
    """
    return cell(code, [f"{found.lower:.2f} <= F <= {found.upper:.2f} bits"], ranks=literal(list(ranks)))
