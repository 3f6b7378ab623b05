"""What programs read of rnnviz: keys of `--json`, columns of CSV files, events of a run. See json.json."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from rnnviz import follow
from rnnviz.cli import main
from rnnviz.figures import export
from rnnviz.lab.pages.train import run_comparison
from rnnviz.lab.run import runs
from rnnviz.lab.run.folder import Description, RunFolder
from rnnviz.networks.checkpoint import read_info, save
from rnnviz.networks.config import TrainConfig
from rnnviz.networks.ngram import NgramModel
from rnnviz.scoring.perplexity import perplexity
from rnnviz.ui.pages.perplexity import download
from tests.support.built import VOCABULARY, built, quoted
from tests.support.processes import events, progressed, train
from tests.support.waiting import until

TABLE = {
    tuple(row[:2]): row[2] for row in json.loads(Path(__file__).with_name("json.json").read_text("utf-8"))
}
KINDS = {bool: "yes or no", int: "number", float: "number", str: "text", list: "list", dict: "object"}


def kinds(value: Any, at: str = "") -> dict[str, set[str]]:
    """Every key in a value, with the kinds of what stands there: {"units[].loss": {"number"}, …}."""
    if isinstance(value, dict) and value:
        entry = [(f"{at}.{key}" if at else key, item) for key, item in value.items()]
    elif isinstance(value, list) and value:
        entry = [(f"{at}[]", item) for item in value]
    else:
        return {at: {KINDS.get(type(value), "null")}}
    types: dict[str, set[str]] = {}
    for path, item in entry:
        for key, kind in kinds(item, path).items():
            types.setdefault(key, set()).update(kind)
    return types


def check(about: str, name: str, objects: list[dict[str, Any]]) -> None:
    """No key that is stored is missing or of another kind; what was or is null may be anything."""
    assert objects, f"no {about} {name} any more"
    entry = list(map(kinds, objects))
    shared = [key for key in entry[0] if all(key in value for value in entry)]
    now = {key: ", ".join(sorted(set().union(*(value[key] for value in entry)))) for key in shared}
    assert TABLE.get((about, name)), json.dumps([about, name, now], ensure_ascii=False)
    lost = []
    for key, was in TABLE[about, name].items():
        above = [key[: types.start()] for types in re.finditer(r"[.\[]|$", key)]
        if was in ("null", "list", "object"):
            same = any(value == key or value.startswith((f"{key}.", f"{key}[")) for value in now)
        else:
            same = set(now.get(key, "").split(", ")) - {"null"} == set(was.split(", ")) - {"null"}
        if not same and not any(now.get(value) == "null" for value in above):
            lost.append(f"{key} was {was}, and is {now.get(key, 'missing')}")
    assert not lost, f"{name}: " + "; ".join(lost)


def check_columns(name: str, text: str) -> None:
    """No column that is stored is missing."""
    now = text.splitlines()[0]
    assert TABLE.get(("csv", name)), json.dumps(["csv", name, now])
    lost = set(TABLE["csv", name].split(",")) - set(now.split(","))
    assert not lost, f"{name} has no column {', '.join(lost)} any more"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a network whose units are known, counts, and texts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path])
    save(built(), tmp_path / "built.safetensors")
    counts = NgramModel.fit(quoted(), order=3, vocabulary=VOCABULARY, name="counts")
    save(counts, tmp_path / "counts.safetensors")
    lines = [json.dumps({"asked": "ab", "text": quoted(n)}) + "\n" for n in (100, 200)]
    (tmp_path / "rows.jsonl").write_text("".join(lines), "utf-8")
    (tmp_path / "taken.jsonl").write_text("".join(lines).replace("asked", "nll"), "utf-8")
    (tmp_path / "quoted.txt").write_text(quoted(20_100), "utf-8")
    (tmp_path / "short.txt").write_text(quoted(900), "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("about", "command"), [row for row in TABLE if row[0] in ("json", "csv") and " " in row[1]]
)
def test_command_keeps_its_json_keys(
    about: str, command: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command.split()) == 0
    written = [path.read_text("utf-8") for path in files.glob("out.*")]
    text = "".join(written) or capsys.readouterr().out
    if about == "csv":
        check_columns(command, text)
    else:
        check(about, command, [json.loads(line) for line in text.splitlines()])


def test_card_keeps_its_unit_keys(files: Path) -> None:
    words = "--target quotes --target vowel --target digit --untrained 1 --shifts 99 --card"
    assert main(["units", "-m", "built", "-f", "quoted.txt", *words.split()]) == 0
    check("card", "units", [read_info(files / "built.safetensors").card["units"]])


def test_perplexity_page_keeps_its_columns() -> None:
    scores = [perplexity(built(), text=quoted(900))]
    check_columns("perplexity.csv", download.as_csv(scores))
    check("json", "perplexity.json", json.loads(download.as_json(scores)))


def test_run_keeps_its_event_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One run that comes to its end, one that is stopped, one whose text is gone, one of another program."""
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path))
    text = "".join(random.Random(0).choices("ab", k=3000))
    config = TrainConfig(
        cell="rnn", hidden_size=4, embedding_size=0, precision="float32", batch=4, epochs=2, steps=10,
        evaluate_every=20, learning_rate=0.03,
    )  # fmt: skip
    folders = {name: RunFolder(tmp_path / name) for name in ("whole", "stopped", "failed")}
    for name, folder in folders.items():
        folder.path.mkdir()
        folder.begin(Description(name, config, text=text, threads=1, engine="torch"))
    folders["failed"].text.unlink()
    processes = [
        train(value.path, step_seconds=0.05 * (name == "stopped")) for name, value in folders.items()
    ]
    with follow("followed", total=2) as run:
        run.log(1, loss=1.0, validation_loss=1.0, learning_rate=0.1, gradient_norm=1.0)
    until(lambda: progressed(folders["stopped"]))
    runs.stop("stopped")
    for process in processes:
        process.join()
    run_events = {
        "event of another program": events(RunFolder(run.path)),
        "event": [event for folder in folders.values() for event in events(folder)],
    }
    for about, name in TABLE:
        if about in run_events:
            check(about, name, [event for event in run_events[about] if event["event"] == name])
    check_columns("runs.csv", export.csv_text([run_comparison.row(run) for run in runs.listed()]))
