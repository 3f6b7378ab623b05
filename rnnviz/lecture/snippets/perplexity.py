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
    """The perplexity of each ending after the same beginning, which is read and not scored."""
    code = """
        import rnnviz

        model = rnnviz.load("$model")
        begin = $begin
        for end in $ends:
            found = rnnviz.perplexity(
                model, text=end, given=begin
            )
            print(f"{found.perplexity:.2f}{end}")
    """
    found = [(end, perplexity.continuation(model, beginning, end).perplexity) for end in ends]
    printed = [f"{value:.2f}{end}" for end, value in found]
    return cell(code, printed, model=model.name, begin=repr(beginning), ends=_listed(ends))


def beginnings(model: Model, cuts: Sequence[tuple[str, int]]) -> Cell:
    """Likelihood and perplexity of the beginnings of texts: one is of a sum, the other of a mean."""
    code = """
        import math
        import rnnviz

        model = rnnviz.load("$model")
        for text in $texts:
            found = rnnviz.perplexity(model, text=text)
            bits = found.bits_per_character * len(text)
            log10 = -bits * math.log10(2)
            print(f"likelihood 10^{log10:.1f}")
            print(f"perplexity {found.perplexity:.2f}")
    """
    printed = []
    for text, cut in cuts:
        found = perplexity.prefixes(model, text[:cut])
        printed += [f"likelihood 10^{found.log10[-1]:.1f}", f"perplexity {found.perplexity[-1]:.2f}"]
    texts = _listed([text[:cut] for text, cut in cuts])
    return cell(code, printed, model=model.name, texts=texts)


def _listed(texts: Sequence[str]) -> str:
    """A list of texts as it is written in code, a line each."""
    return "[\n" + "".join(f"    {text!r},\n" for text in texts) + "]"


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
