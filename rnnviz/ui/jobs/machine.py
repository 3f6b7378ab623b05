"""Places of all processes of the app that serve others together: files beside the runs that they share, each
locked while its place is taken. The system unlocks it however a process ends, so a killed one blocks nobody.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

log = logging.getLogger("rnnviz")

FOLDER = ".places"


class Machine:
    """So many `places`, kept in a folder of runs; each kind in `alone` takes one at most."""

    def __init__(self, home: Path, places: int, alone: Collection[str] = ()) -> None:
        self._folder, self._places, self._alone = home / FOLDER, places, alone
        self._said = False

    @contextmanager
    def taking(self, kind: str, check: Callable[[], None], pause: float) -> Iterator[None]:
        """A place while this is open. Waits for it, looking every `pause` seconds, and raises what `check`
        raises meanwhile. Where the folder can't be used, nobody waits.
        """
        sets = [[kind]] if kind in self._alone else []
        sets.append([str(n) for n in range(self._places)])
        with ExitStack() as held:
            try:
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                for names in sets:
                    while (lock := self._one_of(names)) is None:
                        check()
                        time.sleep(pause)
                    held.callback(lock.release)
            except OSError as error:
                self._say(error)
            yield

    def _say(self, error: OSError) -> None:
        if not self._said:  # once: each job finds it so
            self._said = True
            said = "%s can't be written to: %s; runs can't be kept there, nor other processes waited for"
            log.warning(said, self._folder.parent, error.strerror)

    def _one_of(self, names: Collection[str]) -> FileLock | None:
        for name in names:
            # The process's, as another thread may give it back; a second object doesn't get it all the same.
            lock = FileLock(self._folder / name, thread_local=False)
            with contextlib.suppress(Timeout):
                lock.acquire(blocking=False)
                return lock
        return None
