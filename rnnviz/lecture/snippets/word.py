"""Scene 5's cells: a text shifted by one, a loss at each step, and a training of one word."""

from collections.abc import Sequence

from rnnviz.lecture import tokens, word
from rnnviz.lecture.machine import NAMES, UNITS, Machine
from rnnviz.lecture.snippets.cell import Cell, cell, literal, tensor


def labels(text: str) -> Cell:
    """Inputs and labels.

    >>> print(labels("tea").printed, end="")
    inputs te
    labels ea
    1: t -> e
    2: te -> a
    """
    code = """
        text = $text
        inputs, labels = text[:-1], text[1:]

        print("inputs", inputs)
        print("labels", labels)
        for t, label in enumerate(labels, start=1):
            print(f"{t}: {inputs[:t]} -> {label}")
    """
    steps = [f"{t}: {text[:t]} -> {text[t]}" for t in range(1, len(text))]
    return cell(code, [f"inputs {text[:-1]}", f"labels {text[1:]}", *steps], text=repr(text))


FORWARD = """
import torch
from torch.nn.functional import cross_entropy

torch.set_printoptions(2, sci_mode=False)
W_xh = $W_xh
W_hh = $W_hh
b_h = $b_h
W_hq = $W_hq
b_q = $b_q

symbols, text = $symbols, $text
ids = [symbols.index(c) for c in text]
labels = torch.tensor(ids[1:])

H, O = torch.zeros($units), []
for x in ids[:-1]:
    H = torch.tanh(W_xh[x] + H @ W_hh + b_h)
    O.append(H @ W_hq + b_q)
O = torch.stack(O)  # (T, |V|)
"""


def losses(machine: Machine) -> Cell:
    """Softmax and cross-entropy at each step of the small network.

    >>> losses(Machine()).printed.splitlines()[-1].startswith("perplexity")
    True
    """
    seen = machine.forward
    code = (
        FORWARD
        + """
P = torch.softmax(O, dim=1)
print(P[range(len(labels)), labels])
loss = cross_entropy(O, labels, reduction="none")
print(loss)
print(f"L {loss.mean():.2f} nats")
print(f"perplexity {loss.mean().exp():.2f}")
"""
    )
    right = seen.probabilities[range(machine.steps), machine.targets]
    printed = [
        *tensor(right),
        *tensor(seen.losses),
        f"L {seen.loss:.2f} nats",
        f"perplexity {seen.perplexity:.2f}",
    ]
    return cell(code, printed, **written(machine))


def written(machine: Machine) -> dict[str, object]:
    """The values of FORWARD."""
    weights = {name: literal(getattr(machine.net, name)) for name in NAMES}
    text = machine.inputs + machine.labels[-1]
    return {
        **weights,
        "symbols": repr("".join(machine.symbols)),
        "text": repr(text),
        "units": len(machine.net.b_h),
    }


_TRAINING = """
import numpy as np
import torch
from torch.nn.functional import cross_entropy
from torch.nn.utils import clip_grad_norm_

text, h, steps = $text, $units, $steps
symbols = $symbols
V = len(symbols)
rng = np.random.default_rng($seed)

def draw(scale, *shape):
    W = scale * rng.standard_normal(shape)
    W = W.round(1)
    return torch.tensor(W, requires_grad=True)

W_xh, W_hh = draw(0.9, V, h), draw(0.7, h, h)
b_h = draw(0.3, h)
W_hq, b_q = draw(0.9, h, V), draw(0.3, V)
weights = [W_xh, W_hh, b_h, W_hq, b_q]

ids = [symbols.index(c) for c in text]
labels = torch.tensor(ids[1:])

def step(H, x):
    H = torch.tanh(W_xh[x] + H @ W_hh + b_h)
    return H, H @ W_hq + b_q

def loss(how="mean"):
    H, O = torch.zeros(h).double(), []
    for x in ids[:-1]:
        H, o = step(H, x)
        O.append(o)
    O = torch.stack(O)
    return cross_entropy(O, labels, reduction=how)

adam = torch.optim.AdamW(
    weights, betas=$betas, weight_decay=0
)
for n in range(steps):
    done = max(0, n - $warm) / ($whole - $warm)
    wave = 0.505 + 0.495 * np.cos(np.pi * done)
    share = min((n + 1) / $warm, wave)
    adam.param_groups[0]["lr"] = $rate * share
    adam.zero_grad()
    loss().backward()
    clip_grad_norm_(weights, $clip)
    adam.step()
print(f"perplexity {loss().exp():.2f}")
"""


_WRITING = """
H, x = torch.zeros(h).double(), ids[0]
said = text[0]
for _ in labels:
    H, o = step(H, x)
    x = int(o.argmax())
    said += symbols[x]
print(said)
"""


_LOSSES = """
torch.set_printoptions(2, sci_mode=False)
print(loss("none").detach().float())
"""


def trained(run: word.WordRun, at: int, *, writes: bool = False, losses: bool = False) -> Cell:
    """The page's training in torch, from the same weights, and what the network then writes, or each loss.

    >>> print(trained(word.run("tea"), 100, writes=True).printed.splitlines()[-1])
    tea
    """
    seen = run.at(at)
    printed = [f"perplexity {seen.perplexity:.2f}"]
    printed += [seen.written] if writes else []
    printed += tensor(seen.losses) if losses else []
    return cell(
        _TRAINING + (_WRITING if writes else "") + (_LOSSES if losses else ""),
        printed,
        text=repr(run.word),
        units=UNITS,
        steps=at,
        symbols=repr("".join(run.symbols)),
        seed=run.seed,
        rate=word.LEARNING_RATE,
        betas=word.BETAS,
        warm=max(1, run.steps // 50),
        whole=run.steps,
        clip=word.CLIP,
    )


def why() -> Cell:
    """A book's characters and words: different ones, and the time steps that reading it takes.

    >>> print(why().printed, end="")
    28 symbols, 173,427 time steps
    4,580 symbols, 32,775 time steps
    """
    code = """
        import re
        import rnnviz

        text = rnnviz.corpora.read("timemachine").text
        book = re.sub("[^a-z]+", " ", text.lower())
        book = book.strip()

        # and one symbol for what is unknown
        for tokens in (book, book.split()):
            V, T = len(set(tokens)) + 1, len(tokens)
            print(f"{V:,} symbols, {T:,} time steps")
    """
    printed = [f"{kind.symbols:,} symbols, {kind.tokens:,} time steps" for kind in tokens.vocabularies()]
    return cell(code, printed)


def batch(windows: Sequence[str], symbols: Sequence[str], t: int) -> Cell:
    """X_t of a minibatch: a row for each place that is read, one-hot.

    >>> print(batch(["the t", " mach"], ["t", "h", "e", " ", "m", "a", "c", "?"], t=1).printed, end="")
    X_1 (2, 8)
    't' -> 'h'
    ' ' -> 'm'
    """
    code = """
        import torch
        from torch.nn.functional import one_hot

        windows = $windows
        symbols = $symbols
        t = $t

        ids = [symbols.index(w[t - 1]) for w in windows]
        ids = torch.tensor(ids)
        X = one_hot(ids, len(symbols)).float()
        print(f"X_{t}", tuple(X.shape))
        for w in windows:
            print(repr(w[t - 1]), "->", repr(w[t]))
    """
    printed = [f"X_{t} ({len(windows)}, {len(symbols)})"]
    printed += [f"{w[t - 1]!r} -> {w[t]!r}" for w in windows]
    return cell(code, printed, windows=repr(list(windows)), symbols=repr("".join(symbols)), t=t)
