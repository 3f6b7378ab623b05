"""Models by name or path: found, listed, loaded and saved; for the file see `rnnviz.networks.modelfile`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from rnnviz.checks import check_path, checked
from rnnviz.errors import CheckpointError, ConfigError, ModelNotFoundError, RnnvizError, TorchMissingError
from rnnviz.networks import engines
from rnnviz.networks.modelfile import (
    FORMAT_VERSION,
    SKETCH,
    SUFFIX,
    Sketch,
    check_name,
    read_header,
    read_tensors,
    read_weights,
    sketch_in,
    unusable,
    write_model,
)
from rnnviz.reprs import ReprMixin
from rnnviz.text import files

if TYPE_CHECKING:
    import numpy.typing as npt

    from rnnviz.networks.config import ModelConfig
    from rnnviz.networks.ngram import NgramModel
    from rnnviz.networks.numpy_model import NumpyModel, StoredNetwork

SUCCESSORS: Mapping[str, str] = {"python-gru": "python-lstm", "python-6gram": "python-5gram"}
"""The models that replace shipped ones of the versions before, by the old names, which lead on to them."""

SNAPSHOTS = f".snapshots{SUFFIX}"  # a file beside a model, from its training: rnnviz.lab.run.replay


@dataclass(frozen=True, repr=False)
class ModelInfo(ReprMixin):
    """A model file's metadata, read without its weights; `kind` is its cell, or "ngram".

    >>> import rnnviz
    >>> [info.kind for info in rnnviz.available()[0] if info.name == "timemachine-gru"]
    ['gru']
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
    error: RnnvizError

    @property
    def reason(self) -> str:
        """The error's sentence."""
        return str(self.error)


def folders() -> list[Path]:
    """The folders with models, in order: those of RNNVIZ_MODELS (as in PATH), else the user's own, then the
    shipped ones.

    New models go into the first: an installation may be read-only, and an update replaces it.
    """
    user_folders = [
        Path(os.path.expanduser(p)) for p in os.environ.get("RNNVIZ_MODELS", "").split(os.pathsep) if p
    ]
    if not user_folders:
        from platformdirs import user_data_path

        user_folders = [user_data_path("rnnviz", appauthor=False) / "models"]
    package = Path(__file__).resolve().parents[1]
    shipped = package / "models"  # in a wheel; in a source tree models/ stands beside the package
    return [*user_folders, shipped if shipped.is_dir() else package.parent / "models"]


def find(name_or_path: str | Path) -> Path:
    """The file of a model's name, or the path itself.

    A name that SUCCESSORS leads on warns with what to write. Raises ModelNotFoundError, which lists the
    models, and CheckpointError for a name with a path in it.
    """
    text = check_path(name_or_path)
    if isinstance(name_or_path, Path) or text.endswith(SUFFIX):
        path = Path(os.path.expanduser(text))
        if not os.path.isfile(path):
            raise ModelNotFoundError(
                "no model file at {path}; check the path, or use a name that `rnnviz models` lists", path=path
            )
        return path
    check_name(text)
    if (name := current_name(text)) != text:
        message = f"the model {text} is replaced by {name}: write {name!r}"
        # The line that calls `load`: above it are `_read`, `load` and its wrapper `checked`.
        warnings.warn(message, DeprecationWarning, stacklevel=5)
        text = name
    for folder in folders():
        if (folder / f"{text}{SUFFIX}").is_file():
            return folder / f"{text}{SUFFIX}"
    names = ", ".join(sorted({path.stem for path in _files()})) or "none"
    raise ModelNotFoundError(
        "no model is called {text!r}; there are: {names}. A file's path, ending in {suffix}, works too",
        text=text,
        names=names,
        suffix=SUFFIX,
    )


def current_name(name: str) -> str:
    """The name of the model that replaces the one of this name, where that is here and this one isn't."""
    successor = SUCCESSORS.get(name)
    if successor is None:
        return name
    names = {path.stem for path in _files()}
    return successor if successor in names and name not in names else name


def read_info(path: Path) -> ModelInfo:
    """A model file's metadata, read again only if the file has changed.

    Raises CheckpointError for an unusable file, and for a file's name that can't be shown as it is.
    """
    info = _examined(path, _mark(path))
    if isinstance(info, Damaged):
        raise info.error.with_traceback(None)  # the kept error's traceback would grow with every call
    return info


