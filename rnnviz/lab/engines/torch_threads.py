"""Torch's threads, which share each product: the number set, and numbers worth trying."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch

from rnnviz.networks import threads
from rnnviz.networks.threads import Threads

_thread_count = 0  # the number that torch was told, as last seen; 0 before the first look
_this_thread = threading.local()  # `known` where this thread has taken over that number


def thread_count() -> int:
    """The number of threads that torch was told to use.

    A thread that is new to torch would see the number that any other thread set last, perhaps for a piece of
    work. Such a thread takes over the number last seen outside of pieces.
    """
    global _thread_count
    # torch.set_num_threads is of the calling thread, and a new thread begins with the number set last
    # anywhere.
    if _thread_count and not getattr(_this_thread, "known", False):
        torch.set_num_threads(_thread_count)
    _this_thread.known = True
    _thread_count = torch.get_num_threads()
    return _thread_count


def fix(count: int) -> None:
    """Make all computations of this process take `count` threads, neither more nor fewer."""
    global _thread_count
    _thread_count = count
    threads.fix(count)
    torch.set_num_threads(count)


def worth_trying(device: str = "cpu") -> list[int]:
    """Numbers of threads, ascending: 1, 2, 4 …, all cores but one, and all, but no more than torch was told
    to use: see `leave_a_core`. On a GPU, and where the number is fixed, torch's number alone.
    """
    count = thread_count()
    return [count] if threads.fixed or device != "cpu" else threads.up_to(min(count, threads.cores()))


@contextmanager
def _torch_threads(count: int) -> Iterator[None]:
    """Do the block on `count` of torch's threads."""
    before = thread_count()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class TorchThreads(Threads):
    """The number of torch's threads for one work that is done in pieces."""

    def __init__(self, counts: Sequence[int], speeds: Mapping[int, float] | None = None) -> None:
        super().__init__(counts, speeds, use=_torch_threads)
