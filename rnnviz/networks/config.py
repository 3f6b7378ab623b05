"""The shape of a model and the recipe of its training: frozen, JSON and back.

Values out of range or in contradiction raise ConfigError.
"""

import math
from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from rnnviz.checks import checked
from rnnviz.errors import ConfigError
from rnnviz.i18n import N_
from rnnviz.networks.cells import CELLS, CellKind
from rnnviz.networks.settings import (
    BATCHES,
    LENGTH,
    NETWORK,
    OPTIMISATION,
    REGULARISATION,
    SHARE,
    SettingControl,
    setting,
    settings_of,
)
from rnnviz.text.characters import Normaliser

if TYPE_CHECKING:
    Cell: TypeAlias = str
    ModelKind: TypeAlias = str
else:
    # The names in CELLS, which the command offers: a type checker can't read a registry.
    Cell = Literal[tuple(CELLS)]
    ModelKind = Literal[(*CELLS, "ngram")]
Activation = Literal["tanh", "relu"]
Precision = Literal["auto", "float32", "bfloat16"]
Engine = Literal["auto", "torch", "numba"]
Truncation = Literal["regular", "random"]
TrainOn = Literal["train", "train+validation"]
Optimiser = Literal["adamw", "sgd", "momentum"]
Initialisation = Literal["torch", "normal", "identity"]
Partition = Literal["sequential", "random"]


GONE = ("minlstm", "rglru", "s6")
"""Cells of 1.0.0 that are gone; users may still have such models."""


def removed_cell_error(cell: object) -> ConfigError | None:
    """The error for a cell of GONE, which names the version that reads it; None for other cells."""
    if cell not in GONE:
        return None
    return ConfigError(
        "this version no longer reads or trains the cell {cell}; rnnviz 1.0.0 does; get it from "
        "where you got this version",
        cell=cell,
    )


def span(cell: str, activation: str) -> str:
    """The range of such cells' states; see `ModelConfig.span`."""
    # A Python function's states have no known range: they are shown as tanh's are.
    of_cell = CELLS[cell].span if cell in CELLS else "activation"
    return activation if of_cell == "activation" else of_cell


def between(config: object, kind: type, **limits: tuple[float, float]) -> None:
    """Raise ConfigError for a setting that is no number of the kind, int or float, within its limits."""
    for name, (low, high) in limits.items():
        value: Any = getattr(config, name)
        fits = isinstance(value, (int, kind)) and not isinstance(value, bool)
        if not fits or not low <= value <= high:  # refuses NaN, too
            received = {"name": name, "low": low, "high": high, "value": value}
            if kind is int:
                raise ConfigError(
                    "{name} is a whole number from {low:,} to {high:,}; received {value!r}", **received
                )
            raise ConfigError("{name} is a number from {low:g} to {high:g}; received {value!r}", **received)


def one_of(config: object, **choices: Iterable[str]) -> None:
    """Raise ConfigError for a setting that is none of its choices."""
    for name, allowed in choices.items():
        value = getattr(config, name)
        if value not in tuple(allowed):
            raise ConfigError(
                "{name} is one of {choices}; received {value!r}",
                name=name,
                choices=", ".join(allowed),
                value=value,
            )


def check_settings(config: Any) -> None:
    """Raise ConfigError for a setting outside its limits or none of its choices. None: it is left out."""
    dataclass_type: Any = type(config)
    for name, about in settings_of(dataclass_type).items():
        if getattr(config, name) is None:
            continue
        if about.limits is not None:
            kind = int if all(isinstance(limit, int) for limit in about.limits) else float
            between(config, kind, **{name: about.limits})
        if about.choices:
            one_of(config, **{name: about.choices})


KINDS: Mapping[str, CellKind] = ChainMap(CELLS, {"custom": CellKind("Custom")})
"""The cells, and a Python function's step, which no recipe trains: see `rnnviz.lab.engines.custom`."""


