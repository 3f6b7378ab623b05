"""Scene 2's cells: a layer without a hidden state, on a minibatch and on two texts that end alike."""

from __future__ import annotations

import numpy as np

from rnnviz.lecture.machine import Machine
from rnnviz.lecture.memoryless import compare, ending
from rnnviz.lecture.snippets.cell import Cell, cell, literal, tensor
from rnnviz.networks.numpy_model import NumpyModel


def minibatch(machine: Machine) -> Cell:
    """H = φ(X W_xh + b_h), a row for each of the machine's inputs: the bias is broadcast over the rows.

    >>> minibatch(Machine(steps=2)).printed.splitlines()[0]
    'X (2, 7)  H (2, 4)'
    """
    net, x = machine.net, machine.forward.x
    code = """
        import torch
        from torch.nn.functional import one_hot

        torch.set_printoptions(2, sci_mode=False)
        W_xh = $W_xh
        b_h = $b_h

        ids = torch.tensor($ids)  # $inputs
        X = one_hot(ids, num_classes=$symbols).float()
        H = torch.tanh(X @ W_xh + b_h)

        print("X", tuple(X.shape), " H", tuple(H.shape))
        print(H)
    """
    state = np.tanh(x @ net.W_xh + net.b_h)
    values = {
        "W_xh": literal(net.W_xh),
        "b_h": literal([net.b_h]),
        "ids": machine.ids,
        "inputs": machine.inputs,
        "symbols": x.shape[1],
    }
    return cell(code, [f"X {x.shape}  H {state.shape}", *tensor(state)], **values)


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
