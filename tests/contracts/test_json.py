"""What programs read of rnnviz: the keys of `--json`, the columns of CSV files, the events of a run's folder."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from rnnviz.cli import main
from rnnviz.figures import spreadsheet
from rnnviz.networks.checkpoint import save
from rnnviz.networks.config import TrainConfig
from rnnviz.networks.ngram import NgramModel
from rnnviz.reading.scoring import perplexity
from rnnviz.runs import api as runs
from rnnviz.runs import follow
from rnnviz.runs.folder import Description, RunFolder
from rnnviz.ui.pages.perplexity import take
from rnnviz.ui.pages.train import compare
from tests.runs.processes import events, progressed, train, until
from tests.units.built import VOCABULARY, built, quoted

ROWS = json.loads(Path(__file__).with_name("json.json").read_text("utf-8"))
TABLE = {(kind, name): stored for kind, name, stored in ROWS}

JSON = {
    "models": "models --json",
    "perplexity": "perplexity quoted.txt -m built --json",
    "perplexity of rows": "perplexity rows.jsonl -m built --column text --given asked --json",
    "perplexity --compare": "perplexity quoted.txt -m built --compare counts --json",
    "perplexity --output rows.jsonl": "perplexity rows.jsonl -m built --column text --output out.jsonl",
    "trace": "trace “ab” -m built --format json",
    "trace --quantity": "trace “ab” -m built --quantity hidden --format json",
    "units": "units -m built -f quoted.txt --target quotes --untrained 1 --shifts 99 --json",
    "units, the same throughout": "units -m built -f short.txt --pattern q --untrained 0 --json",
    "probe": "probe -m built -f quoted.txt --target quotes --untrained 1 --controls 1 --weights --json",
    "probe, the same throughout": "probe -m built -f short.txt --pattern q --untrained 0 --json",
    "match": "match -m built -f quoted.txt --text “abc” --span 1:3 --threshold 0.9 --untrained 1 --json",
    "ablate": "ablate -m built -f short.txt --target quotes --controls 2 --json",
    "connectivity": "connectivity -m built -f quoted.txt --lags 9 --json",
    "connectivity --at": "connectivity -m built “abc” --at 3 --json",
    "attribute": "attribute -m built “abc” --target d --against e --json",
    "perturb": "perturb -m built “abc” --position 1 --character d --json",
    "patch": "patch -m built --source “abc --target abcd --to 2 --units 1 --unrelated abcdefg --json",
    "patch --direction": "patch -m built --source “abc --target abcd --to 2 --direction difference:quotes "
    "-f short.txt --json",
}
GIVEN_UP = {"match": ("annotations", "matches[].annotations")}
"""Keys that 1.0.0 has, and nothing keeps."""

CSV = {
    "trace": "trace “ab” -m built",
    "trace --quantity": "trace “ab” -m built --quantity hidden",
    "perplexity --per-character": "perplexity short.txt -m built --per-character out.csv",
    "perplexity --output": "perplexity rows.jsonl -m built --column text --output out.csv",
    "perplexity --output, a name taken": "perplexity taken.jsonl -m built --column text --output out.csv",
}
KINDS = {bool: "yes or no", int: "number", float: "number", str: "text", list: "list", dict: "object"}


def kinds(value: Any, at: str = "") -> dict[str, set[str]]:
    """Every key in a value, with the kinds of what stands there: {"units[].loss": {"number"}, …}."""
    if isinstance(value, dict) and value:
        each = [(f"{at}.{key}" if at else key, one) for key, one in value.items()]
    elif isinstance(value, list) and value:
        each = [(f"{at}[]", one) for one in value]
    else:
        return {at: {KINDS.get(type(value), "null")}}
    found: dict[str, set[str]] = {}
    for path, one in each:
        for key, kind in kinds(one, path).items():
            found.setdefault(key, set()).update(kind)
    return found


def shape(objects: list[dict[str, Any]], without: tuple[str, ...] = ()) -> dict[str, str]:
    """The keys that all of several objects have."""
    each = list(map(kinds, objects))
    shared = [key for key in each[0] if all(key in one for one in each) and key not in without]
    return {key: ", ".join(sorted(set().union(*(one[key] for one in each)))) for key in shared}


def check(kind: str, name: str, now: dict[str, str]) -> None:
    """Nothing that is stored is missing or of another kind; what was or is null may be anything."""
    assert (kind, name) in TABLE, (
        f"A row for json.json:\n{json.dumps([kind, name, now], ensure_ascii=False)},"
    )
    lost = []
    for path, was in TABLE[kind, name].items():
        above = [path[: found.start()] for found in re.finditer(r"[.\[]|$", path)]
        below = any(key == path or key.startswith((f"{path}.", f"{path}[")) for key in now)
        is_now = set(now.get(path, "missing").split(", "))
        same = (
            below
            if was in ("null", "list", "object")
            else is_now - {"null"} == set(was.split(", ")) - {"null"}
        )
        if not same and not any(now.get(key) == "null" for key in above):
            lost.append(f"{path} was {was}, and is {now.get(path, 'missing')}")
    assert not lost, f"{kind} {name}: " + "; ".join(lost)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a network whose units are known, counts, and texts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    monkeypatch.setenv("RNNVIZ_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path / "models"])
    save(built(), tmp_path / "models" / "built.safetensors")
    counts = NgramModel.fit(quoted(), order=3, vocabulary=VOCABULARY, name="counts")
    save(counts, tmp_path / "models" / "counts.safetensors")
    rows = [{"asked": "ab", "text": quoted(n), "nll": 1} for n in (100, 200)]
    for name, keys in (("rows", ("asked", "text")), ("taken", ("text", "nll"))):
        lines = [json.dumps({key: row[key] for key in keys}) + "\n" for row in rows]
        (tmp_path / f"{name}.jsonl").write_text("".join(lines), "utf-8")
    (tmp_path / "quoted.txt").write_text(quoted(20_100), "utf-8")
    (tmp_path / "short.txt").write_text(quoted(900), "utf-8")
    return tmp_path


@pytest.mark.parametrize("name", JSON)
def test_a_command_prints_the_keys_that_it_printed(
    name: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(JSON[name].split()) == 0
    out = files / "out.jsonl"
    said = out.read_text("utf-8") if out.exists() else capsys.readouterr().out
    check("json", name, shape([json.loads(line) for line in said.splitlines()], GIVEN_UP.get(name, ())))


def header(name: str, text: str) -> None:
    """The first line of a CSV file has the columns that it had."""
    now = text.splitlines()[0]
    assert ("csv", name) in TABLE, f"A row for json.json:\n{json.dumps(['csv', name, now])},"
    lost = set(TABLE["csv", name].split(",")) - set(now.split(","))
    assert not lost, f"{name} has no column {', '.join(lost)} any more"


@pytest.mark.parametrize("name", CSV)
def test_a_table_has_the_columns_that_it_had(
    name: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(CSV[name].split()) == 0
    out = files / "out.csv"
    header(name, out.read_text("utf-8") if out.exists() else capsys.readouterr().out)


def test_a_results_download_has_the_keys_that_it_had(files: Path) -> None:
    reports = [perplexity(built(), text=quoted(900))]
    header("the page's perplexity.csv", take.as_csv(reports))
    check("json", "the page's perplexity.json", shape(json.loads(take.as_json(reports))))


def test_a_run_tells_what_it_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One run that comes to its end, one that is stopped, one whose text is gone, one of another program."""
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path))
    text = "".join(random.Random(0).choices("ab", k=3000))
    small = {"cell": "rnn", "hidden_size": 4, "embedding_size": 0, "precision": "float32"}
    config = TrainConfig(**small, epochs=2, batch=4, steps=10, evaluate_every=20, learning_rate=0.03)
    folders = {name: RunFolder(tmp_path / name) for name in ("whole", "stopped", "failed")}
    for name, folder in folders.items():
        folder.path.mkdir()
        folder.begin(Description(name, config, text=text, threads=1, engine="torch"))
    folders["failed"].text.unlink()
    processes = [train(f.path, step_seconds=0.05 * (name == "stopped")) for name, f in folders.items()]
    with follow("followed", total=2) as run:
        run.log(1, loss=1.0, validation_loss=1.0, learning_rate=0.1, gradient_norm=1.0)
    until(lambda: progressed(folders["stopped"]))
    runs.stop("stopped")
    for process in processes:
        process.join()
    told = [event for folder in folders.values() for event in events(folder)]
    for kind in ("starting", "start", "progress", "report", "passed", "finished", "stopped", "failed"):
        check("event", kind, shape([event for event in told if event["event"] == kind]))
    for kind in ("start", "progress", "report", "finished"):
        check("event", f"{kind}, of another program", shape(events(RunFolder(run.path), kind)))
    header("the page's runs.csv", spreadsheet.of([compare.row(run) for run in runs.listed()]))
