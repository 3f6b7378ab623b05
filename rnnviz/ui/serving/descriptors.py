"""The process's limit of open files and connections: each phone of a class keeps one or two open."""

import contextlib

ENOUGH = 10_240
"""The limit to ask for. macOS refuses more, even if it reports no limit."""


def raise_limit() -> None:
    """Raise the soft limit to the hard one, at most to ENOUGH; many systems begin at 256."""
    try:
        import resource
    except ImportError:  # Windows lacks the module and the limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
