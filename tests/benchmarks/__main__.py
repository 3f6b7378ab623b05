"""All benchmarks, one after another, and the table of what they measure.

    python -m tests.benchmarks              # everything
    python -m tests.benchmarks --quick      # a short sitting
    python -m tests.benchmarks --only NAME …   # these; with --quick their short form
    python -m tests.benchmarks --old        # those whose figures are older than the code that they describe
    python -m tests.benchmarks --list       # what each takes, and when it was last run
    python -m tests.benchmarks --write      # runs nothing; finds out which are old

The figures are recorded in `results.json` beside this file; README.md there, and "Speed" in the project's,
are written from it. Each program has a process of its own. A figure stays, with its commit and its day, until
its program has measured it again; one that fails, or is ended as it took three times what it should, leaves
its own as they are, and the others run all the same. A short run renews the figures that it gives, a whole
run all of its program's.

Let nothing else run meanwhile: how busy the processors were with other programs is in the table. The pages
need Chromium (RNNVIZ_BROWSER), some texts are the Train page's downloads (RNNVIZ_CACHE).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil

from tests.benchmarks import table
from tests.benchmarks.figures import FILE

READS = "rnnviz/networks rnnviz/reading"
SERVES = "rnnviz/ui/browser rnnviz/ui/server"
EXPLORES = f"{READS} {SERVES} rnnviz/ui/pages/explore"
TRAINS = "rnnviz/networks rnnviz/training"

LIMIT, PATIENCE, LOOK = 3, 60, 5.0
"""A program is ended after so many times what it takes on four cores, and so many seconds; every LOOK seconds
it is seen what it has started."""


@dataclass(frozen=True)
class Program:
    """A program of this folder: the code that its figures describe, and the arguments of a whole and of a
    short run, with the seconds that they take on four cores. `quick` is None where there is no short one."""

    rooms: str
    seconds: int
    whole: str = ""
    quick: str | None = None
    short: int = 0


PROGRAMS: dict[str, Program] = {
    "keystroke": Program(EXPLORES, 240, "--training", quick="--keys 30", short=90),
    "hall": Program(EXPLORES, 420, whole="--visitors 1 100"),
    "page": Program(
        f"{READS} rnnviz/ui/standalone rnnviz/ui/pages/explore", 60, quick="--characters 500", short=20
    ),
    "step": Program(READS, 40, quick="--rounds 100", short=20),
    "scoring": Program(READS, 150, quick="--characters 300000", short=60),
    "rows": Program(f"{READS} rnnviz/cli", 500, quick="--rows 10000 --models timemachine-gru", short=30),
    "training": Program(
        TRAINS, 2000, "--seconds 0.8 --turns 7", quick="--seconds 0.4 --turns 7 --threads 4", short=580
    ),
    "minutes": Program(TRAINS, 400, quick="--presets one-minute", short=70),
    "linear": Program(f"{TRAINS} rnnviz/reading", 120, quick="--seconds 1", short=50),
    "promptness": Program("rnnviz/runs rnnviz/training", 60, quick="--rounds 3", short=40),
    "gradients": Program("rnnviz/gradients", 20, quick="", short=20),
    "lecture": Program(f"{SERVES} rnnviz/lecture rnnviz/ui/pages/learn", 300, quick="--steps", short=80),
    "room": Program(f"{SERVES} rnnviz/ui/room rnnviz/ui/pages/learn", 300),
    "inside": Program(f"{SERVES} rnnviz/units rnnviz/ui/pages/inside", 120, quick="--rounds 8", short=70),
    "contended": Program(TRAINS, 600, quick=None),
    "uploads": Program(f"{READS} rnnviz/ui/jobs rnnviz/ui/pages/perplexity", 300),
    "matching": Program("rnnviz/units", 240),
    "claims": Program("rnnviz/units", 300, "--only finds --model timemachine-gru --trials 400"),
    "mixing": Program(f"{READS} models", 900, quick="--corpora timemachine", short=60),
    "nanogpt_protocol": Program("models/shakespeare-lstm.safetensors", 60),
    "recipes": Program(f"{TRAINS} models", 360),
    "war_and_peace": Program(
        TRAINS,
        420,
        whole="rnnviz/text/shipped/timemachine.txt --units 128 --epochs 30 --dropout 0.25",
    ),
}


def machine() -> str:
    """The processor, its cores and the memory."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    name = (names or [platform.processor() or platform.machine()])[0].replace("(R)", "")
    memory = psutil.virtual_memory().total / 2**30
    return f"{name}, {psutil.cpu_count()} cores, {memory:.0f} GB"


