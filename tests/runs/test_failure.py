"""Why a run ended, in words."""

import errno
import os
from pathlib import Path

import pytest
import torch

from rnnviz.errors import CheckpointError, TrainingError
from rnnviz.runs.process import cause, in_words


def raised(outer: Exception, inner: Exception) -> Exception:
    """`outer` as it is raised where `inner` was caught, `from None`."""
    try:
        try:
            raise inner
        except Exception:
            raise outer from None
    except Exception as error:
        return error


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk(number: int) -> None:
    full = OSError(number, os.strerror(number))
    for error in (full, raised(CheckpointError("state can't be written"), full)):
        said = str(in_words(error))
        assert said.startswith("The disk is full")
        assert "resume" in said
        assert cause(error) == "disk"


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB"),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp:121] . DefaultCPUAllocator: can't allocate memory: you tried"
        ),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
    ],
)
def test_memory_that_ran_out(error: Exception) -> None:
    said = str(in_words(error))
    assert said.startswith("Memory ran out")
    assert "smaller batch" in said
    assert cause(error) == "memory"


def test_real_memory_that_ran_out() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(1 << 55)
    assert str(in_words(caught.value)).startswith("Memory ran out")


def test_a_lost_gpu() -> None:
    said = in_words(RuntimeError("CUDA error: unspecified launch failure\nCompile with TORCH_USE_CUDA_DSA"))
    assert str(said).startswith("The GPU was lost (CUDA error: unspecified launch failure)")


def test_our_own_errors_speak_for_themselves_and_mistakes_have_no_words(tmp_path: Path) -> None:
    diverged = TrainingError("the loss is no longer a number")
    assert in_words(diverged) is diverged
    assert in_words(ZeroDivisionError("division by zero")) is None
    assert in_words(RuntimeError("shapes (3,) and (4,) differ")) is None
    with pytest.raises(OSError, match="directory") as caught:
        (tmp_path / "none" / "x").write_text("")
    assert str(in_words(caught.value)).startswith("The system refused")
