"""A text and a recipe that are learnt in a second, and runs of them."""

from pathlib import Path
from typing import Any

import other_processor
import pytest
import torch
from safetensors.torch import load_file

from rnnviz.lab.fit.trainer import Trainer
from rnnviz.lab.run.folder import Description, RunFolder
from rnnviz.networks.config import TrainConfig
from rnnviz.text import corpora
from tests.support.texts import TRAVELLER

CORPUS = corpora.from_text(TRAVELLER, "smiles")

SMALL = TrainConfig(
    cell="gru", hidden_size=12, embedding_size=6, epochs=2, batch=4, steps=10, learning_rate=0.02,
    precision="float32",
)  # fmt: skip


def same_tensors(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[k], b[k]) for k in a)


INTERRUPTIBLE = TrainConfig(
    cell="gru", hidden_size=12, embedding_size=6, epochs=8, batch=4, steps=10, learning_rate=0.02,
    precision="float32", dropout_output=0.2, truncation="random", evaluate_every=50,
)  # fmt: skip


@pytest.fixture(scope="module")
def whole() -> dict[str, torch.Tensor]:
    """The weights of a run of INTERRUPTIBLE that nothing interrupted, and nobody wrote anything down of."""
    torch.set_flush_denormal(True)
    with other_processor.own_products():
        trainer = Trainer(INTERRUPTIBLE, CORPUS)
        list(trainer.run(sample_length=0))
    return {k: v.clone() for k, v in trainer.model.state_dict().items()}


def begin_run(home: Path, config: TrainConfig = INTERRUPTIBLE, **fields: Any) -> RunFolder:
    """A run's folder with nothing done yet."""
    folder = RunFolder(home / "run")
    folder.path.mkdir(parents=True)
    folder.begin(Description("run", config, text=TRAVELLER, threads=1, watch_text="lit the lamp", **fields))
    return folder


def final_weights(folder: RunFolder) -> dict[str, torch.Tensor]:
    """The weights at the end of a finished run: the last state's, whichever model was the best."""
    tensors = load_file(folder.state)
    return {k.removeprefix("model."): v for k, v in tensors.items() if k.startswith("model.")}
