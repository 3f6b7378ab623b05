"""A network as a PyTorch program of at most 80 lines, which needs neither rnnviz nor this package's engines.

The template `torch_network.py.jinja` beside this file is that program, with a network's cell, sizes and
normaliser left open; its vocabulary and weights it reads from the model's file.
"""

import json
from pathlib import Path

from rnnviz.errors import ConfigError
from rnnviz.figures.export import markup
from rnnviz.networks.cells import CELLS
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import Model
from rnnviz.text.characters import NORMALISERS
from rnnviz.text.vocabulary import END

WRITTEN = ("mlp", "rnn", "gru", "lstm", "mingru")
"""The cells that the template has."""


def program(model: Model, weights: str) -> str:
    """The program of a network whose file is called `weights`; it looks for that file beside itself.

    Raises ConfigError for an n-gram model, and for a network of other cells, such as a Python function.
    """
    if isinstance(model, NgramModel):
        raise ConfigError(
            "{model!r} counts {order}-grams, for which torch has no layers; choose a network that "
            "`rnnviz models` lists",
            model=model.name,
            order=model.order,
        )
    config = model.config
    if config.cell not in WRITTEN:
        raise ConfigError(
            "{model!r} has {cell} cells, and there are PyTorch programs for {cells}; take home the function "
            "that is its step",
            model=model.name,
            cell=config.cell,
            cells=", ".join(WRITTEN),
        )
    # A line end of CR alone is one more character that another replaces.
    replaced = {"\r": "\n", **NORMALISERS[model.normaliser]}
    if model.vocabulary.by_line:
        replaced |= {"\n": END, "\r": END}
    text: str = markup(Path(__file__).with_suffix(".py.jinja")).render(
        label=CELLS[config.cell].label,
        cell=config.cell,
        phi=config.activation,
        L=config.layers,
        H=config.hidden_size,
        V=config.vocabulary_size,
        X=config.embedding_size,
        inputs=[config.input_size] + [config.hidden_size] * (config.layers - 1),
        rows=config.hidden_size * len(CELLS[config.cell].blocks),
        tied=config.tied,
        end=model.vocabulary.end,
        by_line=model.vocabulary.by_line,
        weights=json.dumps(weights),  # escaped: the name of a file may hold anything
        replaced=json.dumps("".join(replaced), ensure_ascii=False),
        by=json.dumps("".join(replaced.values()), ensure_ascii=False),
    )
    return f"{text}\n"
