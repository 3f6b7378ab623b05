"""A Dask scheduler and its workers on loopback, each a process."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import distributed

ROOT = Path(__file__).resolve().parents[2]

SCHEDULER = """
import asyncio
from distributed import Scheduler

async def main():
    async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()

asyncio.run(main())
"""


class Machines:
    """A scheduler and its workers, each a process."""

    def __init__(self, folder: Path) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "OMP_NUM_THREADS": "1",
            "PYTHONWARNINGS": "ignore",
        }
        self._log = (folder / "log").open("ab")
        self._options: dict[str, Any] = {"cwd": folder, "env": environment, "stderr": self._log}
        self.scheduler = subprocess.Popen(
            [sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, encoding="utf-8", **self._options
        )
        self.address = self.scheduler.stdout.readline().strip()
        self.workers: list[subprocess.Popen[bytes]] = []

    def hire(self, count: int) -> None:
        command = [sys.executable, "-m", "distributed.cli.dask_worker", self.address, "--nthreads", "1"]
        self.workers += [
            subprocess.Popen(
                [*command, "--no-nanny", "--no-dashboard"], stdout=subprocess.DEVNULL, **self._options
            )
            for _ in range(count)
        ]
        with distributed.Client(self.address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(len(self.workers), timeout=120)

    def kill(self) -> None:
        """One of the workers."""
        worker = self.workers.pop()
        worker.kill()
        worker.wait()

    def end(self) -> None:
        while self.workers:
            self.kill()
        self.scheduler.kill()
        self.scheduler.communicate()
        self._log.close()
