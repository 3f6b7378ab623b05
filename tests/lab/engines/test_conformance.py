"""The conformance table: every cell, by every engine, gives what the textbook's loop gives in float64.

A cell is in it by being registered in CELLS; its formula is written once more, and otherwise, in
`tests.support.textbook`. A row of ENGINES says what an engine gives of a batch of texts. A case is read in
two pieces, so that the second resumes from the state after the first; one text alone and B side by side
equal the same loop. In half of the cases the numpy engine cuts its blocks, tables and products as a large
network's are.

Shape letters: B texts, T steps, L layers, H units, X inputs, V symbols.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import rnnviz
from rnnviz import ModelConfig
from rnnviz.arrays import Floats
from rnnviz.gradients import connectivity, jacobian
from rnnviz.lab.engines import compiled, torch_engine
from rnnviz.lab.engines.torch_model import CharModel, TorchEngine
from rnnviz.networks import numpy_engine
from rnnviz.networks.batched_scoring import CharScorer, NumpyEngine
from rnnviz.networks.cells import CELLS, CellKind
from rnnviz.networks.numpy_engine import Changes, NetworkReader, Weights, weights_from
from rnnviz.text.vocabulary import Vocabulary
from tests.support import textbook

LETTERS = "abcdefghijklm"
TOLERANCE = {"float32": 2e-5, "float64": 1e-12}
"""The largest difference, as a share of the largest number beside it, or of 1."""


@dataclass(frozen=True)
class Shape:
    """What hypothesis draws of a case. `cut` is where the second piece begins, as a share of T."""

    T: int
    B: int
    L: int
    H: int
    V: int
    X: int | None  # None: tied to the readout; 0: one-hot inputs
    relu: bool
    fresh: bool
    small: bool
    cut: float
    seed: int


SHAPES = st.builds(
    Shape,
    T=st.sampled_from([*range(1, 15), 70]),
    B=st.sampled_from([1, 3, 5, 9]),
    L=st.integers(1, 3),
    H=st.sampled_from([*range(1, 10), 16, 33]),
    V=st.integers(2, len(LETTERS) + 1),
    X=st.sampled_from([0, None, 1, 4, 7]),
    relu=st.booleans(),
    fresh=st.booleans(),
    small=st.booleans(),
    cut=st.floats(0, 1),
    seed=st.integers(0, 2**31),
)


@dataclass(frozen=True, eq=False)
class Case:
    """A network, texts and the state before them: float64, each number one that float32 has too.

    `change` is of a layer's "hidden" or "cell" after an input: halved, and raised by 1/4.
    """

    shape: Shape
    config: ModelConfig
    tensors: dict[str, Tensor]
    ids: Tensor  # (B, T)
    state: list[Tensor]  # (L, B, H) each
    change: tuple[int, str, int] | None = None
    weights: dict[str, Weights] = field(default_factory=dict)  # once for all pieces

    def changed(self, t: int, layer: int, name: str, value: Tensor) -> Tensor:
        return value / 2 + 0.25 if (layer, name, t) == self.change else value

    def changes(self) -> Changes:
        """The same for the numpy engine, which has changes made in place."""
        if self.change is None:
            return {}
        layer, name, at = self.change

        def change(t: int, states: Floats) -> None:
            if t == at:
                states *= 0.5
                states += 0.25

        return {(layer, name): change}


def case_of(cell: str, shape: Shape, change: tuple[int, str, int] | None = None) -> Case:
    kind, generator = CELLS[cell], torch.Generator().manual_seed(shape.seed)

    def numbers(*size: int) -> Tensor:
        return torch.randn(size, generator=generator).double()

    tied, relu = shape.X is None, shape.relu and not kind.gates
    X = shape.H if shape.X is None else shape.X
    config = ModelConfig(cell, shape.V, shape.H, shape.L, X, "relu" if relu else "tanh", tied)  # type: ignore[arg-type]
    # So large that gates open and close, and no larger: a chaotic network would double each rounding.
    tensors = {name: numbers(*size) * 0.8 / size[-1] ** 0.5 for name, size in config.shapes().items()}
    tensors = {name: tensor.float().double() for name, tensor in tensors.items()}
    ids = torch.randint(shape.V + 1, (shape.B, shape.T), generator=generator)
    state = [numbers(shape.L, shape.B, shape.H) * (not shape.fresh) for _ in range(1 + kind.has_cell)]
    return Case(shape, config, tensors, ids, state, change)


def expected(case: Case) -> textbook.Read:
    x = textbook.embedded(case.config, case.tensors, case.ids)
    return textbook.read(case.config, case.tensors, x, case.state, case.changed)


STATES = ("hidden", "cell")

EngineArrays = tuple[dict[str, Any], Sequence[Any]]
"""What an engine gives of inputs (B, n) read from a state: arrays by name, time first; the state after."""


def numpy_texts(dtype: str, case: Case, ids: Tensor, state: Sequence[Tensor], time: int) -> EngineArrays:
    """One text after another."""
    weights, by_text = numpy_weights(case, dtype), []
    for b, text in enumerate(ids.numpy()):
        first = [part[:, b].numpy() for part in state]
        reader = NetworkReader(weights, (first[0], first[-1]), time=time, changes=case.changes())
        hidden, cell = reader.states(text)
        logs = {"logits": weights.logits(hidden[1:, -1]), "log_probs": weights.log_probs(hidden[1:, -1])}
        by_text.append(logs | weights.gates(text, hidden) | stepped(hidden, cell))
    arrays = {name: np.stack([text_arrays[name] for text_arrays in by_text], axis=-2) for name in by_text[0]}
    return arrays, last(arrays)


def numpy_abreast(dtype: str, case: Case, ids: Tensor, state: Sequence[Tensor], time: int) -> EngineArrays:
    """All texts side by side, by a reader that goes on after the first input."""
    weights, first = numpy_weights(case, dtype), [part.numpy() for part in state]
    changes = case.changes()
    reader = NetworkReader(weights, (first[0], first[-1]), texts=len(ids), time=time, changes=changes)
    pieces = [stepped(*reader.states(piece)) for piece in np.split(ids.numpy().T, [1])]
    arrays = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
    return arrays | {"logits": rows(weights.logits, arrays["hidden"][:, -1])}, last(arrays)


def numpy_weights(case: Case, dtype: str) -> Weights:
    if dtype not in case.weights:
        tensors = {name: tensor.numpy() for name, tensor in case.tensors.items()}
        case.weights[dtype] = weights_from(case.config, tensors, dtype)
    return case.weights[dtype]


def stepped(hidden: Floats, cell: Floats | None) -> dict[str, Any]:
    return {"hidden": hidden[1:]} | ({} if cell is None else {"cell": cell[1:]})


def last(arrays: dict[str, Any]) -> list[Tensor]:
    return [torch.as_tensor(arrays[name][-1]) for name in STATES if name in arrays]


def rows(logits: Callable[[Floats], Floats], top: Floats) -> Floats:
    """Logits (n, B, V) of states (n, B, H)."""
    return logits(top.reshape(-1, top.shape[-1])).reshape(*top.shape[:-1], -1)


def char_model(
    by: str, dtype: str, case: Case, ids: Tensor, state: Sequence[Tensor], time: int
) -> EngineArrays:
    """CharModel, with torch's layers or one of the engines that train it."""
    model = CharModel(case.config, vocabulary(case))
    model.engine = by  # type: ignore[assignment]
    assert model.backward_pass() == by, "another engine takes over"
    logits, state = torch.func.functional_call(model, typed(case.tensors, dtype), (ids, cast(state, dtype)))
    return {"logits": logits.transpose(0, 1)}, state


