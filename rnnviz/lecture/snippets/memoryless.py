"""Scene 2's cells: a layer without a hidden state, on a minibatch and on two texts that end alike."""

from rnnviz.gradients.small import SmallRNN
from rnnviz.lecture.machine import WORD
from rnnviz.lecture.memoryless import compare, ending, minibatch
from rnnviz.lecture.snippets.cell import Cell, cell, literal, tensor
from rnnviz.networks.numpy_model import NumpyModel

_LAYER = """
import torch
from torch.nn.functional import one_hot

torch.set_printoptions(2, sci_mode=False)
W_xh = $W_xh
b_h = $b_h

symbols, pairs = $symbols, $pairs
ids = [symbols.index(x) for x, _ in pairs]
ids = torch.tensor(ids)
X = one_hot(ids, len(symbols)).float()
H = torch.tanh(X @ W_xh + b_h)
"""
_HIDDEN = """
print("X", tuple(X.shape), " H", tuple(H.shape))
print(H)
"""
_OUTPUT = """
from torch.nn.functional import cross_entropy

W_hq = $W_hq
b_q = $b_q
labels = [symbols.index(y) for _, y in pairs]
labels = torch.tensor(labels)
O = H @ W_hq + b_q

P = torch.softmax(O, dim=1)
print(P[range(len(pairs)), labels])
print(f"loss {cross_entropy(O, labels):.2f} nats")
"""


def hidden(net: SmallRNN, pairs: list[str]) -> Cell:
    """H = φ(X W_xh + b_h), a row for each pair: the bias is broadcast over the rows.

    >>> from rnnviz.lecture.machine import Machine
    >>> hidden(Machine().net, ["ma", "hi"]).printed.splitlines()[0]
    'X (2, 7)  H (2, 4)'
    """
    found = minibatch(net, pairs)
    printed = [f"X {found.x.shape}  H {found.hidden.shape}", *tensor(found.hidden)]
    return cell(_LAYER + _HIDDEN, printed, **_written(net, pairs))


def output(net: SmallRNN, pairs: list[str]) -> Cell:
    """O = H W_hq + b_q: the probability of each pair's second character, and the mean loss."""
    found = minibatch(net, pairs)
    right = found.probabilities[range(len(pairs)), found.targets]
    printed = [*tensor(right), f"loss {found.loss:.2f} nats"]
    return cell(_LAYER + _OUTPUT, printed, **_written(net, pairs))


def _written(net: SmallRNN, pairs: list[str]) -> dict[str, str]:
    weights = {name: literal(getattr(net, name)) for name in ("W_xh", "b_h", "W_hq", "b_q")}
    return {**weights, "symbols": repr(WORD), "pairs": repr(pairs)}


def endings(model: NumpyModel, left: str, right: str) -> Cell:
    """How far a network's hidden layers and predictions after two texts are apart.

    >>> import rnnviz.networks.checkpoint as checkpoint
    >>> mlp = checkpoint.load_numpy("timemachine-mlp")
    >>> print(endings(mlp, "the cat", "we met").printed, end="")
    hidden layer: 0.00
    probability: 0.00
    """
    found = compare(ending(model, left), ending(model, right), 1)
    code = """
        import numpy as np
        import rnnviz

        model = rnnviz.load("$model")
        one = rnnviz.trace(model, $left)
        other = rnnviz.trace(model, $right)

        H = one.hidden[-1] - other.hidden[-1]
        print(f"hidden layer: {abs(H).max():.2f}")

        p, q = one.log_probs[-1], other.log_probs[-1]
        difference = abs(np.exp(p) - np.exp(q)).max()
        print(f"probability: {difference:.2f}")
    """
    printed = [f"hidden layer: {found.state:.2f}", f"probability: {found.prediction:.2f}"]
    return cell(code, printed, model=model.name, left=repr(left), right=repr(right))
