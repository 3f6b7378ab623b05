"""Run folders as accidents and strangers may leave them: one of them costs itself, not the list."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.errors import RnnvizError, TrainingError
from rnnviz.figures import training
from rnnviz.runs import api as runs
from rnnviz.runs import event_log, queue, replay
from rnnviz.runs.folder import RunFolder
from tests.networks.test_damaged_files import JSON, places, put
from tests.runs.made_runs import made

FILES = ("run.json", "events.jsonl", "lock", "stop", "probe.safetensors", "best.safetensors", "text.txt")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of runs with a sound one, "sound"."""
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path / "runs"))
    made("sound", created=1.0)
    return runs.home()


def described(path: Path, **values: Any) -> None:
    file = path / "run.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **values}))


def logged(path: Path, *lines: str) -> None:
    with (path / "events.jsonl").open("a") as file:
        file.writelines(f"{line}\n" for line in lines)


def instead(name: str, make: Callable[[Path], object]) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        (path / name).unlink(missing_ok=True)
        make(path / name)

    return change


DAMAGE: dict[str, Callable[[Path], object]] = {
    "a time that is none": lambda path: described(path, created="x"),
    "a title that is none": lambda path: described(path, title=["x"]),
    "half a surrogate pair": lambda path: described(path, title="\ud800", language="\udfff"),
    "a title of 2 MB": lambda path: described(path, title="x" * 2**21),
    "a recipe that is none": lambda path: described(path, config={"cell": "x" * 10**6}),
    "deep nesting": lambda path: (path / "run.json").write_text("[" * 10**5),
    "deep events": lambda path: logged(path, "[" * 10**5, '{"event":' * 900 + "1" + "}" * 900),
    "steps that are none": lambda path: logged(
        path, '{"event": "progress", "step": "x"}', '{"event": "start", "resumed_at": 3}'
    ),
    "numbers that are none": lambda path: logged(path, '{"event": "report", "seconds": 1e999, "step": null}'),
    **{f"a folder named {name}": instead(name, Path.mkdir) for name in FILES},
    **{f"a pipe named {name}": instead(name, os.mkfifo) for name in FILES},
    **{f"an endless {name}": instead(name, lambda path: path.symlink_to("/dev/zero")) for name in FILES},
}


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices")
@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_run_is_listed_as_such_beside_the_others_and_can_be_deleted(home: Path, kind: str) -> None:
    DAMAGE[kind](made("odd", created=2.0))
    looked_at("odd")
    runs.delete("odd")
    assert [run.id for run in runs.listed()] == ["sound"]


def test_a_damaged_description_is_told(home: Path) -> None:
    described(made("odd", created=2.0), created="x")
    assert "created is a Unix time; received 'x'" in runs.find("odd").reason


def test_a_run_of_a_cell_that_is_gone_says_which_version_reads_it(home: Path) -> None:
    path = made("odd", created=2.0)
    described(path, config={**json.loads((path / "run.json").read_text())["config"], "cell": "rglru"})
    said = (
        "this version no longer reads or trains the cell rglru; rnnviz 1.0.0 does: "
        'pip install "rnnviz[app]==1.0.0"'
    )
    assert runs.find("odd").reason == said
    with pytest.raises(TrainingError) as caught:
        RunFolder(path).description()
    assert str(caught.value) == said


@pytest.mark.skipif(os.name != "posix", reason="names that are bytes")
def test_a_folder_whose_name_is_no_text_hides_no_run(home: Path) -> None:
    shutil.copytree(home / "sound", home / os.fsdecode(b"odd\xff"))
    assert [run.id for run in runs.listed()] == ["sound"]


def test_a_run_that_trains_is_not_deleted_whatever_else_is_damaged(home: Path) -> None:
    path = made("odd")
    described(path, created="x")
    with RunFolder(path).take_lock(), pytest.raises(TrainingError, match="is alive"):
        runs.delete("odd")
    assert path.is_dir()


def looked_at(id: str) -> None:
    """Do with the run all that a page does that shows it; only RnnvizErrors may come out."""
    listed = runs.listed()
    assert {run.id for run in listed} == {"sound", id}
    for run in listed:
        json.dumps([run.description, run.last, run.report], ensure_ascii=False, allow_nan=False)
        run.name.encode()
    run = runs.find(id)
    config = run.description.get("config") or {}
    training.curves(runs.follow(id)[0], clip=float(config.get("clip", 1.0)))
    queue.ahead(RunFolder(run.path))
    for step in [None, *runs.snapshots(id)]:
        try:
            runs.snapshot(id, step)
        except TrainingError:
            continue
    try:
        file = replay.write(id, run.path.parent / f"{id}{replay.SUFFIX}")
        told = replay.read(file)
    except RnnvizError:
        return
    training.curves(told.events)


@given(data=st.data())
def test_whatever_is_written_in_a_run_only_words_come_out(
    data: st.DataObject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path / "runs"))
    shutil.rmtree(runs.home(), ignore_errors=True)
    made("sound", created=1.0)
    path = made("odd", created=2.0)
    kinds = data.draw(
        st.lists(st.sampled_from(["description", "event", "bytes", "bytes"]), min_size=1, max_size=3)
    )
    for kind in sorted(
        kinds, key=["description", "event", "bytes"].index
    ):  # bytes last: it is read here, too
        if kind == "description":
            values = json.loads((path / "run.json").read_text())
            put(values, data.draw(st.sampled_from(places(values))), data.draw(JSON))
            (path / "run.json").write_text(json.dumps(values))
        elif kind == "event":
            events, _ = event_log.read(path / "events.jsonl")
            event = data.draw(st.sampled_from(events))
            put(event, data.draw(st.sampled_from(places(event))), data.draw(JSON))
            logged(path, json.dumps(event))
        else:
            file = data.draw(st.sampled_from([p for p in sorted(path.rglob("*")) if p.is_file()]))
            whole = bytearray(file.read_bytes())
            if whole:
                at = data.draw(st.integers(0, len(whole) - 1))
                whole[at] = data.draw(st.integers(0, 255))
                file.write_bytes(whole[: data.draw(st.integers(1, len(whole)) | st.just(len(whole)))])
    looked_at("odd")


@given(data=st.data())
def test_whatever_is_written_in_a_replay_only_words_come_out(
    data: st.DataObject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path / "runs"))
    shutil.rmtree(runs.home(), ignore_errors=True)
    made("sound", created=1.0)
    path = replay.write("sound", tmp_path / f"sound{replay.SUFFIX}")
    whole = path.read_bytes()
    length = int.from_bytes(whole[:8], "little")
    raw = json.loads(whole[8 : 8 + length])
    about = json.loads(raw["__metadata__"]["story"])
    put(about, data.draw(st.sampled_from(places(about))), data.draw(JSON))
    raw["__metadata__"]["story"] = json.dumps(about)
    written = json.dumps(raw).encode()
    path.write_bytes(len(written).to_bytes(8, "little") + written + whole[8 + length :])
    try:
        told = replay.read(path)
    except RnnvizError:
        return
    training.curves(told.events)
    for step in told.steps:
        told.snapshot(step)