def on_threads(run: Callable[..., EngineArrays], dtype: str, case: Case, *how: Any) -> EngineArrays:
    """The same on several threads, with fewer rows than these or more; the way back then takes another number
    of threads: whoever trains may set it between the two.
    """
    forward, back = case.shape.seed % 5, case.shape.seed // 5 % 5
    torch.set_num_threads(1 + forward)
    result = run(dtype, case, *how)
    torch.set_num_threads(1 + back)
    return result


def on_gpu(run: Callable[..., EngineArrays], dtype: str, case: Case, ids: Tensor, *at: Any) -> EngineArrays:
    """The same with all that it is given on a GPU; gradients flow back to the processor."""
    state, time = at
    tensors = {name: tensor.cuda() for name, tensor in case.tensors.items()}
    moved = replace(case, ids=case.ids.cuda(), tensors=tensors)
    arrays, after = run(dtype, moved, ids.cuda(), [part.cuda() for part in state], time)
    return {name: values.cpu() for name, values in arrays.items()}, [part.cpu() for part in after]


def vocabulary(case: Case) -> Vocabulary:
    return Vocabulary(tuple(LETTERS[: case.shape.V - 1]))


def typed(tensors: dict[str, Tensor], dtype: str) -> dict[str, Tensor]:
    return dict(zip(tensors, cast(tensors.values(), dtype), strict=True))


