"""`python -m rnnviz story`: pack what a finished run kept of its training into one file beside its model."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rnnviz.cli.output import command
from rnnviz.errors import TrainingError


def add_parser(commands: Any) -> None:
    """Add the `story` command."""
    parser = command(
        commands, "story", main, "Pack a finished run's snapshots and curves into a file, for the Train page"
    )
    parser.add_argument("run_dir", type=Path, metavar="RUN_DIR", help="the run's folder")
    parser.add_argument(
        "--output", type=Path, help="the file to write (default: NAME.snapshots.safetensors beside the model)"
    )


def main(args: argparse.Namespace) -> int:
    """Run `story`; returns the exit status. Raises TrainingError for an unfinished run or no snapshots."""
    from rnnviz.runs import event_log, story
    from rnnviz.runs.folder import RunFolder

    folder = RunFolder(args.run_dir)
    folder.description()  # or say that there is none
    last = event_log.newest(folder.events).life or {}
    if last.get("event") != "finished":
        raise TrainingError(
            "the run in {path} isn't finished; go on with it by train --resume {path}", path=folder.path
        )
    if args.output is not None and not args.output.name.endswith(story.SUFFIX):
        raise TrainingError(
            "a story's file ends in {suffix}, beside its model; received {name!r}",
            suffix=story.SUFFIX,
            name=args.output.name,
        )
    path = story.write(folder, args.output or story.beside(Path(last["path"])))
    told = story.read(path)
    print(f"Wrote {path} ({path.stat().st_size:,} bytes): {len(told.steps)} moments")
    return 0
