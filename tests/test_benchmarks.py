"""The tables of what was measured say what is recorded. Nothing is measured here."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.benchmarks import __main__ as benchmarks
from tests.benchmarks import figures, table, training


def run(program: str, *names: str, **more: object) -> table.Run:
    """A recorded run with a figure of each name."""
    made = [{"what": name, "measured": 2.0, "unit": "ms"} for name in names]
    said = {
        "arguments": "",
        "commit": "abc1234",
        "date": "2026-01-02",
        "machine": "a machine",
        "rooms": ["docs"],
    }
    return {"program": program, **said, "tree": "1", "figures": made, **more}


def test_both_pages_are_what_is_recorded() -> None:
    runs = table.read()
    assert table.PAGE.read_text("utf-8") == table.page(runs)
    readme = table.FRONT.read_text("utf-8")
    assert readme == table.placed(readme, runs)
    assert any(figure.get("front") for run in runs for figure in run["figures"])


def test_the_readme_says_what_was_measured_by_nanogpt_s_protocol() -> None:
    [run] = [run for run in table.read() if run["program"] == "nanogpt_protocol"]
    theirs, _all, ours = (figure["measured"] for figure in run["figures"])
    readme = " ".join(table.FRONT.read_text("utf-8").split())
    assert f"comes to {ours:.3f} nats a character on the held-out text" in readme
    assert f"with 1.4 million parameters, comes to {theirs:.3f}" in readme


def test_each_program_records_figures_of_rooms_that_exist() -> None:
    assert {run["program"] for run in table.read()} <= set(benchmarks.PROGRAMS)
    for name, program in benchmarks.PROGRAMS.items():
        assert "figure(" in (table.PAGE.parent / f"{name}.py").read_text("utf-8"), name
        assert all((table.ROOT / room).exists() for room in program.rooms.split()), name
        assert (program.quick is None) == (program.short == 0), name


def test_of_equals_the_luckiest_is_not_the_best() -> None:
    """What is chosen is held against the candidate that is best at other times."""
    users, lucky = [10.0, 10.0, 10.0], [[16.0, 10.0], [10.0, 16.0], [10.0, 10.0]]
    assert training.against_best(users, lucky) == 1.0
    assert training.against_best([5.0, 6.0, 5.0], [[10.0, 1.0], [12.0, 2.0], [10.0, 1.0]]) == 0.5
    assert training.against_best([9.0], [[10.0, 12.0]]) == 0.75


def test_a_figure_is_kept_as_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures.figure("nowhere", 1)  # a program by itself
    file = tmp_path / "figures.jsonl"
    monkeypatch.setenv(figures.FILE, str(file))
    figures.figure("lost", 0, at_most=0)
    figures.figure("loss", 1.40001, "nats", digits=4, front=True, beside="x|y")
    lost, loss = map(json.loads, file.read_text("utf-8").splitlines())
    assert lost == {"what": "lost", "measured": 0.0, "at_most": 0}
    assert (table.measured(loss), table.limit(loss), table.limit(lost)) == (
        "1.400 nats",
        ("", ""),
        ("at most 0", "yes"),
    )
    page = table.page([run("step", figures=[lost, loss])])
    assert "| loss | 1.400 nats |  |  | x∣y | [step](step.py) | abc1234, 2026-01-02 |" in page
    assert "2 figures; 1 of 1 limits hold" in page


@pytest.mark.parametrize(
    ("measured", "bound", "holds"),
    [(1.5, {"at_most": 1.5}, True), (1.51, {"at_most": 1.5}, False), (1.5, {"at_least": 1.51}, False)],
)
def test_a_limit_holds_up_to_itself(measured: float, bound: dict[str, float], holds: bool) -> None:
    assert (table.limit({"measured": measured, **bound})[1] == "yes") == holds


def test_numbers_are_shown_with_three_digits() -> None:
    shown = [table.number(value, "ms") for value in (0.2312, 4.0, 28.44, 1.027, 114700.0)]
    assert shown == ["0.231 ms", "4 ms", "28.4 ms", "1.03 ms", "114,700 ms"]


def test_a_new_run_takes_the_place_of_what_it_measured() -> None:
    runs = [run("step", "a", "b"), run("page", "a")]
    short, whole = run("step", "b", "c", commit="new"), run("step", "c", commit="new")

    def named(runs: list[table.Run]) -> list[tuple[str, str, list[str]]]:
        return [(r["program"], r["commit"], [one["what"] for one in r["figures"]]) for r in runs]

    other = ("page", "abc1234", ["a"])
    assert named(table.merged(runs, short, whole=False)) == [
        ("step", "abc1234", ["a"]), other, ("step", "new", ["b", "c"])
    ]  # fmt: skip
    assert named(table.merged(runs, whole, whole=True)) == [other, ("step", "new", ["c"])]
    del runs[0]["tree"]  # of code that nobody knows any more
    assert named(table.merged(runs, short, whole=False)) == [other, ("step", "new", ["b", "c"])]


def test_figures_are_old_once_their_code_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "code", lambda rooms: {"docs": "1", "deploy": "2"}[rooms[0]])
    runs = table.marked([run("step", "a"), run("page", "b", rooms=["deploy"])])
    assert [one["old"] for one in runs] == [False, True]
    front = [{**one, "figures": [{**one["figures"][0], "front": True}]} for one in runs]
    assert "| a | 2 ms |" in table.front(front)
    assert "| b | 2 ms † |" in table.front(front)
    assert "†" not in table.front(front[:1])
    assert "abc1234, 2026-01-02 (old)" in table.page(runs)


HANGS = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.argv[1] + ".new", "w").write(str(child.pid))
os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(600)
"""