def available() -> tuple[list[ModelInfo], list[Damaged]]:
    """Two lists: every model in the models folders, by name, with its `.name` and `.card`; and the files
    there that can't be loaded, with their `.reason`. Reads only files that have changed since the last call.

    >>> import rnnviz
    >>> found, damaged = rnnviz.available()
    >>> [model.name for model in found][:2]
    ['chinese-6gram', 'chinese-gru']
    """
    models: dict[str, ModelInfo] = {}
    damaged: list[Damaged] = []
    # The first folder wins: a user's model hides a shipped one of the same name.
    for path in _files():
        info = _examined(path, _mark(path))
        if isinstance(info, ModelInfo):
            models.setdefault(path.stem, info)
        else:
            damaged.append(info)
    return [models[name] for name in sorted(models)], damaged


def _mark(path: Path) -> object:
    """A value that changes with a file's content; None without a file."""
    try:
        about = path.stat()
    except OSError:
        return None
    # Writing replaces the file, so its inode changes even where size and second are the same.
    return about.st_mtime_ns, about.st_size, about.st_ino


@lru_cache(1000)
def _examined(path: Path, mark: object) -> ModelInfo | Damaged:
    from rnnviz.networks.config import ModelConfig

    # Any file may lie in the folder: whatever is wrong with it becomes an entry, never an error of the list.
    try:
        if not files.is_shown(path):
            raise CheckpointError(
                "{name} has a name that can't be shown as it is; rename it",
                name=files.printable(path.name, files.MAX_NAME_CHARS),
            )
        _, meta, size = read_header(path)
        kind = "ngram" if meta.get("kind") == "ngram" else ModelConfig(**meta["config"]).cell
    except CheckpointError as error:
        return Damaged(path, error)
    except (ConfigError, TypeError) as error:
        return Damaged(path, unusable(path, error))
    vocabulary = meta.get("vocabulary")
    v = len(vocabulary) + 1 if isinstance(vocabulary, list) else 0
    return ModelInfo(path.stem, path, kind, meta["card"], size, v)


def _files() -> Iterator[Path]:
    for folder in folders():
        for path in sorted(folder.glob(f"[!.]*{SUFFIX}")):
            if not path.name.endswith(SNAPSHOTS):
                yield path


def save(
    model: StoredNetwork | NgramModel,
    path: str | Path,
    *,
    half: bool = False,
    sketch: Sketch | None = None,
    card: Mapping[str, Any] | None = None,
) -> Path:
    """Write `model` to `path`, all of it or nothing, and return the path.

    half    store weights as float16
    sketch  a sketch of the training text, see `rnnviz.networks.contamination`; None: the model's own
    card    JSON data about the model; None: the model's own

    Raises CheckpointError for a name or a folder that can't be used.

    >>> import tempfile
    >>> path = save(load("timemachine-gru"), f"{tempfile.mkdtemp()}/copy.safetensors")
    >>> load(path).parameter_count
    323141
    """
    from rnnviz.networks.ngram import NgramModel

    path = check_target(path)
    tensors: dict[str, npt.NDArray[Any]]
    # Said only where it is so: files of other models stay as versions before wrote them.
    ends = {"ends": True} if model.vocabulary.ends else {}
    meta: dict[str, Any] = {
        "format": FORMAT_VERSION,
        "vocabulary": model.vocabulary.to_json(),
        **ends,
        "normaliser": model.normaliser,
        "card": {**(model.card if card is None else card), "name": path.stem},
    }
    if isinstance(model, NgramModel):
        tensors = dict(model.to_tensors())
        meta |= {"kind": "ngram", "config": {"order": model.order}}
    else:
        if not model.tensors:
            raise CheckpointError("a NumpyModel without `tensors` can't be saved: it has no weights to write")
        tensors = {k: w.astype("float16") if half else w for k, w in model.tensors.items()}
        meta |= {"kind": "neural", "config": model.config.to_json()}
    write_model(path, tensors, meta, model.sketch if sketch is None else sketch)
    return path