def ended(command: list[str], file: Path, seconds: float) -> int:
    """The exit code of a program that records into `file`; a ValueError if it isn't done after so long, when
    it is ended with all that it has started. What one that failed left behind is ended too."""
    with subprocess.Popen(command, cwd=table.ROOT, env={**os.environ, FILE: str(file)}) as process:
        started: dict[int, psutil.Process] = {}

        def look() -> None:
            with contextlib.suppress(psutil.NoSuchProcess):
                started.update((one.pid, one) for one in psutil.Process(process.pid).children(recursive=True))

        try:
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    return process.wait(LOOK)
                look()
            raise ValueError(f"not done after {seconds:,.0f} seconds, and ended")
        finally:
            look()
            process.kill()
            for one in started.values():
                with contextlib.suppress(psutil.NoSuchProcess):
                    one.kill()


def run(name: str, arguments: str, seconds: float) -> table.Run:
    """One run of one program, and its figures; a ValueError if it fails, has none, or isn't done by then."""
    rooms = PROGRAMS[name].rooms.split()
    changed = bool(table.git("status", "--porcelain", "--", *rooms))
    found: table.Run = {
        "program": name,
        "arguments": arguments,
        "commit": table.git("rev-parse", "--short=7", "HEAD") + "+" * changed,
        "tree": table.code(rooms),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": machine(),
        "busy": round(psutil.cpu_percent(2.0)),
        "rooms": rooms,
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "figures.jsonl")
        command = [sys.executable, "-m", f"tests.benchmarks.{name}", *arguments.split()]
        began = time.monotonic()
        try:
            code = ended(command, file, seconds)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        found["seconds"] = round(time.monotonic() - began)
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
    if code or not lines:
        raise ValueError(f"{name}: exit code {code}, {len(lines)} figures")
    return {**found, "figures": [json.loads(line) for line in lines]}


def listed(runs: list[table.Run], names: list[str]) -> None:
    """A line for each program: what a whole and a short run take, and its newest run."""
    newest = {run["program"]: table.of(run) for run in runs}
    print(f"{'program':18} {'whole':>7} {'quick':>7}   last run")
    for name in names:
        one = PROGRAMS[name]
        short = f"{one.short} s" if one.quick is not None else "–"
        print(f"{name:18} {one.seconds:5} s {short:>7}   {newest.get(name, '–')}")
    whole, short = (sum(getattr(PROGRAMS[n], kind) for n in names) / 60 for kind in ("seconds", "short"))
    print(f"{'in all':18} {whole:5.0f} min {short:3.0f} min")


def place(run: table.Run) -> int:
    """Where a run stands in the tables."""
    return list(PROGRAMS).index(run["program"])


def chosen(options: argparse.Namespace, runs: list[table.Run]) -> list[str]:
    """The programs that are asked for."""
    names = options.only or list(PROGRAMS)
    if options.old:
        known = {run["program"] for run in runs if not run.get("old")}
        names = [name for name in names if name not in known]
    return [name for name in names if not options.quick or PROGRAMS[name].quick is not None]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="the short form of those that have one")
    parser.add_argument("--only", nargs="+", choices=list(PROGRAMS), metavar="NAME")
    parser.add_argument("--old", action="store_true", help="what isn't there, or is older than the code")
    parser.add_argument("--list", action="store_true", help="say what they take, and run nothing")
    parser.add_argument("--write", action="store_true", help="write the tables, and run nothing")
    options = parser.parse_args()
    runs = table.marked(table.read())
    names = chosen(options, runs)
    if options.list:
        return listed(runs, names)
    failed = []
    for name in [] if options.write else names:
        one = PROGRAMS[name]
        quick = one.quick if options.quick else None
        arguments, expected = (one.whole, one.seconds) if quick is None else (quick, one.short)
        print(f"== {name} {arguments}".rstrip(), flush=True)
        try:
            new = run(name, arguments, LIMIT * expected + PATIENCE)
        except ValueError as error:
            print(f"== {error}", flush=True)
            failed.append(str(error))
            continue
        runs = sorted(table.merged(runs, new, whole=arguments == one.whole), key=place)
        table.write(runs)  # at once: an interrupted sitting has what it measured
    table.write(runs)
    print(*(f"failed: {one}" for one in failed), sep="\n", end="")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
