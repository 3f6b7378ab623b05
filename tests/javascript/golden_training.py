"""torch's gradients and runs of rnnviz's trainer, for the page's training to be held against:
`python -m tests.javascript.golden_training FOLDER`.

Each file holds JSON and arrays (`rnnviz.page.payload`). NAME.gradients: a piece, the weights, the states
before, the mean cost and the gradients. NAME.run: the text, the recipe, the first weights, the numbers that
the trainer drew, and the cost and the gradient's norm of every step. NAME.counts: a text's symbols and the
tables of its n-gram model.
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from rnnviz.arrays import Array
from rnnviz.lab.engines.torch_model import untrained
from rnnviz.lab.fit.trainer import Trainer
from rnnviz.networks.config import ModelConfig, TrainConfig
from rnnviz.networks.ngram import NgramModel
from rnnviz.page.payload import pack
from rnnviz.text.corpora import from_texts, read
from rnnviz.text.vocabulary import Vocabulary

B, T = 6, 9  # rows and characters of the gradients' piece
SYMBOLS = tuple(sorted(set("the machin\nTG.,;'w")))
RUN_STEPS = 200
TEXT_CHARS = 12_000
NAMES = ("Anna", "Bob", "Christopher", "Al", "Dora", "Eve")


def write(folder: Path) -> None:
    """Write a file for each cell's gradients, and one for each run."""
    torch.set_num_threads(1)  # on a busy machine small products wait for more
    for cell, activation in (("rnn", "tanh"), ("rnn", "relu"), ("gru", "tanh"), ("lstm", "tanh")):
        for hidden_size in (16, 48):
            config = ModelConfig(cell, len(SYMBOLS) + 1, hidden_size, embedding_size=0, activation=activation)
            _write(folder / f"{cell} {activation} {hidden_size}.gradients", *_gradients(config))
    base = TrainConfig(
        cell="gru", hidden_size=32, embedding_size=0, batch=8, steps=20, learning_rate=0.01, fresh_rows=0.25
    )
    for name, recipe in {
        "gru adamw": base,
        "lstm momentum": replace(base, cell="lstm", optimiser="momentum", learning_rate=0.5),
        "rnn sgd unclipped": replace(base, cell="rnn", optimiser="sgd", learning_rate=0.2, clip=None),
        "rnn one stream": replace(base, cell="rnn", batch=1, fresh_rows=0.0),
    }.items():
        _write(folder / f"{name}.run", *_run(recipe, read("timemachine").text[:TEXT_CHARS]))
    # All in one batch, as the page shuffles batches otherwise; in one piece, and in three.
    for steps in (20, 4):
        recipe = replace(base, fresh_rows=0.0, steps=steps)
        _write(folder / f"ends {steps}.run", *_run(recipe, from_texts(NAMES).text, ends=True))

    for name, text, order in (
        ("book 6", read("timemachine").text[:TEXT_CHARS], 6),
        ("book 1", read("timemachine").text[:TEXT_CHARS], 1),
        ("word 3", "hello", 3),
        ("letter 2", "aaaa", 2),
        *((f"names {order}", read("names").text[:TEXT_CHARS], order) for order in (1, 2, 5)),
    ):
        _write(folder / f"{name}.counts", *_counts(text, order, ends=name.startswith("names")))


def _write(file: Path, header: dict[str, Any], arrays: dict[str, Array]) -> None:
    file.write_bytes(pack(header, {name: np.ascontiguousarray(array) for name, array in arrays.items()}))


def _gradients(config: ModelConfig) -> tuple[dict[str, Any], dict[str, Array]]:
    vocabulary = Vocabulary(SYMBOLS)
    model = untrained(config, vocabulary, seed=3)
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():  # larger than a training begins with, so that gates saturate
            parameter.mul_(3)
    inputs = torch.randint(config.vocabulary_size + 1, (B, T), generator=generator)
    labels = torch.randint(config.vocabulary_size, (B, T), generator=generator)
    state = tuple(
        torch.randn(part.shape, generator=generator) * 0.5 for part in model(inputs[:, :1], None)[1]
    )
    logits, _ = model(inputs, state)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.flatten())
    torch.autograd.backward(loss)
    tensors = {name: parameter.detach().numpy() for name, parameter in model.named_parameters()}
    gradients = {
        f"gradient:{name}": p.grad.numpy() for name, p in model.named_parameters() if p.grad is not None
    }
    arrays = {f"tensor:{name}": values for name, values in tensors.items()} | gradients
    arrays |= {f"state:{n}": part[0].numpy() for n, part in enumerate(state)}
    arrays |= {"inputs": inputs.T.numpy().astype("<u4"), "labels": labels.T.numpy().astype("<u4")}
    return {"config": config.to_json(), "loss": float(loss.detach()), "B": B, "T": T}, arrays


def _run(recipe: TrainConfig, text: str, *, ends: bool = False) -> tuple[dict[str, Any], dict[str, Array]]:
    corpus = replace(read("timemachine"), text=text, ends=ends)
    recipe = replace(recipe, characters=RUN_STEPS * recipe.batch * recipe.steps, seed=2)

    trainer = Trainer(recipe, corpus, device="cpu")
    trainer.model.engine = "torch"
    first = {f"tensor:{k}": p.detach().numpy().copy() for k, p in trainer.model.named_parameters()}
    drawn: list[int] = []
    randint = torch.randint

    def record(*args: Any, **options: Any) -> torch.Tensor:
        numbers = randint(*args, **options)
        drawn.extend(numbers.flatten().tolist())
        return numbers

    torch.randint = record  # type: ignore[assignment]
    try:
        steps = [trainer.step() for _ in range(RUN_STEPS)]
    finally:
        torch.randint = randint
    losses = [float(loss) for loss, _, _ in steps]
    norms = [float(norm) for _, norm, _ in steps]
    arrays = first | {
        "drawn": np.array(drawn, "<u4"),
        "losses": np.array(losses, "<f4"),
        "norms": np.array(norms, "<f4"),
    }
    header = {"text": text, "ends": ends, "recipe": recipe.to_json(), "steps": trainer.total_steps}
    return header, arrays


def _counts(text: str, order: int, *, ends: bool) -> tuple[dict[str, Any], dict[str, Array]]:
    vocabulary = Vocabulary.from_text(text, ends=ends)
    model = NgramModel.fit(text, order=order, vocabulary=vocabulary)
    arrays: dict[str, Array] = {"ids": vocabulary.encode(text).astype("<u4")}
    for n, level in enumerate(model.levels):
        arrays[f"{n}:keys"] = level.keys[:-1].astype("<u4")  # the last is no key
        arrays[f"{n}:share"], arrays[f"{n}:backoff"] = level.share.astype("<f4"), level.backoff.astype("<f4")
    return {"V": vocabulary.size, "order": order, "end": vocabulary.end}, arrays


if __name__ == "__main__":
    write(Path(sys.argv[1]))
