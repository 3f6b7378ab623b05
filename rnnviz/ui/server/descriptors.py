"""How many files and connections the process may have open: a visitor's browser keeps up to ten."""

import contextlib

ENOUGH = 10_240
"""More than the most that macOS allows would be refused there, even where it says that there is no limit."""


def raise_limit() -> None:
    """Allow what the system lets this process allow itself, up to ENOUGH; many systems begin at 256."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
