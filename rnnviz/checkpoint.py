"""One file per model: safetensors, with configuration, vocabulary and card in its header.

    tensors   the weights (float32 or float16), or an n-gram model's counts; the hashes of a Sketch
    "rnnviz"  in the header's metadata, JSON: format, kind, config, vocabulary, normaliser, card, overlap

Loading never unpickles: a safetensors file is numbers and JSON, so a file from
a stranger can be wrong but can't run anything. What is wrong is said in words.
Writing goes to a file beside the target which then takes its place, so a kill
at any moment leaves the old file or the new one.

This module does not know how models are trained, scored or drawn.
"""

from __future__ import annotations

import json
import os
import re
import struct
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rnnviz.errors import CheckpointError, ConfigError, ModelNotFoundError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import TypeIs

    from rnnviz.config import ModelConfig
    from rnnviz.model import CharModel
    from rnnviz.ngram import NgramModel
    from rnnviz.prepared import NumpyModel

M = TypeVar("M")

FORMAT = 1
SUFFIX = ".safetensors"
SNAPSHOTS = f".snapshots{SUFFIX}"  # of a model's training (rnnviz.replay), beside it and no model
MAX_HEADER = 16 * 2**20
MAX_FILE = 2 * 2**30
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
DTYPES = {"F32": 4, "F16": 2}
SKETCH = "overlap.hashes"
MAX_SKETCH = 1 << 20  # bytes


@dataclass(frozen=True)
class ModelInfo:
    """What a model file says of itself, read without its weights.

    `kind` is "mlp", "rnn", "gru", "lstm" or "ngram"; `bytes` is the file's
    size; `vocabulary_size` is V.
    """

    name: str
    path: Path
    kind: str
    card: dict[str, Any]
    bytes: int
    vocabulary_size: int


@dataclass(frozen=True)
class Damaged:
    """A file in a models folder that can't be loaded, and why."""

    path: Path
    reason: str


@dataclass(frozen=True, eq=False)
class Sketch:
    """Numbers that stand for the text a model was trained on; `rnnviz.overlap` makes and reads them.

    `hashes` (n,) uint32, increasing; `modulus` says how few of all there were have been kept.
    """

    hashes: npt.NDArray[np.uint32]
    modulus: int


def folders() -> list[Path]:
    """Where models are looked for, in order: those of RNNVIZ_MODELS (as in PATH), then the shipped ones."""
    own = [Path(p).expanduser() for p in os.environ.get("RNNVIZ_MODELS", "").split(os.pathsep) if p]
    package = Path(__file__).resolve().parent
    shipped = package / "models"  # in a wheel; in a source tree models/ stands beside the package
    return [*own, shipped if shipped.is_dir() else package.parent / "models"]


def check_name(name: str) -> str:
    """`name` if a model may be called so. Raises CheckpointError: a name has no folder in it."""
    if not NAME.fullmatch(name) or ".." in name:
        raise CheckpointError(
            f"a model's name has letters, digits, '.', '_' and '-' and no folder; received {name[:100]!r}. "
            f"To load a file, give its path, ending in {SUFFIX}"
        )
    return name


def find(name_or_path: str | Path) -> Path:
    """The file of a model's name, or the path itself.

    Raises ModelNotFoundError naming what there is, CheckpointError for a name with a path in it.
    """
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or text.endswith(SUFFIX):
        path = Path(name_or_path).expanduser()
        if not path.is_file():
            raise ModelNotFoundError(
                f"no model file at {path}; check the path, or use a name that `rnnviz models` lists"
            )
        return path
    check_name(text)
    for folder in folders():
        if (folder / f"{text}{SUFFIX}").is_file():
            return folder / f"{text}{SUFFIX}"
    names = (
        ", ".join(sorted({p.stem for f in folders() if f.is_dir() for p in f.glob(f"*{SUFFIX}")})) or "none"
    )
    raise ModelNotFoundError(
        f"no model is called {text!r}; there are: {names}. A file's path, ending in {SUFFIX}, works too"
    )