def cast(tensors: Iterable[Tensor], dtype: str) -> tuple[Tensor, ...]:
    return tuple(tensor.to(getattr(torch, dtype)) for tensor in tensors)


def stepwise(dtype: str, case: Case, ids: Tensor, state: Sequence[Tensor], time: int) -> EngineArrays:
    """A record unrolled: layer by layer, in each step."""
    config, tensors = case.config, typed(case.tensors, dtype)
    layers = [
        torch_engine.TorchLayer(
            config.cell, [tensors[name] for name in config.layer_names(n)], config.activation
        )
        for n in range(config.layers)
    ]
    states = [cast((part[n] for part in state), dtype) for n in range(config.layers)]
    steps: list[list[textbook.Parts]] = []
    for below in textbook.embedded(config, tensors, ids).unbind(1):
        steps.append([])
        for n, layer in enumerate(layers):
            parts = layer.step(layer.from_inputs(below), *states[n])
            below, states[n] = parts["h"], tuple(parts[name] for name in "hc" if name in parts)
            steps[-1].append({"hidden": below} | ({"cell": parts["c"]} if "c" in parts else {}) | parts)
    names = CELLS[config.cell].quantities
    arrays = {name: torch.stack([torch.stack([p[name] for p in step]) for step in steps]) for name in names}
    logits = textbook.read_out(config, tensors, arrays["hidden"][:, -1])
    return {"logits": logits, **arrays}, [torch.stack(parts) for parts in zip(*states, strict=True)]


