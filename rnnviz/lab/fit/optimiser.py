"""Optimisers, AdamW's learning rate schedule, and devices' precision."""

import inspect
import math
from functools import cache

import torch
from torch import nn

from rnnviz.errors import ConfigError
from rnnviz.lab.engines.torch_model import untrained
from rnnviz.networks.config import Cell, ModelConfig, Precision, TrainConfig
from rnnviz.text.vocabulary import Vocabulary

WARM_UP_PARTS = 50
"""Warm-up takes one part in so many of a run."""

FINAL_RATE_SHARE = 0.01
"""The learning rate at the end, as a share of the highest."""

MOMENTUM_SHARE = 0.9
"""The share of the step before that momentum adds."""


def precision_on(device: torch.device, config: TrainConfig) -> Precision:
    """The precision that a recipe is trained in: bfloat16 on CUDA, where the device can; float32 on a
    processor. For one that doesn't multiply bfloat16 itself, torch's products take 7 to 13 times as long.

    Raises ConfigError where bfloat16 is requested and can't be had.
    """
    if config.precision == "float32":
        return "float32"
    refusal = no_bfloat16(config.cell, device)
    if refusal and config.precision == "bfloat16":
        raise refusal
    return "float32" if refusal else "bfloat16"


@cache
def no_bfloat16(cell: Cell, device: torch.device) -> ConfigError | None:
    """The error where such layers can't be trained in bfloat16 on the device; else None.

    No flag of a CUDA device tells of each layer: so one tiny step is tried.
    """
    if device.type == "cpu":
        return ConfigError(
            "this version trains in bfloat16 on CUDA devices only; use precision float32 or auto, or "
            "rnnviz 2.0.0 to go on with a run that it began in bfloat16"
        )
    vocabulary = Vocabulary(("a",))
    model = untrained(ModelConfig(cell, vocabulary.size, 1), vocabulary, seed=0).to(device)
    model.engine = "torch"
    try:
        with torch.autocast(device.type, torch.bfloat16):
            logits, _ = model(torch.zeros(1, 1, dtype=torch.int64, device=device))
        torch.autograd.backward(logits.float().sum())
    except RuntimeError:
        return ConfigError(
            "torch can't train cell {cell!r} in precision bfloat16 on this machine's {device}; use float32, "
            "or auto, which takes the fastest that works",
            cell=cell,
            device=device.type,
        )
    return None


class WithoutCompiler(torch.optim.Optimizer):
    """torch's optimiser without its compiler, whose import takes longer than the toy's training. Gradients
    are divided by `grad_scale`, as for half precision.
    """

    grad_scale: torch.Tensor | None = None

    add_param_group = inspect.unwrap(torch.optim.Optimizer.add_param_group)
    zero_grad = inspect.unwrap(torch.optim.Optimizer.zero_grad)
    state_dict = inspect.unwrap(torch.optim.Optimizer.state_dict)
    load_state_dict = inspect.unwrap(torch.optim.Optimizer.load_state_dict)


class AdamW(WithoutCompiler, torch.optim.AdamW):
    """AdamW (Loshchilov & Hutter 2019)."""

    step = torch.no_grad()(inspect.unwrap(torch.optim.AdamW.step))


class SGD(WithoutCompiler, torch.optim.SGD):
    """Gradient descent, with momentum or without."""

    step = torch.no_grad()(inspect.unwrap(torch.optim.SGD.step))


def make_optimiser(model: nn.Module, config: TrainConfig) -> AdamW | SGD:
    """A recipe's optimiser; weights decay in matrices only."""
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() <= 1]
    groups = [
        {"params": matrices, "weight_decay": config.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    # The fused optimisers update all parameters in one call and take `grad_scale`, by which `Trainer` clips.
    if config.optimiser == "adamw":
        return AdamW(groups, lr=config.learning_rate, betas=(0.9, 0.99), fused=True)
    momentum = MOMENTUM_SHARE if config.optimiser == "momentum" else 0.0
    return SGD(groups, lr=config.learning_rate, momentum=momentum, fused=True)


STATE_TENSORS = {"adamw": ("step", "exp_avg", "exp_avg_sq"), "sgd": (), "momentum": ("momentum_buffer",)}
"""The tensors that an optimiser keeps of each parameter, in its shape; "step" is a number."""


def rate(highest: float, read: float, coming: float, total: float) -> float:
    """The learning rate of a step that reads `coming` characters after `read` of `total`: linear warm-up over
    a fiftieth, then a cosine. Steps of equal length may be counted in place of characters.
    """
    warm = max(1, total // WARM_UP_PARTS)
    if read < warm:
        return highest * min(warm, read + coming) / warm
    # 0 after the warm-up, where the cosine takes over at the highest rate; 1 at the run's end.
    through = (read - warm) / (total - warm)
    return highest * (FINAL_RATE_SHARE + (1 - FINAL_RATE_SHARE) * 0.5 * (1 + math.cos(math.pi * through)))
