"""What proved fastest is kept for a week, and whatever becomes of the file costs another trial at most."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

import pytest

from rnnviz.networks.config import TrainConfig
from rnnviz.networks.threads import Threads
from rnnviz.text.downloads import cache_folder
from rnnviz.training import remembered, speed
from rnnviz.training.speed import Pace

RECIPE = TrainConfig(cell="gru", hidden_size=64, batch=32, steps=32)
FOUND = Pace("float32", Threads([1, 2, 4], {1: 10.0, 2: 15.0}), "torch")


@pytest.fixture
def trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A cache folder of one's own; a line for each trial, which finds FOUND."""
    seen: list[str] = []

    def trial(*_: object, **__: object) -> Pace:
        seen.append("tried")
        return FOUND

    monkeypatch.setenv("RNNVIZ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(speed, "worth_trying", lambda: [1, 2, 4])
    monkeypatch.setattr(speed, "fastest", trial)
    return seen


def chosen() -> tuple[str, int, str]:
    pace = speed.chosen(RECIPE, 30)
    return pace.precision, pace.threads.now, pace.engine


def test_the_suite_has_a_cache_folder_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    assert cache_folder().is_relative_to(tmp_path_factory.getbasetemp())


def test_a_choice_holds_for_a_week_and_no_longer(trials: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    days = 0.0
    monkeypatch.setattr(time, "time", lambda: 1.8e9 + days * 86400)
    for at, expected in ((0.0, 1), (6.9, 1), (7.0, 2), (8.0, 2), (-1.0, 3), (-0.5, 3)):  # -1: it was set back
        days = at
        assert chosen() == ("float32", 2, "torch")
        assert len(trials) == expected
    (cache_folder() / "speeds.json").unlink()  # as `train --help` says
    chosen()
    assert len(trials) == 4
    for _ in range(2):
        remembered.forget()
    chosen()
    assert len(trials) == 5


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("precision", "float16"),
        ("engine", None),
        ("engine", ["torch"]),
        ("counts", [1, 2, 4096]),
        ("counts", [0, 1, 2]),
        ("counts", [1, float("inf")]),
        ("counts", 2),
        ("speeds", {}),
        ("speeds", {"1": 10.0, "2": float("nan")}),
        ("speeds", {"1": 10.0, "2": float("inf")}),
        pytest.param("speeds", {"1": 10**400}, id="fast"),
        ("speeds", {"3": 1.0}),
        ("speeds", [1.0]),
        ("since", "yesterday"),
        pytest.param("since", 10**400, id="far"),
        ("since", float("nan")),
    ],
)
def test_what_nobody_could_have_found_is_tried_anew(trials: list[str], name: str, value: object) -> None:
    chosen()
    file = cache_folder() / "speeds.json"
    [(key, entry)] = json.loads(file.read_text()).items()
    file.write_text(json.dumps({key: {**entry, name: value}}))
    assert chosen() == ("float32", 2, "torch")
    assert len(trials) == 2
    chosen()  # and the file is whole again
    assert len(trials) == 2


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe", b"[" * 10**6, b"null", b'{"x": 1}'],
    ids=["empty", "binary", "deep", "null", "other"],
)
def test_a_damaged_file_is_written_anew(trials: list[str], content: bytes) -> None:
    file = cache_folder() / "speeds.json"
    file.parent.mkdir()
    file.write_bytes(content)
    for _ in range(2):
        chosen()
    assert len(trials) == 1


def test_where_nothing_can_be_written_each_run_tries(trials: list[str]) -> None:
    cache_folder().write_text("a file where the folder should be")
    for _ in range(2):
        assert chosen() == ("float32", 2, "torch")
    assert len(trials) == 2


@pytest.mark.parametrize("cache", ["~nobody-of-this-name/cache", "~"])
def test_without_a_home_folder_nothing_is_kept(
    trials: list[str], cache: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RNNVIZ_CACHE", cache)
    # For a user without one Path.expanduser raises, and platformdirs leaves the "~".
    monkeypatch.setattr(Path, "expanduser", lambda path: path if cache == "~" else _raise())
    chosen()
    assert trials == ["tried"]
    assert not list(tmp_path.iterdir())


def _raise() -> Path:
    raise RuntimeError("Could not determine home directory.")


def test_several_writers_leave_a_whole_file(trials: list[str]) -> None:
    value = {"precision": "float32", "engine": "auto", "counts": [1], "speeds": {"1": 1.0}}

    def write(name: str) -> None:
        for n in range(20):
            remembered.remember(f"{name}{n}", value)

    writers = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    kept = json.loads((cache_folder() / "speeds.json").read_text())
    assert 20 <= len(kept) <= 60  # what one wrote while another had read may be lost: a trial more
    assert os.listdir(cache_folder()) == ["speeds.json"]


def test_a_processor_without_a_name_is_this_computers(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    nameless = remembered.processor(file)
    assert remembered.platform.node() in nameless
    for text in ("", "processor\t: 0\nisa\t: rv64imafdc\n"):
        file.write_text(text)
        assert remembered.processor(file) == nameless
    file.write_text("processor\t: 0\nmodel name\t: X 5\nflags\t: fast\n\nprocessor\t: 1\nmodel name\t: X 5\n")
    assert remembered.processor(file) == "model name\t: X 5\nflags\t: fast"