def test_a_program_that_hangs_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, clock = tmp_path / "pid", time.monotonic
    monkeypatch.setattr(benchmarks, "LOOK", 0.05)
    monkeypatch.setattr(benchmarks.time, "monotonic", lambda: clock() + 3600 * seen.exists())
    with pytest.raises(ValueError, match="not done after 1,800 seconds, and ended"):
        benchmarks.ended([sys.executable, "-c", HANGS, str(seen)], tmp_path / "figures", 1800)
    with contextlib.suppress(psutil.NoSuchProcess):
        child = psutil.Process(int(seen.read_text()))
        until = clock() + 60
        while child.status() != psutil.STATUS_ZOMBIE:  # whoever is to hear of its end may take a moment
            assert clock() < until


def test_a_program_that_fails_keeps_its_figures_and_the_others_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("RECORD", "PAGE", "FRONT"):
        monkeypatch.setattr(table, name, tmp_path / name)
    table.FRONT.write_text(f"before\n{table.BEGIN}\n{table.END}\nafter\n", "utf-8")
    table.RECORD.write_text(json.dumps([run("step", "old", old=False)]), "utf-8")
    line = json.dumps({"what": "new", "measured": 1.0})
    codes = {"step": "exit(3)", "page": "print('nothing')", "rows": f"open(FILE, 'w').write({line!r})"}
    ended = benchmarks.ended

    def instead(command: list[str], file: Path, seconds: float) -> int:
        code = codes[command[2].rsplit(".")[-1]]
        return ended([sys.executable, "-c", f"FILE = {str(file)!r}; {code}"], file, seconds)

    monkeypatch.setattr(benchmarks, "ended", instead)
    monkeypatch.setattr(benchmarks.psutil, "cpu_percent", lambda _: 0.0)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--quick", "--only", *codes])
    with pytest.raises(SystemExit, match="1"):
        benchmarks.main()
    kept = [(one["program"], figure["what"]) for one in table.read() for figure in one["figures"]]
    assert kept == [("step", "old"), ("rows", "new")]
    said = capsys.readouterr().out
    assert "failed: step: exit code 3, 0 figures" in said
    assert "failed: page: exit code 0, 0 figures" in said


def test_only_what_is_asked_for_is_run() -> None:
    known = [run("step", "a", old=False), run("page", "b", old=True)]

    def names(**asked: object) -> list[str]:
        options = {"only": None, "old": False, "quick": False, **asked}
        return benchmarks.chosen(benchmarks.argparse.Namespace(**options), known)

    assert names() == list(benchmarks.PROGRAMS)
    assert "step" not in names(old=True)
    assert "page" in names(old=True)
    assert names(quick=True, only=["hall", "step"]) == ["step"]
    assert 5 < sum(program.short for program in benchmarks.PROGRAMS.values()) / 60 < 20
