"""Scene 6's cells: perplexity from probabilities, of continuations and beginnings, and Shannon's bounds."""

import math
from collections.abc import Sequence

from rnnviz.lecture import perplexity, shannon
from rnnviz.lecture.prediction import nats
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
            print(f"{found.perplexity:.4g}{end}")
    """
    found = [(end, perplexity.continuation(model, beginning, end).perplexity) for end in ends]
    printed = [f"{value:.4g}{end}" for end, value in found]
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
            print(f"perplexity {found.perplexity:.4g}")
    """
    printed = []
    for text, cut in cuts:
        found = perplexity.prefixes(model, text[:cut])
        printed += [f"likelihood 10^{found.log10[-1]:.1f}", f"perplexity {found.perplexity[-1]:.4g}"]
    texts = _listed([text[:cut] for text, cut in cuts])
    return cell(code, printed, model=model.name, texts=texts)


def books(titles: Sequence[str], lengths: Sequence[int], read: Sequence[float]) -> Cell:
    """The likelihood of texts of such lengths, read with such perplexities, and what a mean says instead.

    >>> print(books(["A", "B"], [100, 10], [10, 100]).printed, end="")
    A: L = 2.30 nats
    10^-100
    B: L = 4.61 nats
    10^-20
    """
    code = """
        import math

        books = [  # title, characters, perplexity
        $books]
        for title, T, PP in books:
            log10 = -T * math.log10(PP)
            print(f"{title}: L = {math.log(PP):.2f} nats")
            print(f"10^{log10:,.0f}")
    """
    rows = list(zip(titles, lengths, read, strict=True))
    printed = [
        line
        for title, T, PP in rows
        for line in (
            f"{title}: L = {math.log(PP):.2f} nats",
            f"10^{perplexity.log10_likelihood(T, PP):,.0f}",
        )
    ]
    listed = "".join(f"    ({title!r}, {T}, {PP}),\n" for title, T, PP in rows)
    return cell(code, printed, books=listed)


def stored(model: Model, text: str) -> Cell:
    """What a text takes in a model's ideal code, a character's mean, and the perplexity that this is."""
    code = """
        import rnnviz

        model = rnnviz.load("$model")
        text = $text

        found = rnnviz.perplexity(model, text=text)
        bits = found.bits_per_character
        print(f"{len(text) * bits:.1f} bits")
        print(f"{bits:.2f} a character")
        print(f"perplexity {2**bits:.4g}")
    """
    costs = nats(model, text) / math.log(2)
    printed = [
        f"{costs.sum():.1f} bits",
        f"{costs.mean():.2f} a character",
        f"perplexity {2 ** costs.mean():.4g}",
    ]
    return cell(code, printed, model=model.name, text=repr(text))


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