def adapted(dtype: str, case: Case, ids: Tensor, state: Sequence[Tensor], time: int) -> EngineArrays:
    """A step function of one's own that repeats the cell; H and C of each layer are parts of its state."""
    config, V, names = case.config, case.shape.V, STATES[: len(state)]
    parts = [f"{name}{n}" for name in names for n in range(config.layers)]

    def step(read: Tensor, states: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        before = torch.stack([states[part] for part in parts]).double().chunk(len(names))
        x = textbook.embedded(config, case.tensors, read[:, None])
        arrays = textbook.read(config, case.tensors, x, before)
        after = torch.cat([arrays.part(name)[0] for name in names]).float()
        return after[config.layers - 1], dict(zip(parts, after, strict=True))

    def readout(h: Tensor) -> Tensor:
        """Of the start symbol too."""
        return torch.nn.functional.pad(textbook.read_out(config, case.tensors, h.double()), (0, 1))

    custom = rnnviz.adapt_step(
        step,
        readout=readout,
        state={part: torch.zeros(case.shape.H) for part in parts},
        characters=["<unk>", *LETTERS[: V - 1], "<start>"],
        unknown=0,
        start=V,
    )
    order = [custom.parts.index(part) for part in parts]
    hidden, _ = custom.weights.states(ids.shape[1] + 1, len(ids))
    hidden[0, order] = torch.cat(list(state)).numpy()
    custom.weights.run(ids.numpy().T, hidden, None)
    arrays = dict(zip(names, np.split(hidden[1:, order], len(names), axis=1), strict=True))
    return arrays | {"logits": rows(custom.weights.logits, arrays["hidden"][:, -1])}, last(arrays)


def scorer(by: str, dtype: str, case: Case, ids: Tensor, state: Sequence[Tensor], time: int) -> EngineArrays:
    """What a scorer expects before each symbol: it reads the one before it then."""
    model = CharModel(case.config, vocabulary(case))
    model.load_state_dict(case.tensors)
    engine = NumpyEngine(numpy_weights(case, dtype)) if by == "numpy" else TorchEngine(model)
    log_probs, after = [], []
    for b, text in enumerate(ids.numpy()):
        reader = CharScorer(engine, case.shape.V, wide=False)
        reader.resume_from(int(text[0]), tuple(part[:, b : b + 1].numpy().astype(dtype) for part in state))
        log_probs.append(reader.advance_predictions(np.append(text[1:], 0)).astype(dtype))
        after.append(reader.state)
    last = [torch.as_tensor(np.concatenate(parts, axis=1)) for parts in zip(*after, strict=True)]
    return {"log_probs": np.stack(log_probs, axis=1)}, last


@dataclass(frozen=True)
class Engine:
    """A row of the table.

    gives    what it gives beside the last state, "gates" for all of them
    changes  states can be changed on the way
    reads    without gradients
    learns   with gradients
    lacks    the cells that it leaves to another
    coarse   how many times TOLERANCE it may be off
    """

    run: Callable[..., EngineArrays]
    dtype: str = "float32"
    gives: tuple[str, ...] = ("logits",)
    changes: bool = False
    reads: bool = True
    learns: bool = False
    lacks: tuple[str, ...] = ()
    coarse: int = 1

    def names(self, cell: str) -> set[str]:
        """What it gives of a cell."""
        kind = CELLS[cell]
        arrays = {"logits", "hidden", "log_probs"} | ({"cell"} if kind.has_cell else set())
        return (arrays & set(self.gives)) | (set(kind.gates) if "gates" in self.gives else set())


TEXTS = Engine(numpy_texts, gives=("logits", *STATES, "gates", "log_probs"), changes=True)
ABREAST = Engine(numpy_abreast, gives=("logits", *STATES), changes=True)
LAYERS = Engine(partial(char_model, "torch"), learns=True)
STEPWISE = Engine(stepwise, gives=("logits", *STATES, "gates"), learns=True)
ENGINES = {
    "numpy": TEXTS,
    "numpy float64": replace(TEXTS, dtype="float64"),
    "abreast": ABREAST,
    "abreast float64": replace(ABREAST, dtype="float64"),
    "torch": LAYERS,
    "torch float64": replace(LAYERS, dtype="float64"),
    "stepwise": STEPWISE,
    "stepwise float64": replace(STEPWISE, dtype="float64"),
    "numba": Engine(
        partial(on_threads, partial(char_model, "numba")), reads=False, learns=True, lacks=("mlp",)
    ),
    "adapt_step": Engine(adapted, gives=("logits", *STATES)),
    "scorer": Engine(partial(scorer, "numpy"), gives=("log_probs",)),
    "scorer float64": Engine(partial(scorer, "numpy"), dtype="float64", gives=("log_probs",)),
    "scorer, torch": Engine(partial(scorer, "torch"), gives=("log_probs",)),
}
if torch.cuda.is_available():
    for name in ("torch", "torch float64", "stepwise"):
        ENGINES[f"{name}, GPU"] = replace(ENGINES[name], run=partial(on_gpu, ENGINES[name].run))
    # cuDNN rounds tanh more coarsely: 1e-4 where two layers amplify it (H100), 5e-6 without cuDNN.
    ENGINES["torch, GPU"] = replace(ENGINES["torch, GPU"], coarse=10)
ROWS = [(cell, name) for name, engine in ENGINES.items() for cell in CELLS if cell not in engine.lacks]
READ = [(cell, name) for cell, name in ROWS if ENGINES[name].reads]
LEARNT = [(cell, name) for cell, name in ROWS if ENGINES[name].learns]
CHANGED = [(cell, name) for cell, name in ROWS if ENGINES[name].changes]


@contextmanager
def limits(case: Case) -> Iterator[None]:
    """Blocks of few steps, products of few rows and no table, as of a large network, or what there is."""
    with pytest.MonkeyPatch.context() as patch:
        if case.shape.small:
            patch.setattr(numpy_engine, "BLOCK_ROWS", 4)
            patch.setattr(numpy_engine, "PRODUCT_ENTRIES", 3 * case.shape.H)
            patch.setattr(numpy_engine, "TABLE_BYTES", 0)
            patch.setattr(numpy_engine, "LOGITS_ENTRIES", 2 * case.shape.V)
        yield


def read(engine: Engine, case: Case) -> tuple[dict[str, Any], Sequence[Any]]:
    """What an engine gives of the whole, and the last state, read in two pieces."""
    state: Sequence[Any] = case.state
    cut, pieces = round(case.shape.cut * case.shape.T), []
    for begin, end in ((0, cut), (cut, case.shape.T)):
        if begin < end:
            arrays, state = engine.run(engine.dtype, case, case.ids[:, begin:end], state, begin)
            pieces.append(arrays)
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}, state


