"""Matches of an untrusted regular expression in a text. Python's regular expressions backtrack: over a line
of a's (a+)+b never ends, and blocks the whole process. So the search runs in a separate process, with a
memory limit and a timeout. Starting the process takes about 20 ms.
"""

import json
import subprocess
import sys

import numpy as np

from rnnviz.errors import ConfigError
from rnnviz.text.vocabulary import code_points

LONGEST = 1000
"""Characters of a pattern at most."""

MEMORY = 1 << 30
"""Bytes that a search may use, where the system can enforce it."""

_MISSPELT = 3

# The pattern comes through standard input: other users could read a command line.
_SEARCH = f"""
import array, json, re, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
except (ImportError, OSError, ValueError):
    pass
pattern, text = json.load(sys.stdin)
try:
    compiled = re.compile(pattern, re.MULTILINE)
except (re.error, OverflowError, RecursionError) as error:
    sys.stderr.write(str(error) or "it is too large")
    sys.exit({_MISSPELT})
found = array.array("q")
for match in compiled.finditer(text):
    if match.end() > match.start():
        found.extend(match.span())
sys.stdout.buffer.write(found.tobytes())
"""


def find_all(pattern: str, text: str, *, timeout: float = 2.0) -> list[tuple[int, int]]:
    """The (start, stop) of every non-empty match in order; ^ and $ match at line ends; `timeout` is in
    seconds. Raises ConfigError for an unfit or costly pattern, TextError for half a surrogate pair.
    """
    if not pattern or len(pattern) > LONGEST:
        raise ConfigError(
            "a pattern has 1 to {longest:,} characters; received {count:,}",
            longest=LONGEST,
            count=len(pattern),
        )
    code_points(text)  # refuses half a surrogate pair
    shown = pattern if len(pattern) <= 60 else pattern[:59] + "…"
    try:
        done = subprocess.run(
            # -I and -S: no module of the user, and a quick start.
            [sys.executable, "-I", "-S", "-W", "ignore", "-c", _SEARCH],
            input=json.dumps([pattern, text]).encode("ascii"),
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ConfigError(
            "the pattern {pattern!r} was still searching after {timeout:g} seconds and was stopped; "
            "a repetition inside a repetition, as in (a+)+, can take for ever: write it in another way",
            pattern=shown,
            timeout=timeout,
        ) from None
    except OSError as error:
        raise ConfigError(
            "patterns can't be searched for on this machine: {strerror}", strerror=error.strerror
        ) from None
    if done.returncode == _MISSPELT:
        reason = done.stderr.decode("utf-8", "replace")[:200]
        raise ConfigError(
            "the pattern {pattern!r} is no regular expression: {reason}", pattern=shown, reason=reason
        )
    if done.returncode != 0:
        raise ConfigError(
            "the pattern {pattern!r} needs more memory than it may have; write a simpler one", pattern=shown
        )
    spans = np.frombuffer(done.stdout, np.int64).reshape(-1, 2)
    return [(start, stop) for start, stop in spans.tolist()]
