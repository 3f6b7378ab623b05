"""Why a run ended, in words."""

import errno
import os
from pathlib import Path

import pytest
import torch

from rnnviz.errors import CheckpointError, DivergedError, TrainingError
from rnnviz.lab.run.process import explain_failure


def raised(outer: Exception, inner: Exception) -> Exception:
    """`outer` as it is raised where `inner` was caught, `from None`."""
    try:
        try:
            raise inner
        except Exception:
            raise outer from None
    except Exception as error:
        return error


def grown(size: int) -> Exception:
    """What torch raises where memory really ran out."""
    try:
        torch.empty(size)
    except RuntimeError as error:
        return error
    raise AssertionError


FULL = [OSError(number, os.strerror(number)) for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)]
DISK = ("The disk is full", "resume", "disk")
MEMORY = ("Memory ran out", "smaller batch", "memory")


@pytest.mark.parametrize(
    ("error", "begins", "advice", "expected_cause"),
    [
        *((error, *DISK) for error in FULL),
        *((raised(CheckpointError("state can't be written"), error), *DISK) for error in FULL),
        (MemoryError(), *MEMORY),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB"), *MEMORY),
        (
            RuntimeError("[enforce fail at alloc_cpu.cpp:121] . DefaultCPUAllocator: can't allocate memory"),
            *MEMORY,
        ),
        (RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes"), *MEMORY),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), *MEMORY),
        (grown(1 << 55), *MEMORY),
        (
            RuntimeError("CUDA error: unspecified launch failure\nCompile with TORCH_USE_CUDA_DSA"),
            "The GPU was lost (CUDA error: unspecified launch failure)",
            "resume the run when the GPU works",
            "gpu",
        ),
    ],
)
def test_failure_names_the_lost_resource(
    error: Exception, begins: str, advice: str, expected_cause: str
) -> None:
    cause, message = explain_failure(error)
    assert str(message).startswith(begins)
    assert advice in str(message)
    assert cause == expected_cause


def test_our_own_errors_speak_for_themselves_and_mistakes_have_no_words(tmp_path: Path) -> None:
    refused = TrainingError("there is no run here")
    assert explain_failure(refused) == ("", refused)
    diverged = DivergedError("the loss is no longer a number")
    assert explain_failure(diverged) == ("diverged", diverged)
    assert explain_failure(ZeroDivisionError("division by zero")) == ("", None)
    assert explain_failure(RuntimeError("shapes (3,) and (4,) differ")) == ("", None)
    with pytest.raises(OSError, match="directory") as caught:
        (tmp_path / "none" / "x").write_text("", "utf-8")
    assert str(explain_failure(caught.value)[1]).startswith("The system refused")