def _header(path: Path) -> tuple[dict[str, Any], dict[str, Any], int]:
    """The tensors' descriptions, the "rnnviz" metadata and the file's size, checked for plausibility."""

    def bad(what: str) -> CheckpointError:
        return CheckpointError(f"{path.name} is not a usable rnnviz model: {what}")

    try:
        size = path.stat().st_size
        if size > MAX_FILE:
            raise bad(f"it has {size:,} bytes, and the limit is {MAX_FILE:,}")
        with path.open("rb") as file:
            start = file.read(8)
            if len(start) < 8:
                raise bad(f"it is cut off after {size} bytes; copy or download it again")
            (length,) = struct.unpack("<Q", start)
            if length > MAX_HEADER:
                raise bad("it doesn't begin like a safetensors file")
            if 8 + length > size:
                raise bad("it is cut off inside its header; copy or download it again")
            raw = json.loads(file.read(length))
    except OSError as error:
        raise CheckpointError(f"{path} can't be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise bad("its header is not JSON, so it is no safetensors file") from None
    if not isinstance(raw, dict):
        raise bad("its header is no safetensors header")
    metadata = raw.pop("__metadata__", None)
    if not isinstance(metadata, dict) or not isinstance(metadata.get("rnnviz"), str):
        raise bad(
            "it is a safetensors file, but not one written by rnnviz (its header has no 'rnnviz' entry)"
        )
    try:
        meta = json.loads(metadata["rnnviz"])
        version = meta["format"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise bad("its description is damaged; copy or download it again") from None
    if type(version) is not int or version < 1:
        raise bad(f"its format is {version!r}, which no version of rnnviz writes")
    if version > FORMAT:
        raise bad(f"it has format {version} and this version reads up to {FORMAT}; update rnnviz")
    card = meta.get("card")
    if (
        not isinstance(meta.get("config"), dict)
        or not isinstance(card, dict)
        or not isinstance(card.get("name", ""), str)
    ):
        raise bad("its description is incomplete")
    if card.get("name"):
        check_name(card["name"])
    end = 0
    for entry in raw.values():
        offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
        if not (isinstance(offsets, list) and len(offsets) == 2 and all(type(o) is int for o in offsets)):
            raise bad("its header describes no tensors")
        end = max(end, offsets[1])
    if 8 + length + end != size:
        raise bad(
            f"its header promises {8 + length + end:,} bytes and it has {size:,}; copy or download it again"
        )
    return raw, meta, size


def read_info(path: Path) -> ModelInfo:
    """What the file says of itself, weights unread. Raises CheckpointError."""
    _, meta, size = _header(path)
    kind = "ngram" if meta.get("kind") == "ngram" else str(meta["config"].get("cell"))
    vocabulary = meta.get("vocabulary")
    v = len(vocabulary) + 1 if isinstance(vocabulary, list) else 0
    return ModelInfo(str(meta["card"].get("name") or path.stem), path, kind, meta["card"], size, v)


def available() -> tuple[list[ModelInfo], list[Damaged]]:
    """Every model in the models folders, by name, and the files among them that can't be loaded."""
    found: dict[str, ModelInfo] = {}
    damaged: list[Damaged] = []
    for folder in folders():
        for path in sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else []:
            if path.name.endswith(SNAPSHOTS):
                continue
            try:
                info = read_info(path)
            except CheckpointError as error:
                damaged.append(Damaged(path, str(error)))
            else:
                found.setdefault(path.stem, info)
    return [found[name] for name in sorted(found)], damaged


def save(
    model: CharModel | NgramModel, path: str | Path, *, half: bool = False, sketch: Sketch | None = None
) -> Path:
    """Write `model` to `path`, all of it or nothing; `half` stores weights as float16.

    `sketch` is that of the text it was trained on, see `rnnviz.overlap`. Returns the path.
    Raises CheckpointError if the name or the folder can't be used.
    """
    from safetensors.numpy import save as to_bytes

    path = Path(path).expanduser()
    if path.suffix != SUFFIX:
        raise CheckpointError(f"a model file ends in {SUFFIX}; received {path.name!r}")
    check_name(path.stem)
    tensors: dict[str, npt.NDArray[Any]]
    meta: dict[str, Any] = {
        "format": FORMAT,
        "vocabulary": model.vocabulary.to_json(),
        "normaliser": model.normaliser,
        "card": {**model.card, "name": path.stem},
    }
    if is_neural(model):
        weights = {k: w.detach().float().cpu().numpy() for k, w in model.state_dict().items()}
        tensors = {k: w.astype("float16") if half else w for k, w in weights.items()}
        meta |= {"kind": "neural", "config": model.config.to_json()}
    else:
        tensors = dict(model.to_tensors())
        meta |= {"kind": "ngram", "config": {"order": model.order}}
    if sketch is not None:
        tensors[SKETCH], meta["overlap"] = sketch.hashes, {"modulus": sketch.modulus}
    write_atomic(path, to_bytes(tensors, metadata={"rnnviz": json.dumps(meta, ensure_ascii=True)}))
    return path


def copy(source: Path, target: Path) -> Path:
    """Copy a model file under another name, all else in it as it is, bit by bit. Raises CheckpointError."""
    from safetensors.numpy import save as to_bytes

    _, meta, _ = _header(source)
    meta["card"] = {**meta["card"], "name": check_name(target.stem)}
    metadata = {"rnnviz": json.dumps(meta, ensure_ascii=True)}
    write_atomic(target, to_bytes(_tensors(source), metadata=metadata))
    return target


def add_sketch(path: Path, sketch: Sketch) -> None:
    """Put `sketch` into a model file, in place of one it had; all else in it stays as it is, bit by bit."""
    from safetensors.numpy import save as to_bytes

    _, meta, _ = _header(path)
    meta["overlap"] = {"modulus": sketch.modulus}
    tensors = {**_tensors(path), SKETCH: sketch.hashes}
    write_atomic(path, to_bytes(tensors, metadata={"rnnviz": json.dumps(meta, ensure_ascii=True)}))


def read_sketch(path: Path) -> Sketch | None:
    """The sketch in a model file, weights unread; None if it has none. Raises CheckpointError."""
    from safetensors import SafetensorError, safe_open

    described, meta, _ = _header(path)
    about, entry = meta.get("overlap"), described.get(SKETCH)
    if about is None and entry is None:
        return None
    modulus = about.get("modulus") if isinstance(about, dict) else None
    described_as = (entry.get("dtype"), entry.get("shape")) if isinstance(entry, dict) else (None, None)
    match modulus, described_as:
        case int(), ("U32", [int(n)]) if (
            type(modulus) is int and 0 < modulus < 1 << 63 and 4 * n <= MAX_SKETCH
        ):
            pass
        case _:
            raise CheckpointError(
                f"{path.name} is damaged: what it says of its training text can't be read; "
                "copy or download it again"
            )
    try:
        with safe_open(path, framework="numpy") as file:
            return Sketch(file.get_tensor(SKETCH), modulus)
    except (SafetensorError, ValueError, KeyError) as error:
        raise CheckpointError(f"{path.name} is damaged ({error}); copy or download it again") from None


def is_neural(model: CharModel | NgramModel) -> TypeIs[CharModel]:
    """Whether a loaded model is a network that torch runs, and no n-gram model."""
    return hasattr(model, "readout")


def write_atomic(path: Path, data: bytes) -> None:
    """`data` at `path`: complete, or what was there before. Raises CheckpointError if it can't be written."""
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            temporary = file.name
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
        temporary = None
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise CheckpointError(
            f"{path} can't be written: {error.strerror}; free some space or choose another folder"
        ) from None
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)


def load(name_or_path: str | Path, device: str = "cpu") -> CharModel | NgramModel:
    """The model of a shipped name, or of a file, ready to read text.

    `device` is "cpu", "cuda" or "auto" (CUDA where there is one). Raises
    ModelNotFoundError, or CheckpointError saying what is wrong with the file.
    """

    def network(config: ModelConfig, tensors: dict[str, Any], about: dict[str, Any]) -> CharModel:
        import torch

        from rnnviz.model import CharModel, pick_device

        with torch.device("meta"):  # no memory for weights that are replaced at once
            model = CharModel(config, **about)
        model.load_state_dict({k: torch.from_numpy(w) for k, w in tensors.items()}, assign=True)
        return model.requires_grad_(False).eval().to(pick_device(device))

    return _load(name_or_path, network)


def load_numpy(name_or_path: str | Path) -> NumpyModel | NgramModel:
    """The same to read with alone, on the CPU and without torch, which takes seconds to import."""

    def network(config: ModelConfig, tensors: dict[str, Any], about: dict[str, Any]) -> NumpyModel:
        from rnnviz.prepared import NumpyModel, weights

        return NumpyModel(config, weights=weights(config, tensors), **about)

    return _load(name_or_path, network)


def _load(
    name_or_path: str | Path, network: Callable[[ModelConfig, dict[str, Any], dict[str, Any]], M]
) -> M | NgramModel:
    """The model of a file; `network` makes one of configuration, checked weights, and all else about it."""
    from rnnviz.config import ModelConfig
    from rnnviz.vocabulary import Vocabulary

    path = find(name_or_path)
    described, meta, _ = _header(path)
    described.pop(SKETCH, None)
    try:
        normaliser = meta.get("normaliser", "newlines")
        if not isinstance(normaliser, str):
            raise ConfigError("its normaliser has no name")
        about = {
            "vocabulary": Vocabulary.from_json(meta.get("vocabulary")),
            "name": str(meta["card"].get("name") or path.stem),
            "card": meta["card"],
            "normaliser": normaliser,
        }
        if meta.get("kind") == "ngram":
            from rnnviz.ngram import NgramModel

            counts = _tensors(path)
            counts.pop(SKETCH, None)
            return NgramModel.from_tensors(counts, order=meta["config"].get("order"), **about)
        config = ModelConfig(**meta["config"])
        if config.vocabulary_size != about["vocabulary"].size:
            raise ConfigError(
                f"the configuration says {config.vocabulary_size} symbols and the vocabulary has "
                f"{about['vocabulary'].size}; they must be equal"
            )
        return network(config, _weights(path, described, config), about)
    except (ConfigError, TypeError) as error:
        raise CheckpointError(f"{path.name} is not a usable rnnviz model: {error}") from None


def _tensors(path: Path) -> dict[str, npt.NDArray[np.generic]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return load_file(path)
    except (SafetensorError, ValueError, KeyError) as error:
        raise CheckpointError(f"{path.name} is damaged ({error}); copy or download it again") from None


def _weights(
    path: Path, described: dict[str, Any], config: ModelConfig
) -> dict[str, npt.NDArray[np.float32]]:
    """The tensors of a network in float32. Their shapes are checked before anything is allocated."""
    import numpy as np

    shapes = {k: list(shape) for k, shape in config.shapes().items()}
    stored = {k: e.get("shape") for k, e in described.items()}
    if stored != shapes:
        wrong = sorted(k for k in shapes.keys() | stored.keys() if shapes.get(k) != stored.get(k))
        raise ConfigError(
            f"tensor {wrong[0]!r} should have shape {shapes.get(wrong[0])} and has {stored.get(wrong[0])}"
        )
    if strange := {str(e.get("dtype")) for e in described.values()} - DTYPES.keys():
        raise ConfigError(f"weights are float32 or float16; received {', '.join(sorted(strange))}")
    weights = {k: w.astype(np.float32) for k, w in _tensors(path).items() if k != SKETCH}
    if broken := [k for k, w in weights.items() if not np.isfinite(w).all()]:
        raise ConfigError(f"tensor {broken[0]!r} holds values that are not finite")
    return weights
