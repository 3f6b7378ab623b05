"""What .ci/steps says at the end, however a program ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CI = Path(__file__).resolve().parent.parent / ".ci"


def run(steps: str) -> tuple[int, list[str], Path]:
    """Exit status, the summary's lines and the folder that was made, of a program with these steps."""
    code = f'source {CI / "steps"}\necho "made $made"\n{steps}'
    done = subprocess.run(["bash", "-c", code, "program"], capture_output=True, text=True, check=False)
    said, _, summary = done.stdout.partition("\nprogram, ")
    found = re.search(r"^made (.*)$", said, re.MULTILINE)
    assert found is not None, done.stderr
    lines = [re.sub(r"^ *\d+ s +", "", line) for line in summary.splitlines()[1:]]
    return done.returncode, lines, Path(found[1])


def test_every_step_is_named_with_what_came_of_it() -> None:
    status, lines, made = run(
        'no() { skipped "nobody is there"; }\n'
        'step "the first" true\nstep "asking" no\nstep "last" [ -d "$made" ]'
    )
    assert status == 0
    assert lines == ["done      the first", "SKIPPED   asking (nobody is there)", "done      last"]
    assert not made.exists()


@pytest.mark.parametrize(
    ("failing", "status"),
    [
        ("exit 3", 3),
        ("false; true", 1),
        ("false | cat", 1),
        ("cd /nowhere && true", 1),
        ('echo "$nothing"', 1),
        ("pip() { return 4; }; pip install this && true", 4),
    ],
)
def test_the_first_failure_ends_it_and_is_named(failing: str, status: int) -> None:
    ended, lines, made = run(
        f'work() {{\n{failing}\n}}\nstep "fine" true\nstep "work" work\nstep "never" true'
    )
    assert ended == status
    assert lines == ["done      fine", "FAILED    work"]
    assert not made.exists()


def test_what_comes_after_a_failure_is_tried_too() -> None:
    status, lines, made = run(
        'work() {\ncd /nowhere && true\necho not here\nfalse | cat\ntouch "$made/went-on"\n}\n'
        'try "fine" true\ntry "work" work\ntry "worse" bash -c "exit 3"\n'
        'try "went on" [ -e "$made/went-on" ]\nstep "last" true'
    )
    assert status == 1
    assert lines == [
        "done      fine",
        "FAILED    work",
        "FAILED    worse",
        "FAILED    went on",
        "done      last",
    ]
    assert not made.exists()


@pytest.mark.parametrize(
    ("knows", "pins", "status", "outcome"),
    [("echo PYSEC-2014-8; exit 1", "exit 0", 0, "done"),
     ("echo PYSEC-2014-8; exit 1", "exit 1", 1, "FAILED"),
     ("exit 0", "exit 1", 0, "SKIPPED")],
)  # fmt: skip
def test_an_advisory_service_that_knows_nothing_audits_nothing(
    knows: str, pins: str, status: int, outcome: str, tmp_path: Path
) -> None:
    program = tmp_path / "pip-audit"
    program.write_text(f'#!/bin/sh\ncase "$*" in *weak.txt*) {knows};; *) {pins};; esac\n', "utf-8")
    program.chmod(0o755)
    tools = {**os.environ, "TOOLS": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([CI / "audit"], env=tools, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert f"{outcome} " in done.stdout.splitlines()[-1]


def test_without_its_tool_nothing_is_said_to_be_out_of_reach(tmp_path: Path) -> None:
    tools = {**os.environ, "TOOLS": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([CI / "audit"], env=tools, capture_output=True, text=True, check=False)
    assert done.returncode == 127
    assert "FAILED " in done.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({}, 0),
        ({"killed": 84, "survived": 15}, 1),
        ({"killed": 84, "not_checked": 1}, 1),  # as where mutmut was interrupted: it ends with 0
        ({"killed": 85, "timeout": 0, "suspicious": 1}, 0),
        ({"killed": 10, "total": 20, "skipped": 10}, 0),
        ({"total": 0, "killed": 0}, 1),
    ],
)
def test_only_mistakes_that_a_test_ended_are_noticed(
    changed: dict[str, int], status: int, tmp_path: Path
) -> None:
    stats = {"total": 100, "killed": 85, "survived": 15, "timeout": 0, "skipped": 0, **changed}
    (tmp_path / "stats.json").write_text(json.dumps(stats), "utf-8")
    command = [sys.executable, CI / "noticed.py", tmp_path / "stats.json", "85"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
