"""events.jsonl: appended, followed by its size, cut off anywhere, and told again after a resume."""

import itertools
import json
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from rnnviz.lab.run import event_log
from rnnviz.lab.run.event_log import append, merge_events, newest_events, read


def steps(events: list[dict[str, Any]]) -> list[int]:
    return [e["step"] for e in events if e["event"] == "progress"]


def progress(*numbers: int) -> list[dict[str, Any]]:
    return [{"event": "progress", "step": n} for n in numbers]


DAMAGED = [
    b"[1, 2]", b"7", b'{"event": 3}', b"\xff\xfe", b"[" * 10**5, b'{"event":' * 900 + b"1" + b"}" * 900,
    b'{"event": "report", "step": 1e999}', b'{"event": "progress", "step": "x", "seconds": []}',
]  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.jsonl"


def write(path: Path, events: list[dict[str, Any]]) -> None:
    for event in events:
        append(path, event)


def test_a_follower_gets_every_event_once(path: Path) -> None:
    assert read(path) == ([], 0)
    write(path, progress(1, 2))
    first, at = read(path)
    write(path, progress(3))
    second, end = read(path, at)
    assert steps(first) == [1, 2]
    assert steps(second) == [3]
    assert read(path, end) == ([], end)
    assert end == path.stat().st_size


def test_a_half_written_line_waits_and_a_damaged_one_is_skipped(path: Path) -> None:
    write(path, progress(1))
    with path.open("ab") as file:
        file.write(b'{"event": "progress", "st')
    events, at = read(path)
    assert steps(events) == [1]
    with path.open("ab") as file:
        file.write(b"\n".join([b'ep": 2}', *DAMAGED, b""]))
    events, at = read(path, at)
    assert events == progress(2)
    with path.open("ab") as file:
        file.write(b'{"event": "progress", "step": 9')  # and killed
    write(path, progress(3))
    assert steps(read(path, at)[0]) == [3]
    assert steps(read(path)[0]) == [1, 2, 3]


def test_every_place_where_a_file_can_be_cut_leaves_something_to_read(path: Path) -> None:
    write(path, progress(1, 2))
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        append(path, {"event": "progress", "step": 3})
        assert steps(read(path)[0]) in ([3], [1, 3], [1, 2, 3])
        assert path.read_bytes().endswith(b"\n")


def test_resumed_run_logs_repeated_events_once(path: Path) -> None:
    report = {"event": "report", "step": 30}
    write(path, [*progress(10, 20), {"event": "passed", "step": 20}, *progress(30), report])
    logged, at = read(path)
    write(path, [{"event": "failed"}, {"event": "start", "resumed_at": 15}, *progress(21, 33)])
    assert steps(read(path)[0]) == [10, 21, 33]
    assert [e["event"] for e in read(path)[0]] == ["progress", "failed", "start", "progress", "progress"]
    new, _ = read(path, at)
    assert merge_events(logged, new) == read(path)[0]


def test_numbers_that_json_does_not_have_become_null(path: Path) -> None:
    append(path, {"event": "progress", "step": 1, "norm": float("inf"), "more": {"x": [float("nan"), 1.5]}})
    assert json.loads(path.read_text("utf-8")) == {
        "event": "progress", "step": 1, "norm": None, "more": {"x": [None, 1.5]},
    }  # fmt: skip


def test_the_newest_of_each_kind_is_found_from_the_end_and_kept_up_to_date(path: Path) -> None:
    assert newest_events(path).state_event is None
    write(path, [{"event": "start", "resumed_at": 0}, {"event": "report", "step": 5}])
    path.write_bytes(path.read_bytes() + b"".join(b'{"event": "progress", "step": 6}\n' for _ in range(3000)))
    entry = newest_events(path)
    assert entry.state_event == {"event": "start", "resumed_at": 0}
    assert (entry.progress, entry.report) == (
        {"event": "progress", "step": 6},
        {"event": "report", "step": 5},
    )
    write(path, progress(7))
    assert newest_events(path).progress == {"event": "progress", "step": 7}
    write(path, [{"event": "start", "resumed_at": 5}])
    assert (newest_events(path).progress, newest_events(path).report) == (
        None,
        {"event": "report", "step": 5},
    )
    path.unlink()
    write(path, [{"event": "queued"}])  # another file of this name
    assert newest_events(path).state_event == {"event": "queued"}
    assert newest_events(path).report is None


