"""The settings of the shipped models, chosen on validation text: every candidate is trained on the first 85 %
of its corpus and measured on the next 5 %, at the end of its training. The last 10 % are not looked at.

    python tests/benchmarks/choices.py --folder choices --corpora . --processes 3 [NAME …]

trains the candidates that `choices/NAME.json` lacks and adds an object for each: its settings, its validation
perplexity, the characters it was trained on and the seconds that took, the best candidate first. Then

    python -m rnnviz train … --choice choices/NAME.json

trains the model itself, on 90 %, with the settings of one of them, and puts their table into its card. The
candidates of a network differ from the first of them in what stands beside it; all have seed 1 and are
computed in float32 by one thread. Those of an n-gram model are its orders from 3 on, with characters that
occur once in the vocabulary and without.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rnnviz.networks.config import Cell
    from rnnviz.text.corpora import Corpus

SMALL = {"batch": 16, "steps": 50, "dropout_embedding": 0.1, "dropout_output": 0.4, "embedding_size": 128}
TIMEMACHINE = {"corpus": "timemachine", "hidden_size": 256, "epochs": 120, **SMALL}
CANDIDATES: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "shakespeare-lstm": (
        {
            "corpus": "tinyshakespeare", "cell": "lstm", "hidden_size": 512, "embedding_size": 128,
            "batch": 32, "steps": 64, "learning_rate": 0.003, "dropout_embedding": 0.05,
            "dropout_weight": 0.2, "dropout_output": 0.25, "epochs": 18,
        },
        [{}, {"epochs": 12}, {"epochs": 24}],
    ),
    "chinese-gru": (
        {
            "corpus": "xiyouji.txt", "cell": "gru", "hidden_size": 384, "embedding_size": 384, "tied": True,
            "batch": 32, "steps": 50, "learning_rate": 0.004, "dropout_embedding": 0.1, "dropout_weight": 0.3,
            "dropout_output": 0.4, "epochs": 8,
        },
        [{}, {"epochs": 12}],
    ),
    "timemachine-lstm": (
        {"cell": "lstm", "learning_rate": 0.004, "dropout_weight": 0.4, **TIMEMACHINE},
        [{}, {"dropout_weight": 0.2}, {"epochs": 60}],
    ),
    "timemachine-gru": (
        {"cell": "gru", "learning_rate": 0.0015, "dropout_weight": 0.2, **TIMEMACHINE},
        [{}, {"dropout_weight": 0.4}],
    ),
    "python-gru": (
        {
            "corpus": "python-source", "cell": "gru", "hidden_size": 384, "embedding_size": 128, "batch": 32,
            "steps": 64, "learning_rate": 0.004, "dropout_embedding": 0.05, "dropout_weight": 0.1,
            "dropout_output": 0.15, "epochs": 6,
        },
        [{}, {"epochs": 10}],
    ),
    "timemachine-rnn": (
        {"cell": "rnn", "learning_rate": 0.0015, "dropout_weight": 0.05, **TIMEMACHINE},
        [{}, {"dropout_weight": 0.2}, {"learning_rate": 0.004}, {"epochs": 60}],
    ),
    # Of as many parameters as timemachine-gru: docs/cells.md.
    "timemachine-mingru": (
        {**TIMEMACHINE, "cell": "mingru", "layers": 3, "hidden_size": 240, "learning_rate": 0.003},
        [{"epochs": 60}, {}, {"epochs": 60, "dropout_layer": 0.2}],
    ),
    # Of as many as shakespeare-lstm.
    "shakespeare-mingru": (
        {
            "corpus": "tinyshakespeare", "cell": "mingru", "layers": 3, "hidden_size": 540,
            "embedding_size": 128, "batch": 16, "steps": 64, "learning_rate": 0.003,
            "dropout_embedding": 0.05, "dropout_output": 0.2, "epochs": 8,
        },
        [{}, {"epochs": 2}],
    ),
    "timemachine-mlp": (
        {"cell": "mlp", "learning_rate": 0.0015, **TIMEMACHINE},
        [{}, {"learning_rate": 0.004}, {"epochs": 60}],
    ),
    **{
        f"{name}-6gram": (
            {"corpus": corpus, "cell": "ngram"},
            [{"order": order, "min_count": rare} for order in (3, 4, 5, 6) for rare in (1, 2)],
        )
        for name, corpus in (
            ("timemachine", "timemachine"), ("shakespeare", "tinyshakespeare"), ("python", "python-source"),
            ("chinese", "xiyouji.txt"),
        )
    },
}  # fmt: skip


def trained(corpus: Corpus, cell: Cell, **recipe: Any) -> tuple[float, int]:
    """Validation perplexity of a network at the end of its training, and the characters it was trained on."""
    import torch

    from rnnviz.networks.config import TrainConfig
    from rnnviz.training.trainer import train
    from rnnviz.training.tuning import tune_process

    torch.set_num_threads(1)
    tune_process()
    config = TrainConfig(cell=cell, train_on="train", precision="float32", seed=1, **recipe)
    *_, last = train(config, corpus, device="cpu", sample_length=0)
    assert last.validation_perplexity is not None
    return last.validation_perplexity, last.characters


def counted(corpus: Corpus, cell: str, *, order: int, min_count: int) -> tuple[float, int]:
    """The same for an n-gram model."""
    from rnnviz.networks.ngram import NgramModel
    from rnnviz.reading.scoring import perplexity
    from rnnviz.text.vocabulary import Vocabulary

    split = corpus.split()
    vocabulary = Vocabulary.from_text(split.train, min_count=min_count)
    model = NgramModel.fit(split.train, order=order, vocabulary=vocabulary)
    return perplexity(model, text=split.validation).perplexity, len(split.train)


def tried(folder: str, settings: dict[str, Any]) -> dict[str, Any]:
    """One candidate: its settings, and what it came to. `folder` has the text files."""
    from rnnviz.text.corpora import open_corpus

    recipe = dict(settings)
    name = recipe.pop("corpus")
    corpus = open_corpus(os.path.join(folder, name) if name.endswith(".txt") else name)
    began = time.perf_counter()
    perplexity, characters = (counted if recipe["cell"] == "ngram" else trained)(corpus, **recipe)
    return {
        "settings": settings,
        "validation_perplexity": perplexity,
        "characters": characters,
        "seconds": round(time.perf_counter() - began),
    }


def known(path: Path) -> list[dict[str, Any]]:
    """The candidates in a file; none if there is no file yet."""
    found: list[dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.exists() else []
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path("choices"), help="where NAME.json are")
    parser.add_argument("--corpora", default=".", help="the folder of xiyouji.txt")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("models", nargs="*", default=list(CANDIDATES), metavar="NAME")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(args.processes) as pool:
        waiting = {}
        for model in args.models:
            base, variations = CANDIDATES[model]
            done = [one["settings"] for one in known(args.folder / f"{model}.json")]
            for settings in ({**base, **variation} for variation in variations):
                if settings not in done:
                    waiting[pool.submit(tried, args.corpora, settings)] = model
        for future in as_completed(waiting):
            path, one = args.folder / f"{waiting[future]}.json", future.result()
            found = sorted([*known(path), one], key=lambda each: each["validation_perplexity"])
            path.write_text(json.dumps(found, indent=1), "utf-8")
            print(path.stem, json.dumps(one), flush=True)


if __name__ == "__main__":
    main()
