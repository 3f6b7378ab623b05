"""Dropout: which characters, weights and states a step of training does without."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor


@dataclass(frozen=True)
class Dropout:
    """Probabilities of dropping, while training; a scale of 1/(1-p) keeps the mean.

    embedding  whole characters of the vocabulary at a time (Gal & Ghahramani 2016)
    weight     entries of W_hh, one mask a sequence (Merity et al. 2018)
    output     entries of H_t before the readout
    layer      entries of H_t between one layer and the next (Zaremba et al. 2014)
    """

    embedding: float = 0.0
    weight: float = 0.0
    output: float = 0.0
    layer: float = 0.0

    def between(self, generator: torch.Generator | None) -> Callable[[Tensor], Tensor] | None:
        """The function that drops entries of a layer's H (B, T, H) before the next layer; None without."""
        return (lambda h: drop(h, self.layer, cast(torch.Generator, generator))) if self.layer else None

    def of_weight(self, w: Tensor, generator: torch.Generator | None) -> Tensor:
        """W_hh as a step of training reads it."""
        return drop(w, self.weight, cast(torch.Generator, generator))


def drop(x: Tensor, p: float, generator: torch.Generator, *, rows: bool = False) -> Tensor:
    """`x` with entries (or whole rows) set to zero with probability p and the rest scaled by 1/(1-p).

    p is rounded to 1/65,536: four 16-bit numbers from each 64-bit draw take a third of `bernoulli_`'s time.
    """
    threshold = round(p * 65_536)
    if threshold == 0:
        return x
    count, scale = x.shape[0] if rows else x.numel(), 65_536 / (65_536 - threshold)
    lowest = threshold - 32_768  # of the draws that keep
    draws = torch.empty((count + 3) // 4, dtype=torch.int64, device=x.device)
    draws.random_(-(2**63), None, generator=generator)
    keep = draws.view(torch.int16)[:count].clamp_(lowest - 1, lowest).sub_(lowest - 1)  # 0 or 1
    return x * keep.to(x.dtype).mul_(scale).view((-1, 1) if rows else x.shape)