def check_target(path: str | Path, replaces: Callable[[Path], bool] | None = None) -> Path:
    """`path` if a model may be written there, to be asked before any work; makes its folder.

    replaces  asked whether the model at `path` may be replaced; what is no model then never is. None: the
              file is a run's own, whatever it holds

    Raises CheckpointError.
    """
    path = Path(os.path.expanduser(check_path(path)))
    if path.suffix != SUFFIX:
        raise CheckpointError(
            "a model file ends in {suffix}; received {name!r}", suffix=SUFFIX, name=path.name
        )
    check_name(path.stem)
    try:
        if path.is_dir():
            raise CheckpointError("{path} is a folder; name a file in it", path=path)
        # Asked before a training, whose hours would be lost if its file could not be written.
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
        occupied = replaces is not None and path.exists() and path.stat().st_size > 0
    except OSError as error:
        raise CheckpointError(
            "{path} can't be written: {strerror}; choose another folder", path=path, strerror=error.strerror
        ) from None
    # An empty file is no loss, whatever it was.
    if occupied and isinstance(_examined(path, _mark(path)), Damaged):
        raise CheckpointError(
            "{path} is there already and isn't a model that this version reads; name another, or remove it",
            path=path,
        )
    if occupied and replaces is not None and not replaces(path):
        raise CheckpointError(
            "{path} is there already: a model that this run did not make; name another, or remove it",
            path=path,
        )
    return path


@checked
def load(name_or_path: str | Path, device: str = "cpu") -> StoredNetwork | NgramModel:
    """The model of a shipped name or a file, on `device` "cpu", "cuda" or "auto" (CUDA where there is one).

    A network is a CharModel of torch. Without torch it is a NumpyModel, which reads, predicts and writes as a
    CharModel does, on the CPU alone, and can't be trained.

    Raises ModelNotFoundError, CheckpointError for a damaged file, ConfigError for a missing device,
    TorchMissingError for a device that only torch computes on.

    >>> import rnnviz
    >>> rnnviz.load("timemachine-gru").config.hidden_size
    256
    """

    stored = _read(name_or_path)
    if not isinstance(stored, tuple):
        return stored
    if (engine := engines.registered()) is not None:
        return engines.load(engine, *stored, device)
    if device not in ("cpu", "auto"):
        raise TorchMissingError(
            "device {device!r} needs torch, which is not installed; use cpu, or get torch: {command}",
            device=device,
        )
    return _in_numpy(*stored)


def load_numpy(name_or_path: str | Path) -> NumpyModel | NgramModel:
    """`load` for reading only: on the CPU and without torch, which takes seconds to import."""
    stored = _read(name_or_path)
    return _in_numpy(*stored) if isinstance(stored, tuple) else stored


def load_ngram_model(card: Mapping[str, Any]) -> NgramModel | None:
    """The n-gram model that a network's card names; None if it isn't on this machine."""
    for info in available()[0]:
        if (info.name, info.kind) == (card.get("ngram"), "ngram"):
            return cast("NgramModel", load_numpy(info.path))
    return None


def _in_numpy(config: ModelConfig, tensors: dict[str, Any], about: dict[str, Any]) -> NumpyModel:
    from rnnviz.networks.numpy_engine import weights_from
    from rnnviz.networks.numpy_model import NumpyModel

    weights = weights_from(config, tensors, end=about["vocabulary"].end)
    return NumpyModel(config, weights=weights, tensors=tensors, **about)


def _read(name_or_path: str | Path) -> tuple[ModelConfig, dict[str, Any], dict[str, Any]] | NgramModel:
    """A network's configuration, its weights and the other arguments of its model; or the n-gram model."""
    from rnnviz.networks.config import ModelConfig
    from rnnviz.text.characters import Normaliser
    from rnnviz.text.vocabulary import Vocabulary

    path = find(name_or_path)
    described, meta, _ = read_header(path)
    sketch = sketch_in(path, described, meta)
    # The sketch is no weight: the rest must be exactly the tensors of the configuration.
    described.pop(SKETCH, None)
    try:
        about = {
            "vocabulary": Vocabulary.from_json(meta.get("vocabulary"), ends=meta.get("ends") is True),
            "name": str(meta["card"].get("name") or path.stem),
            "card": meta["card"],
            "normaliser": str(meta.get("normaliser", "newlines")),
            "sketch": sketch,
        }
        Normaliser(about["normaliser"])  # refuses an unknown one
        if meta.get("kind") == "ngram":
            from rnnviz.networks.ngram import NgramModel

            counts = read_tensors(path)
            counts.pop(SKETCH, None)
            return NgramModel.from_tensors(counts, order=meta["config"].get("order"), **about)
        config = ModelConfig(**meta["config"])
        # Each is sound by itself; together they would read one character as another.
        if config.vocabulary_size != about["vocabulary"].size:
            raise ConfigError(
                "the configuration says {vocabulary_size} symbols and the vocabulary has "
                "{size}; they must be equal",
                vocabulary_size=config.vocabulary_size,
                size=about["vocabulary"].size,
            )
        return config, read_weights(path, described, config), about
    except (ConfigError, TypeError) as error:
        raise unusable(path, error) from None