def near(values: Any, expected: Tensor, engine: Engine, name: str = "", scale: float = 1.0) -> None:
    values, expected = torch.as_tensor(values).detach(), expected.detach()
    assert values.shape == expected.shape, name
    assert values.dtype == getattr(torch, engine.dtype), name
    scale = max(scale, float(expected.abs().max()))
    difference = float((values.double() - expected).abs().max())
    assert difference <= engine.coarse * TOLERANCE[engine.dtype] * scale, (
        f"{name} is {difference:.1e} off where numbers go to {scale:.1e}"
    )


def check(engine: Engine, case: Case) -> None:
    with limits(case), torch.no_grad():
        arrays, state = read(engine, case)
    right = expected(case)
    assert arrays.keys() == engine.names(case.config.cell)
    for name, values in arrays.items():
        near(values, right.part(name), engine, name)
    assert len(state) == len(case.state)
    for name, values in zip(STATES, state, strict=False):
        near(values, right.part(name)[-1], engine, f"the last {name}")


@pytest.mark.parametrize(("cell", "name"), READ)
@given(shape=SHAPES)
def test_reading(cell: str, name: str, shape: Shape) -> None:
    check(ENGINES[name], case_of(cell, shape))


@pytest.mark.parametrize(("cell", "name"), CHANGED)
@given(shape=SHAPES, data=st.data())
def test_changed_state_reaches_everything_after_it(
    cell: str, name: str, shape: Shape, data: st.DataObject
) -> None:
    layer, at = data.draw(st.integers(0, shape.L - 1)), data.draw(st.integers(0, shape.T - 1))
    state = data.draw(st.sampled_from(STATES[: 1 + CELLS[cell].has_cell]))
    check(ENGINES[name], case_of(cell, shape, (layer, state, at)))


@pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS")  # the thread of the way back is new to the GPU
@pytest.mark.parametrize(("cell", "name"), LEARNT)
@given(shape=SHAPES)
def test_gradients_of_a_batch(cell: str, name: str, shape: Shape) -> None:
    """Of a loss that rests on logits and last states, by every parameter and by the first state."""
    engine, case = ENGINES[name], case_of(cell, shape)
    if name == "numba" and not compiled.ready():
        pytest.skip("no numba, or a torch without sgemm_")
    leaves = [tensor.requires_grad_() for tensor in (*case.tensors.values(), *case.state)]
    arrays, state = engine.run(engine.dtype, case, case.ids, case.state, 0)
    right = expected(case)
    ends = [right.part(state_name)[-1] for state_name, _ in zip(STATES, case.state, strict=False)]
    gradients = []
    for logits, last in ((arrays["logits"], state), (right.part("logits"), ends)):
        weights = torch.linspace(-1, 1, logits.numel()).view(logits.shape)
        loss = (logits * weights).sum() + sum((k + 2) * part.square().sum() for k, part in enumerate(last))
        gradients.append(torch.autograd.grad(loss, leaves, allow_unused=True, materialize_grads=True))
    near(arrays["logits"], right.part("logits"), engine)
    scale = max(float(gradient.abs().max()) for gradient in gradients[1])
    names = (*case.tensors, *(f"first {state_name}" for state_name in STATES))
    for name, ours, theirs in zip(names, *gradients, strict=False):
        near(ours.to(getattr(torch, engine.dtype)), theirs, engine, name, scale)


@pytest.mark.parametrize("cell", CELLS)
@given(shape=SHAPES)
def test_slopes(cell: str, shape: Shape) -> None:
    """What a text's last prediction owes to every state before it, and to every character."""
    case = case_of(cell, replace(shape, B=1, fresh=True))
    config, ids = case.config, case.ids % shape.V
    model = CharModel(config, vocabulary(case))
    model.load_state_dict(typed(case.tensors, "float32"))
    text = "".join("?" if symbol == 0 else LETTERS[symbol - 1] for symbol in ids[0].tolist())
    read_first = torch.cat([torch.tensor([[model.vocabulary.start]]), ids], dim=1)
    x = textbook.embedded(config, case.tensors, read_first).requires_grad_()
    right = textbook.read(config, case.tensors, x)
    log_p = right.part("log_probs")[-1, 0]
    target = int(log_p.argmax())

    def sizes(*nodes: Tensor) -> np.ndarray:
        gradients = torch.autograd.grad(log_p[target], nodes, retain_graph=True, materialize_grads=True)
        return np.array([float(gradient.norm()) for gradient in gradients])

    slopes, row = jacobian(model, text, of="loss"), connectivity(model, text, at=len(text))
    assert slopes.target == row.target == target
    for quantity, values in (("hidden", slopes.hidden), ("cell", slopes.cell)):
        if values is not None:
            nodes = [parts[quantity] for step in reversed(right.steps) for parts in step]
            np.testing.assert_allclose(values.ravel(), sizes(*nodes), rtol=2e-4, atol=1e-7)
    (by_input,) = torch.autograd.grad(log_p[target], x)
    expected_row = by_input[0].norm(dim=-1)
    np.testing.assert_allclose([row.start, *row.norms], expected_row, rtol=2e-4, atol=1e-7)


@pytest.mark.parametrize(("bias", "state"), [(0.2, 0.2479881), (-0.95, -0.1671550)])
def test_textbook_mingru_equals_pocket_calculator(bias: float, state: float) -> None:
    """The one cell that torch hasn't got."""
    tensors = torch.tensor([[-0.4], [0.9]]), torch.tensor([0.05, bias])
    x, h = torch.tensor([[0.5]]), torch.tensor([[-0.8]])
    parts = textbook.mingru(x, h, h, tensors, torch.tanh, lambda name, value: value)
    assert float(parts["hidden"]) == pytest.approx(state, abs=1e-6)


def test_table_has_every_cell_and_engine() -> None:
    assert set(textbook.STEPS) == set(CELLS), "a cell's formula belongs into tests.support.textbook too"
    for name, engine in ENGINES.items():
        assert engine.reads or engine.learns
        for cell in engine.lacks:  # it can't, or it belongs into the table
            case = case_of(cell, Shape(3, 1, 1, 2, 3, 4, False, True, False, 0, 0))
            with pytest.raises(AssertionError, match="another engine takes over"):
                engine.run(engine.dtype, case, case.ids, case.state, 0)
        assert not any(CELLS[cell].mixes for cell in engine.lacks), name