def test_the_newest_reads_the_end_alone(path: Path) -> None:
    path.write_bytes(b"".join(b'{"event": "progress", "step": %d}\n' % n for n in range(100_000)))
    write(path, [{"event": "report", "step": 9}, {"event": "finished"}])
    tracemalloc.start()
    assert newest_events(path).state_event == {"event": "finished"}
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < path.stat().st_size / 10


def test_a_file_that_only_says_it_is_long_is_not_read_to_its_end(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    max_bytes = 8 * event_log.MAX_LINE_BYTES
    monkeypatch.setattr(event_log, "MAX_LOG_BYTES", max_bytes)
    write(path, [{"event": "start", "resumed_at": 0}, *progress(1)])
    with path.open("r+b") as file:
        file.truncate(3 * 10**9)
    tracemalloc.start()
    events, at = read(path)
    newest_events(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert steps(events) == [1]
    assert peak < max_bytes
    assert max_bytes <= at < max_bytes + event_log.MAX_LINE_BYTES
    assert read(path, at) == ([], at)


def test_a_validation_figure_is_called_so_and_read_by_its_earlier_name(path: Path) -> None:
    path.write_text('{"event": "report", "step": 4, "held_out_perplexity": 5.0}\n', "utf-8")
    report = {"event": "report", "step": 4, "validation_perplexity": 5.0}
    assert read(path)[0] == [report]
    append(path, report)
    assert json.loads(path.read_text("utf-8").splitlines()[1]) == report
    assert newest_events(path).report == report


def test_of_very_many_of_a_kind_some_are_read_with_the_first_and_the_newest_and_the_rarer_all(
    path: Path,
) -> None:
    lines = [json.dumps({"event": "progress", "step": n}) for n in range(60_000)]
    lines[100:100] = [json.dumps({"event": "report", "step": n}) for n in range(90, 100)]
    lines[30_000:30_000] = ['{"event": "passed", "step": 4}', '{"event":"start","resumed_at":50000}']
    path.write_text("\n".join(lines) + "\n", "utf-8")
    parsed = 0

    def counted(line: bytes) -> Any:
        nonlocal parsed
        parsed += 1
        return json.loads(line)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(event_log, "json", type("Counted", (), {"loads": staticmethod(counted)}))
        events, at = read(path)
    assert parsed < 3 * event_log.MAX_LINES_KIND
    assert at == path.stat().st_size
    steps_read = steps(events)
    assert (steps_read[0], steps_read[-event_log.NEWEST_LINES :]) == (
        0,
        list(range(60_000 - event_log.NEWEST_LINES, 60_000)),
    )
    assert (
        event_log.MAX_LINES_KIND / 2 <= len(steps_read) <= event_log.MAX_LINES_KIND + event_log.NEWEST_LINES
    )
    assert max(b - a for a, b in itertools.pairwise(steps_read)) == 64
    assert [e["step"] for e in events if e["event"] in ("report", "passed")] == [*range(90, 100), 4]
    write(path, progress(60_000))
    assert steps(read(path, at)[0]) == [60_000]


def test_very_many_starts_are_told_apart_in_one_pass() -> None:
    logged = [e for n in range(20_000) for e in (*progress(n), {"event": "start", "resumed_at": n})]
    began = time.process_time()
    assert len(merge_events([], logged)) == len(logged)
    assert len(merge_events(logged, [{"event": "start", "resumed_at": 9}])) == 20_000 + 10 + 1
    assert time.process_time() - began < 10  # a pass for each start took minutes


def test_a_call_takes_a_number_of_lines_and_the_next_goes_on(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_log, "MAX_LINES", 3)
    write(path, progress(1, 2, 3, 4))
    events, at = read(path)
    assert (steps(events), steps(read(path, at)[0])) == ([1, 2, 3], [4])
