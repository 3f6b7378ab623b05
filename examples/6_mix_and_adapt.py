"""Predictions that learn from the text as it is read: a mixture of two models, and dynamic evaluation.

    python examples/6_mix_and_adapt.py

    perplexity       network    6-gram     mixed   adapted      both
    timemachine        4.054     4.359     3.910     3.993     3.877
    python-source    129.046    51.073    49.271    14.186    12.988    (Python 3.11's library)

Each character is predicted from those before it alone. But such a perplexity isn't comparable with that of a
model that doesn't learn from the text it is measured on. Nor does a gain show that a network understands a
text: it is larger on texts unlike the training text, and untrained this network goes from 70 to 14 on the
first.
"""

import argparse
import copy

import numpy as np
import torch
from torch.nn import functional

import rnnviz

parser = argparse.ArgumentParser()
parser.add_argument("--characters", type=int, default=20_000)
limit = parser.parse_args().characters


def costs(model, text: str) -> np.ndarray:
    """-log P of each character in nats, (T,)."""
    nats: list[np.ndarray] = []
    rnnviz.perplexity(model, text, costs=nats.append)
    return np.concatenate(nats)


def mixed(first: np.ndarray, second: np.ndarray, rate: float = 0.01) -> np.ndarray:
    """Costs (T,) under w P₁ + (1 - w) P₂: w moves to what Bayes' rule says of each character that came."""
    w, nats = 0.5, []
    for p, q in np.exp(-np.stack([first, second], axis=1)).tolist():
        nats.append(w * p + (1 - w) * q)
        w += rate * (w * p / nats[-1] - w)
    return -np.log(nats)


def adapted(model, text: str, piece: int = 20, rate: float = 0.1) -> np.ndarray:
    """Costs (T,) under a copy of the network that makes a step of SGD after each piece it was scored on."""
    learner = copy.deepcopy(model).requires_grad_(True)
    optimiser = torch.optim.SGD(learner.parameters(), lr=rate)
    ids = torch.tensor([model.vocabulary.start, *model.vocabulary.encode(text)])
    nats, state = [], None
    for begin in range(0, len(text), piece):
        read = ids[begin : begin + piece + 1]
        logits, state = learner(read[None, :-1], state)
        loss = functional.cross_entropy(logits[0], read[1:], reduction="none")
        nats.append(loss.detach())
        optimiser.zero_grad()
        loss.mean().backward()
        optimiser.step()
        state = tuple(part.detach() for part in state)  # the state goes on, gradients end here
    return (torch.cat(nats) + (ids[1:] == 0) * model.vocabulary.unknown_cost).numpy()


network, counts = rnnviz.load("timemachine-lstm"), rnnviz.load("timemachine-6gram")
print(f"{'perplexity':14}   network    6-gram     mixed   adapted      both")
for corpus in ("timemachine", "python-source"):
    text = rnnviz.corpora.open_corpus(corpus).split().held_out[:limit]
    alone, ngram, learning = costs(network, text), costs(counts, text), adapted(network, text)
    each = alone, ngram, mixed(alone, ngram), learning, mixed(learning, ngram)
    print(f"{corpus:14}{''.join(f'{np.exp(nats.mean()):10.3f}' for nats in each)}")