def trial(xp: Any, x: Any, u: Any, h: Any, c: Any) -> dict[str, Any]:
    """A cell as no textbook has it: four gates in two pairs, and C looks at what H was before."""
    a, b = xp.sigmoid(x[:2] + u[:2])
    d, e = xp.sigmoid(x[2:] + u[2:])
    return {"h": a * c + b * d, "c": d * c - e * h, "a": a, "b": b, "d": d, "e": e}


def by_the_book(x: Tensor, h: Tensor, c: Tensor, tensors: Sequence[Tensor], *_: Any) -> textbook.Parts:
    W_x, W_h, b_x, b_h = tensors
    b, a, e, d = torch.sigmoid(x @ W_x.T + h @ W_h.T + b_x + b_h).chunk(4, dim=-1)
    return {"hidden": a * c + b * d, "cell": d * c - e * h, "a": a, "b": b, "d": d, "e": e}


@pytest.mark.parametrize("name", ["numpy", "abreast", "stepwise", "torch"])
@given(shape=SHAPES)
def test_new_record_runs_on_every_engine(name: str, shape: Shape) -> None:
    kind = CellKind("Trial", trial, ("a", "b", "d", "e"), stored=(1, 0, 3, 2), has_cell=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(CELLS, "trial", kind)
        patch.setitem(textbook.STEPS, "trial", by_the_book)
        check(ENGINES[name], case_of("trial", shape))


class OnMeta(TorchDispatchMode):
    """Refuses to make tensors anywhere else."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        assert all(tensor.is_meta for tensor in tree_leaves(result) if isinstance(tensor, Tensor)), function
        return result


@pytest.mark.parametrize("cell", CELLS)
@settings(max_examples=5)  # torch computes shapes slowly
@given(shape=SHAPES)
def test_batch_stays_on_its_device(cell: str, shape: Shape) -> None:
    """The meta device computes shapes alone; what is made on the processor has no business there."""
    shape = replace(shape, T=min(shape.T, 5))
    case = case_of(cell, shape)
    with torch.device("meta"):
        model = CharModel(case.config, vocabulary(case))
    ids, state = case.ids.to("meta"), [part.float().to("meta") for part in case.state]
    with OnMeta():
        for first in (None, tuple(state)):
            logits, after = model(ids, first)
            logits.sum().backward()
    assert [part.shape for part in after] == [part.shape for part in state]
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name


@pytest.mark.parametrize("cell", CELLS)
@given(shape=SHAPES, counts=st.lists(st.sampled_from([0, 1, 2, 4, 5, 6, 7, 9]), min_size=2, max_size=8))
def test_reused_steps_leave_next_reading_alone(cell: str, shape: Shape, counts: list[int]) -> None:
    """Weights read more texts, then fewer, or one alone (0), changed or not, and by two threads at once."""
    case = case_of(cell, replace(shape, B=9, fresh=True), (0, "hidden", 0))
    plain = replace(case, change=None)
    right = {version: expected(version).part("hidden") for version in (case, plain)}

    def readings(order: list[int]) -> None:
        for n, count in enumerate(order):
            version = case if n % 3 == 1 else plain
            weights = numpy_weights(version, "float32")
            reader = NetworkReader(weights, texts=count or None, changes=version.changes())
            hidden, _ = reader.states(case.ids.numpy().T[:, :count] if count else case.ids[0].numpy())
            texts = right[version][:, :, :count] if count else right[version][:, :, 0]
            near(hidden[1:], texts, TEXTS, f"{count} texts")

    numpy_weights(case, "float32")
    with limits(case), ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(readings, order) for order in (counts, counts[::-1])]:
            done.result()
