"""A deleted run comes back as it was, until the program that deleted it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rnnviz.errors import TrainingError
from rnnviz.runs import api as runs
from rnnviz.runs import deleted
from tests.runs.made_runs import made

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_run_comes_back_as_it_was() -> None:
    before = files(made("one", created=1.0))
    made("two", created=2.0)
    runs.delete("one", restorable=True)
    assert [run.id for run in runs.listed()] == ["two"]
    with pytest.raises(TrainingError, match="there is no run 'one'"):
        runs.find("one")
    (aside,) = deleted.deleted()
    assert aside.id == "one"
    assert deleted.restore(aside.path) == "one"
    after = files(runs.home() / "one")
    assert {k: v for k, v in after.items() if k != "lock"} == {k: v for k, v in before.items() if k != "lock"}
    assert (runs.find("one").state, runs.snapshots("one")) == ("finished", [0, 1, 3, 10, 30])
    assert deleted.deleted() == []
    with pytest.raises(TrainingError, match="restored, or deleted for good"):
        deleted.restore(aside.path)


def test_one_whose_name_is_taken_gets_a_number_and_the_newest_is_first() -> None:
    for created in (1.0, 2.0, 3.0):
        made("one", created=created)
        runs.delete("one", restorable=True)
    made("one", created=4.0)
    asides = deleted.deleted()
    assert [one.when for one in asides] == sorted((one.when for one in asides), reverse=True)
    assert [deleted.restore(one.path) for one in asides] == ["one-2", "one-3", "one-4"]
    assert [(run.id, run.created) for run in runs.listed()] == [
        ("one", 4.0),
        ("one-2", 3.0),
        ("one-3", 2.0),
        ("one-4", 1.0),
    ]


def test_for_good_is_for_good(home: Path) -> None:
    made("one")
    runs.delete("one")
    made("two")
    runs.delete("two", restorable=True)
    deleted.remove(deleted.deleted()[0].path)
    assert deleted.deleted() == []
    assert [p for p in home.iterdir() if p.is_dir()] == []


def test_what_a_program_deleted_goes_when_it_ends_or_was_killed(home: Path) -> None:
    """`atexit` in the first; the second is killed, and the next program that looks removes what it left."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    code = "import os\nfrom rnnviz.runs import api, deleted\napi.delete('one', restorable=True)\n"
    code += "(one,) = deleted.deleted()\nprint(one.path.is_dir())\n"
    made("one")
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
    assert [p for p in home.iterdir() if p.is_dir()] == []
    made("one")
    made("mine")
    runs.delete("mine", restorable=True)
    subprocess.run([sys.executable, "-c", code + "os._exit(9)"], env=env, capture_output=True)
    assert len([p for p in home.iterdir() if p.is_dir()]) == 2
    assert [one.id for one in deleted.deleted()] == ["mine"]
    assert len([p for p in home.iterdir() if p.is_dir()]) == 1


def test_what_another_living_program_deleted_is_left_to_it(home: Path) -> None:
    path = made("one").rename(home / f".deleted-one-{os.getppid()}-{2**62}")
    assert deleted.deleted() == []
    assert path.is_dir()
    with pytest.raises(TrainingError):
        deleted.restore(path)
