"""The state of a run on disk: a Trainer resumes from it with the same numbers."""

import json
import math
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor

from rnnviz.errors import TrainingError
from rnnviz.lab.fit.optimiser import STATE_TENSORS
from rnnviz.lab.fit.trainer import Trainer
from rnnviz.lab.run.folder import DAMAGE_ERRORS, RunFolder, damage_reason
from rnnviz.networks import modelfile
from rnnviz.networks.config import TrainConfig
from rnnviz.text import files


def save(folder: RunFolder, trainer: Trainer) -> None:
    """Write the state for `restore`. Raises CheckpointError if it can't be written."""
    tensors, meta = pack(trainer)
    modelfile.write_atomic(folder.state, to_bytes(tensors, metadata={"run": json.dumps(meta)}))


def restore(folder: RunFolder, trainer: Trainer) -> bool:
    """Put `trainer` at the run's saved step; False if nothing was saved. Raises TrainingError for an unfit
    state.
    """
    try:
        files.opened(folder.state).close()  # refuses a pipe, which would block
        with safe_open(folder.state, framework="pt") as file:
            meta = json.loads((file.metadata() or {})["run"])
            # Cloned, because a tensor in the file may be off a cache line, where MKL's products round
            # differently: the resumed run would not be the same bit for bit.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
        unpack(trainer, tensors, meta)
    except FileNotFoundError:
        return False
    except TrainingError:
        raise
    except (SafetensorError, RuntimeError, *DAMAGE_ERRORS) as error:  # RuntimeError is torch's own
        raise TrainingError(
            "{path} is damaged ({error}); start a new run",
            path=folder.state,
            error=damage_reason(error),
        ) from None
    return True


def pack(trainer: Trainer) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The state as tensors and a JSON object, for `unpack`."""
    # All that the next step depends on: weights, the optimiser's averages and step counts, the carried state,
    # the generator, and the sums since the last report. Text and cuts follow from recipe and seed.
    tensors = {f"model.{k}": v.detach().cpu() for k, v in trainer.model.state_dict().items()}
    for i, slots in trainer.optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{i}.{k}": v.detach().cpu() for k, v in slots.items()}
    for i, part in enumerate(trainer.carried_state or ()):
        tensors[f"carried.{i}"] = part.cpu()
    tensors["generator"] = trainer.generator.get_state().cpu()
    tensors |= {
        "since.loss": trainer.report_sums.loss.cpu(),
        "loss": trainer.loss.cpu(),
        "norm": trainer.norm.cpu(),
    }
    # Copies, because safetensors refuses tensors that share memory.
    return {k: v.clone().contiguous() for k, v in tensors.items()}, {
        "config": trainer.config.to_json(),
        "step": trainer.step_index,
        "characters": trainer.characters,
        "offset": trainer.offset,
        "best": None if math.isinf(trainer.lowest_criterion) else trainer.lowest_criterion,
        "seconds": trainer.seconds,
        "since": {"characters": trainer.report_sums.characters, "seconds": trainer.report_sums.seconds},
        "reported": trainer.last_report_step,
        "learning_rate": trainer.optimiser.param_groups[0]["lr"],
        "bfloat16": trainer.bfloat16,
        "vocabulary": trainer.model.vocabulary.to_json(),
        "text": trainer.text_sha256,
    }


def unpack(trainer: Trainer, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
    """Put `trainer` in the state of the packed one. Raises TrainingError if text or recipe differ;
    ValueError, LookupError or the like for damaged values.
    """
    same = meta["vocabulary"] == trainer.model.vocabulary.to_json()
    if not same or meta["text"] != trainer.text_sha256:
        raise TrainingError(
            "the saved run was trained on another text (its characters differ); start a new run"
        )
    if TrainConfig(**meta["config"]) != trainer.config:
        raise TrainingError("the saved run has another recipe; resume it with its own, or start a new run")
    _check_numbers(trainer, meta)
    model = {k.removeprefix("model."): v for k, v in tensors.items() if k.startswith("model.")}
    trainer.model.load_state_dict(model)
    scalar, saved = torch.Size(), trainer.optimiser.state_dict()
    if any(name.startswith("optimiser.") for name in tensors):
        for i, parameter in enumerate(p for group in trainer.optimiser.param_groups for p in group["params"]):
            # torch checks no shape of these.
            saved["state"][i] = {
                k: _fit(tensors, f"optimiser.{i}.{k}", scalar if k == "step" else parameter.shape)
                for k in STATE_TENSORS[trainer.config.optimiser]
            }
    trainer.optimiser.load_state_dict(saved)
    for group in trainer.optimiser.param_groups:
        group["lr"] = meta["learning_rate"]
    trainer.carried_state = None
    if any(name.startswith("carried.") for name in tensors):
        kinds = (torch.float32, torch.bfloat16) if trainer.bfloat16 else (torch.float32,)
        zero = trainer.model.zero_state(trainer.streams.row_count)
        carried = (_fit(tensors, f"carried.{i}", part.shape, kinds) for i, part in enumerate(zero))
        trainer.carried_state = tuple(part.to(trainer.device) for part in carried)
    trainer.generator.set_state(tensors["generator"])
    trainer.step_index, trainer.characters, trainer.offset = meta["step"], meta["characters"], meta["offset"]
    trainer.lowest_criterion = math.inf if meta["best"] is None else meta["best"]
    trainer.seconds = meta["seconds"]
    trainer.report_sums, trainer.last_report_step = trainer.new_report_sums(), meta["reported"]
    trainer.report_sums.characters = meta["since"]["characters"]
    trainer.report_sums.seconds = meta["since"]["seconds"]
    interval_loss, trainer.loss, trainer.norm = (
        _fit(tensors, name, scalar).to(trainer.device) for name in ("since.loss", "loss", "norm")
    )
    trainer.report_sums.loss += interval_loss


def _fit(
    tensors: dict[str, Tensor],
    name: str,
    shape: torch.Size,
    kinds: tuple[torch.dtype, ...] = (torch.float32, torch.float64),
) -> Tensor:
    """A tensor whose shape torch doesn't check. Raises LookupError where it is missing, and ValueError where
    it doesn't fit: a step would fail, or read foreign memory.
    """
    value = tensors[name]
    if value.shape != shape or value.dtype not in kinds:
        raise ValueError(f"{name} is of another network")
    return value


def _check_numbers(trainer: Trainer, meta: dict[str, Any]) -> None:
    """Raise ValueError for a number that no run has."""
    if meta["bfloat16"] is not trainer.bfloat16:
        raise ValueError("its precision isn't the recipe's")
    # Texts that end may be longer in a part of an epoch than in the whole: what they are padded to is the
    # limit.
    limit = trainer.cuts.total_stream_chars * trainer.streams.row_count
    places = {"step": trainer.total_steps, "characters": limit}
    for name, limit in {**places, "offset": trainer.streams.slack}.items():
        if type(meta[name]) is not int or not 0 <= meta[name] <= limit:
            raise ValueError(f"{name} is {meta[name]!r}")
    numbers = [meta["best"] or 0, *(meta[name] for name in ("seconds", "learning_rate", "reported"))]
    for value in (*numbers, meta["since"]["characters"], meta["since"]["seconds"]):
        if type(value) not in (int, float) or not abs(value) < 1e300:
            raise ValueError(f"{value!r} is no number that a run has")