def check_quantity(quantity: str, cell: str) -> None:
    """Raise ConfigError unless a network of such cells has the quantity."""
    if quantity not in KINDS[cell].quantities:
        raise ConfigError(
            "a network of {cell} cells has {quantities}; received {quantity!r}",
            cell=cell,
            quantities=", ".join(KINDS[cell].quantities),
            quantity=quantity,
        )


def check_layer(layer: int, layers: int) -> None:
    """Raise ConfigError unless `layer` is one of `layers`, counted from 0."""
    if type(layer) is not int or not 0 <= layer < layers:
        raise ConfigError(
            "this network has {layers} layers, counted from 0; received layer {layer!r}",
            layers=layers,
            layer=layer,
        )


@checked
@dataclass(frozen=True)
class ModelConfig:
    """The shape of a model.

    >>> import rnnviz
    >>> rnnviz.ModelConfig("gru", 70, hidden_size=256).parameter_count
    323526

    cell            "mlp" (no hidden state), "rnn", "gru", "lstm", or "mingru", whose gate doesn't look at the
                    state
    vocabulary_size V, the symbols that can be predicted
    hidden_size     H, units per layer
    layers          L, recurrences stacked on one another
    embedding_size  width of X_t; 0 for one-hot vectors, as in the textbook
    activation      φ of mlp and rnn: "tanh" or "relu"
    tied            W_hq is the embedding's transpose (Press & Wolf 2017); needs embedding_size = hidden_size
    """

    cell: Cell
    vocabulary_size: int
    hidden_size: int = 256
    layers: int = 1
    embedding_size: int = 128
    activation: Activation = "tanh"
    tied: bool = False

    def __post_init__(self) -> None:
        if (error := removed_cell_error(self.cell)) is not None:
            raise error
        one_of(self, cell=CELLS, activation=get_args(Activation))
        if self.activation != "tanh" and CELLS[self.cell].gates:
            raise ConfigError(
                "cell {cell!r} has its own functions built in; {activation!r} is for mlp and rnn",
                cell=self.cell,
                activation=self.activation,
            )
        between(
            self,
            int,
            vocabulary_size=(2, 1_112_065),
            hidden_size=(1, 16_384),
            layers=(1, 16),
            embedding_size=(0, 16_384),
        )
        if type(self.tied) is not bool:
            raise ConfigError("tied is true or false; received {tied!r}", tied=self.tied)
        if self.tied and self.embedding_size != self.hidden_size:
            raise ConfigError(
                "tied needs embedding_size = hidden_size; received {embedding_size} and {hidden_size}",
                embedding_size=self.embedding_size,
                hidden_size=self.hidden_size,
            )

    @property
    def input_size(self) -> int:
        """X, the width of the first layer's input."""
        return self.embedding_size or self.vocabulary_size + 1

    @property
    def parameter_count(self) -> int:
        """The number of parameters; it doesn't depend on the number of time steps."""
        return sum(math.prod(shape) for shape in self.shapes().values())

    @property
    def span(self) -> str:
        """The range of the states: "tanh" is [-1, 1], "relu" and "positive" begin at 0."""
        return span(self.cell, self.activation)

    def layer_names(self, n: int) -> tuple[str, ...]:
        """The tensors of layer n as torch names them: W_x, W_h and a bias beside each; W_x and b alone where
        there is no W_h.
        """
        if self.cell == "mlp":
            return f"recurrence.{n}.weight", f"recurrence.{n}.bias"
        if not CELLS[self.cell].mixes:
            return f"recurrence.weight_ih_l{n}", f"recurrence.bias_ih_l{n}"
        return tuple(f"recurrence.{kind}_l{n}" for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The name and shape of each tensor, as in torch's layers."""
        h, v = self.hidden_size, self.vocabulary_size
        by_name: dict[str, tuple[int, ...]] = {}
        if self.embedding_size:
            by_name["embedding.weight"] = (v + 1, self.embedding_size)
        gates = len(CELLS[self.cell].blocks) * h
        for n in range(self.layers):
            x = h if n else self.input_size
            shapes: list[tuple[int, ...]] = [(gates, x), (gates,)]
            if CELLS[self.cell].mixes:
                shapes = [(gates, x), (gates, h), (gates,), (gates,)]
            by_name |= dict(zip(self.layer_names(n), shapes, strict=True))
        if not self.tied:
            by_name["readout.weight"] = (v, h)
        return by_name | {"readout.bias": (v,)}

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `ModelConfig(**value)` restores."""
        return asdict(self)


def number_or_none(word: str) -> float | None:
    """A number that may be left out, from an option's word. Raises ValueError for another word than none.

    >>> number_or_none("0.5"), number_or_none("none")
    (0.5, None)
    """
    return None if word == "none" else float(word)


_LEFT_OUT = N_("The share left out at random in each step, so that the network memorises less.")


@checked
@dataclass(frozen=True)
class TrainConfig:
    """A training recipe: with the text, it decides the result.

    >>> import rnnviz
    >>> rnnviz.TrainConfig(cell="lstm", hidden_size=32, epochs=1).model_config(70).parameter_count
    32134

    cell … tied       the model; see ModelConfig
    train_on          "train": the first 85 %, reporting on the 5 % after it, best checkpoint kept;
                      "train+validation": the first 90 %, settings fixed beforehand, last checkpoint kept
    epochs            passes over the training text
    characters        characters to train on in all, over all streams; 0: as many as `epochs` says
    batch, steps      B rows, and the time steps that gradients flow back through
    truncation        "regular": gradients are cut every `steps` characters; "random": after a number of them
                      drawn uniformly from ceil(steps / 2) … floor(3 steps / 2), anew each time, the learning
                      rate of a step in proportion to its length (Merity et al. 2018)
    learning_rate     AdamW's highest; linear warm-up over the first 2 %, then a cosine down to 1 % of it.
                      "sgd" and "momentum" keep it from the first step to the last
    weight_decay      the optimiser's, on matrices only
    clip              largest gradient norm; above it the gradient is scaled down; None: whatever its norm, it
                      stays as it is
    dropout_*         see rnnviz.lab.engines.dropout.Dropout
    min_count         characters rarer than this in the training text are read as <unk>; 0: 2 for a text of
                      10,000 characters or more, 1 for a shorter one, of which none is dropped
    evaluate_every    steps between reports; 0: once an epoch
    precision         "auto": bfloat16 autocast on CUDA, float32 on a processor, which has no other
    fresh_rows        the share of the B rows that are fresh starts: at every step they begin at a random
                      paragraph (without paragraphs, at a random line), after the start symbol and with a zero
                      state, as typed text does. Above 0, at least one row; never all: the others are streams
    normaliser        the text's normalisation before it is read, of rnnviz.text.characters.NORMALISERS; the
                      model keeps it
    optimiser         "adamw", "sgd" (plain gradient descent), or "momentum": SGD with a momentum of 0.9
    partition         "sequential": rows go on where the step before ended, with its state; "random": each
                      step reads pieces of `steps` characters from all over the text, none twice in an epoch,
                      each with a zero state
    initialisation    "torch": as torch's layers begin; "normal": matrices from a normal distribution around
                      0, biases 0; "identity": the same, but W_hh is the identity, for an rnn, whose ReLU then
                      passes a state on as it is (Le, Jaitly & Hinton 2015)
    sigma             standard deviation of "normal" and "identity"
    """

    cell: Cell = field(
        default="gru",
        metadata=setting(
            "the network's cell",
            control=SettingControl(
                N_("Cell"),
                N_("How a hidden state follows from the one before it and the next character."),
                NETWORK,
                1,
                {name: kind.summary or kind.label for name, kind in CELLS.items()},
            ),
        ),
    )
    hidden_size: int = field(
        default=256,
        metadata=setting(
            "H, units per layer",
            control=SettingControl(
                N_("Hidden units H"),
                N_("How many numbers the hidden state of a layer has."),
                NETWORK,
                3,
                numbers=(1, 4096),
            ),
        ),
    )
    layers: int = field(
        default=1,
        metadata=setting(
            "L, layers",
            control=SettingControl(
                N_("Layers L"),
                N_("Each layer reads the hidden states of the one below."),
                NETWORK,
                4,
                numbers=(1, 8),
            ),
        ),
    )
    embedding_size: int = field(
        default=128,
        metadata=setting(
            "width of X_t; 0 for one-hot",
            control=SettingControl(
                N_("Embedding size"),
                N_("How many learnt numbers represent a character. 0: one 1 among zeros (a one-hot vector)."),
                NETWORK,
                5,
                numbers=(0, 1024),
            ),
        ),
    )
    activation: Activation = field(
        default="tanh",
        metadata=setting(
            "tanh or relu, for mlp and rnn",
            applies=lambda recipe: not CELLS[recipe.cell].gates,
            affects_speed=False,
            control=SettingControl(
                N_("Activation φ"),
                N_(
                    "tanh keeps each unit between −1 and 1, ReLU at 0 or above. Cells with gates have their "
                    "own."
                ),
                NETWORK,
                2,
                {"tanh": "tanh", "relu": "relu"},
            ),
        ),
    )
    tied: bool = field(default=False, metadata=setting("W_hq is the embedding's transpose"))
    train_on: TrainOn = field(
        default="train",
        metadata=setting(
            "train (85 %, best on the next 5 %) or train+validation (90 %)",
            choices=get_args(TrainOn),
            affects_speed=False,
        ),
    )
    epochs: float = field(
        default=20.0,
        metadata=setting("passes over the training text", limits=(1e-6, 1e6), affects_speed=False),
    )
    batch: int = field(
        default=32,
        metadata=setting(
            "batch size: stretches of text read side by side",
            limits=(1, 65_536),
            control=SettingControl(
                N_("Batch size"),
                N_("How many passages of the text are read side by side."),
                BATCHES,
                2,
                numbers=(1, 1024),
            ),
        ),
    )
    steps: int = field(
        default=64,
        metadata=setting(
            "time steps that gradients flow back through",
            limits=(1, 65_536),
            control=SettingControl(
                N_("Time steps of backpropagation"),
                N_("Backpropagation through time goes back this many characters. More take longer."),
                BATCHES,
                3,
                numbers=(1, 2048),
            ),
        ),
    )
    learning_rate: float = field(
        default=3e-3,
        metadata=setting(
            "adamw's highest; sgd and momentum keep it throughout",
            limits=(1e-8, 100.0),
            affects_speed=False,
            control=SettingControl(
                N_("Learning rate"),
                N_(
                    "Too high, and training diverges; too low, and it takes long. With AdamW it rises to "
                    "this over the first 2 %, then falls; the other optimisers keep it constant."
                ),
                OPTIMISATION,
                2,
                numbers=(1e-5, 100.0),
                step=0.001,
                digits=5,
            ),
        ),
    )
    weight_decay: float = field(
        default=0.01,
        metadata=setting(
            "by how much the optimiser draws matrices towards 0",
            limits=(0.0, 10.0),
            affects_speed=False,
            control=SettingControl(
                N_("Weight decay"),
                N_("Each step also shrinks the matrices, by this number times the learning rate."),
                REGULARISATION,
                5,
                numbers=(0.0, 1.0),
                step=0.01,
                digits=4,
            ),
        ),
    )
    clip: float | None = field(
        default=1.0,
        metadata=setting(
            "largest gradient norm; none: gradients stay as they are",
            limits=(1e-6, 1e6),
            affects_speed=False,
            parse=number_or_none,
            off=0.0,
            control=SettingControl(
                N_("Gradient clipping"),
                N_(
                    "A gradient with a larger norm is scaled down to this one. 0: no clipping, so it may "
                    "explode."
                ),
                OPTIMISATION,
                3,
                numbers=(0.0, 100.0),
                step=0.25,
                digits=2,
            ),
        ),
    )
    dropout_embedding: float = field(
        default=0.0,
        metadata=setting(
            "probability of dropping a character's embedding",
            limits=SHARE,
            affects_speed=False,
            control=SettingControl(N_("Dropout of characters"), _LEFT_OUT, REGULARISATION, 4),
        ),
    )
    dropout_weight: float = field(
        default=0.0,
        metadata=setting(
            "probability of dropping an entry of W_hh",
            limits=SHARE,
            applies=lambda recipe: CELLS[recipe.cell].mixes,
            control=SettingControl(N_("Dropout of the recurrent weights"), _LEFT_OUT, REGULARISATION, 3),
        ),
    )
    dropout_output: float = field(
        default=0.0,
        metadata=setting(
            "probability of dropping an entry of H_t before the readout",
            limits=SHARE,
            affects_speed=False,
            control=SettingControl(N_("Dropout of the hidden state"), _LEFT_OUT, REGULARISATION, 1),
        ),
    )
    min_count: int = field(
        default=0,
        metadata=setting(
            "rarer characters are read as <unk>; 0: those that occur once in a long text",
            limits=(0, 10**9),
            affects_speed=False,
        ),
    )
    evaluate_every: int = field(
        default=0,
        metadata=setting("steps between reports; 0: once an epoch", limits=(0, 10**9), affects_speed=False),
    )
    seed: int = field(
        default=0,
        metadata=setting(
            "where randomness starts",
            limits=(0, 2**63 - 1),
            affects_speed=False,
            control=SettingControl(
                N_("Seed"),
                N_(
                    "Where random numbers begin. With the same settings, on the same machine, it gives the "
                    "same run."
                ),
                LENGTH,
                4,
                numbers=(0, 2**31),
            ),
        ),
    )
    precision: Precision = field(
        default="auto",
        metadata=setting(
            "float32, bfloat16 (CUDA only), or auto: bfloat16 on CUDA, else float32",
            choices=get_args(Precision),
        ),
    )
    truncation: Truncation = field(
        default="regular",
        metadata=setting(
            "regular, or random: cut after half to one and a half times --steps",
            choices=get_args(Truncation),
            applies=lambda recipe: recipe.partition == "sequential",
            affects_speed=False,
            control=SettingControl(
                N_("Truncation"),
                N_(
                    "Random: truncated after half to one and a half times the time steps above, drawn anew "
                    "each time. Unlike in Learn, no weights make up for what is cut off."
                ),
                BATCHES,
                4,
                {"regular": N_("regular"), "random": N_("random")},
            ),
        ),
    )
    characters: int = field(
        default=0,
        metadata=setting(
            "characters to train on in all; 0: as --epochs says",
            limits=(0, 10**13),
            affects_speed=False,
            control=SettingControl(
                N_("Characters"),
                N_("A text that is read twice counts twice."),
                LENGTH,
                3,
                numbers=(1, 10**12),
            ),
        ),
    )
    dropout_layer: float = field(
        default=0.0,
        metadata=setting(
            "probability of dropping an entry of H_t before the next layer",
            limits=SHARE,
            applies=lambda recipe: recipe.layers > 1,
            control=SettingControl(N_("Dropout between layers"), _LEFT_OUT, REGULARISATION, 2),
        ),
    )
    fresh_rows: float = field(
        default=0.0,
        metadata=setting(
            "share of the batch that begins at a random paragraph at every step",
            limits=SHARE,
            applies=lambda recipe: recipe.partition == "sequential",
            affects_speed=False,
            control=SettingControl(
                N_("Fresh starts"),
                N_(
                    "The share of the passages that, at each step, begin at a random paragraph, with an "
                    "empty state. What you type begins like that too, so the network predicts it better."
                ),
                BATCHES,
                5,
            ),
        ),
    )
    normaliser: str = field(
        default="newlines",
        metadata=setting(
            "newlines, typography (“ ” – read as straight ones) or corner-brackets (「」 as “ ”)",
            affects_speed=False,
        ),
    )
    optimiser: Optimiser = field(
        default="adamw",
        metadata=setting(
            "adamw, sgd, or momentum: sgd with a momentum of 0.9",
            choices=get_args(Optimiser),
            control=SettingControl(
                N_("Optimiser"),
                N_(
                    "SGD steps down the gradient, times the learning rate. Momentum adds nine tenths of the "
                    "step before. AdamW scales each weight's step."
                ),
                OPTIMISATION,
                1,
                {"adamw": "AdamW", "sgd": "SGD", "momentum": N_("momentum")},
            ),
        ),
    )
    partition: Partition = field(
        default="sequential",
        metadata=setting(
            "sequential: streams that carry their state on; or random: pieces from all over the text, each "
            "with a zero state",
            choices=get_args(Partition),
            affects_speed=False,
            control=SettingControl(
                N_("Partition"),
                N_(
                    "Sequential: each passage goes on where the step before ended, with its state but not "
                    "its gradient. Random: passages from all over the text, each from an empty state."
                ),
                BATCHES,
                1,
                {"sequential": N_("sequential"), "random": N_("random")},
            ),
        ),
    )
    initialisation: Initialisation = field(
        default="torch",
        metadata=setting(
            "torch (as its layers begin), normal (of --sigma, biases 0), or identity: normal with the "
            "identity as W_hh, for rnn",
            choices=get_args(Initialisation),
            affects_speed=False,
            control=SettingControl(
                N_("Initialisation"),
                N_(
                    "Where the weights begin. Normal: drawn around 0, biases at 0. Identity: the same, but "
                    "W_hh passes the state on as it is; made for an RNN with ReLU."
                ),
                NETWORK,
                6,
                {"torch": N_("torch's"), "normal": N_("normal"), "identity": N_("identity")},
            ),
        ),
    )
    sigma: float = field(
        default=0.01,
        metadata=setting(
            "standard deviation of a normal initialisation",
            limits=(0.0, 10.0),
            affects_speed=False,
            applies=lambda recipe: recipe.initialisation != "torch",
            control=SettingControl(
                N_("σ of the initial weights"),
                N_("The standard deviation of the normal distribution that weights are drawn from."),
                NETWORK,
                7,
                numbers=(0.0, 1.0),
                step=0.01,
                digits=4,
            ),
        ),
    )

    def __post_init__(self) -> None:
        check_settings(self)
        Normaliser(self.normaliser)  # refuses an unknown one
        self.model_config(2)
        if self.initialisation == "identity" and self.cell != "rnn":
            raise ConfigError(
                "initialisation 'identity' is for cell 'rnn', whose W_hh is one square; received {cell!r}",
                cell=self.cell,
            )
        if self.partition == "random" and (self.truncation == "random" or self.fresh_rows):
            raise ConfigError(
                "with partition 'random' every piece has {steps} characters and a zero state; set truncation "
                "to 'regular' and fresh_rows to 0",
                steps=self.steps,
            )
        if self.dropout_weight and not CELLS[self.cell].mixes:
            raise ConfigError(
                "dropout_weight drops entries of W_hh, and cell {cell!r} has none; set it to 0",
                cell=self.cell,
            )
        if self.dropout_layer and self.layers == 1:
            raise ConfigError(
                "dropout_layer drops what goes from one layer to the next, and there is one layer; "
                "set it to 0"
            )

    @property
    def is_small(self) -> bool:
        """Whether a step is over before a second thread has woken up: then only one thread is tried."""
        return self.batch * self.hidden_size < 1024

    def model_config(self, vocabulary_size: int) -> ModelConfig:
        """The model this recipe trains, for V symbols."""
        return ModelConfig(
            self.cell,
            vocabulary_size,
            self.hidden_size,
            self.layers,
            self.embedding_size,
            self.activation,
            self.tied,
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `TrainConfig(**value)` restores."""
        return asdict(self)
