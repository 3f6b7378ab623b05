"""Files of earlier versions: each opens and says what it said, or says in a sentence what reads it."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz.cli import main
from rnnviz.errors import CheckpointError, DecodingError
from rnnviz.lab.run import runs
from rnnviz.lab.run.folder import RunFolder
from rnnviz.networks import checkpoint
from rnnviz.scoring.compression import decompress
from tests.support.processes import train_to_its_end

FOLDER = Path(__file__).parent
OLDEST, OLD = FOLDER / "made_by_0_1_0", FOLDER / "made_by_1_0_0"

SENTENCE = "the wet lamp – ß"
PERPLEXITY = {  # of SENTENCE, in float32, by the version that wrote the file
    "made_by_0_1_0/tiny": 73.397306171,
    "made_by_0_1_0/tiny-3gram": 39.107560146,
    "made_by_1_0_0/3gram": 11.710251861,
    "made_by_1_0_0/gru": 61.319470921,
    "made_by_1_0_0/lstm": 60.811049501,
    "made_by_1_0_0/mingru": 49.032208710,
    "made_by_1_0_0/mlp": 38.742057288,
    "made_by_1_0_0/rnn": 42.721494164,
    "made_by_1_0_0/whole": 51.303620254,
}
REMOVED_CELLS = ("minlstm", "rglru", "s6")
KIND = {"3gram": "ngram", "whole": "gru"}
CARD = {
    "characters command corpus example held_out language licence name parameters recipe seed sha256",
    "sha256_held_out sha256_trained_on split title trained_on training_seconds versions",
}
SHIPPED = """chinese-6gram chinese-gru holmes-6gram holmes-lstm holmes-mlp python-6gram python-gru
shakespeare-6gram shakespeare-lstm shakespeare-mingru timemachine-6gram timemachine-gru timemachine-lstm
timemachine-mlp timemachine-rnn"""


@pytest.mark.parametrize("name", PERPLEXITY)
def test_a_model_predicts_what_it_predicted(name: str) -> None:
    for load in (rnnviz.load, checkpoint.load_numpy):
        predictions = rnnviz.perplexity(load(FOLDER / f"{name}.safetensors"), text=SENTENCE)
        assert predictions.perplexity == pytest.approx(PERPLEXITY[name], rel=1e-5)


@pytest.mark.parametrize("name", [name for name in PERPLEXITY if name.startswith("made_by_1")])
def test_a_card_has_what_it_had(name: str) -> None:
    model = rnnviz.load(FOLDER / f"{name}.safetensors")
    kind = Path(name).name
    expected = set(" ".join(CARD).split()) | (set() if kind == "3gram" else {"engine"})
    assert expected <= model.card.keys()
    assert (model.card["name"], model.card["title"]) == (kind, "A lamp and a coat")
    assert model.vocabulary.size == 41
    assert checkpoint.read_info(FOLDER / f"{name}.safetensors").kind == KIND.get(kind, kind)


def test_the_shipped_models_have_their_names() -> None:
    names = {info.name for info in rnnviz.available()[0]}
    assert {checkpoint.current_name(name) for name in SHIPPED.split()} <= names


@pytest.mark.parametrize(
    ("file", "number"),
    [
        *((OLDEST / f"{name}.rnz", 1) for name in ("tiny", "tiny-3gram")),
        *((OLD / f"format{number}.rnz", number) for number in (1, 2, 3)),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_compressed_text_says_which_version_reads_it(file: Path, number: int) -> None:
    model = rnnviz.load(OLD / "gru.safetensors")
    with pytest.raises(DecodingError, match=rf"format {number}.* rnnviz 1\.0\.0 reads it; get it from"):
        decompress(model, file.read_bytes())


def test_a_trace_opens() -> None:
    trace = rnnviz.Trace.load(OLD / "trace.npz")
    now = rnnviz.trace(rnnviz.load(OLD / "gru.safetensors"), "the lamp")
    assert (trace.text, trace.hidden.shape) == ("the lamp", (8, 1, 4))
    np.testing.assert_allclose(trace.hidden, now.hidden, atol=1e-5)
    np.testing.assert_allclose(trace.nll, now.nll, atol=1e-4)


@pytest.fixture(params=[(OLDEST, 23, 18, "tiny"), (OLD, 20, 33, "whole")], ids=["0.1.0", "1.0.0"])
def stopped(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A run that was stopped, in the folder of runs; its text lies elsewhere now."""
    run_path, *rest = request.param
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    folder = Path(shutil.copytree(run_path / "run", tmp_path / "run"))
    for file in folder / "run.json", folder / "events.jsonl":
        file.write_text(file.read_text("utf-8").replace("/home/reader", folder.as_posix()), "utf-8")
    if run_path == OLD:
        shutil.copytree(run_path, tmp_path / "made", ignore=shutil.ignore_patterns("run"))
    return RunFolder(folder), run_path, *rest


@pytest.mark.slow
def test_a_stopped_run_is_shown_and_goes_on_to_the_numbers_of_one_that_was_not(stopped: Any) -> None:
    folder, run_path, step, snapshot, whole = stopped
    run = runs.find("run")
    assert (run.state, run.progress and run.progress["step"]) == ("stopped", step)
    assert run.description["probe"] == "the lamp"
    assert runs.snapshots("run")[-1] == snapshot
    first, now = runs.snapshot("run", 0), runs.snapshot("run")
    assert (first.text, first.step, now.step) == ("the lamp", 0, step)
    train_to_its_end(folder)
    held_out = runs.tail_log("run")[0][-1]["held_out"]
    card = checkpoint.load_numpy(run_path / f"{whole}.safetensors").card
    assert held_out == pytest.approx(card["held_out"]["perplexity"], rel=1e-3)


def test_a_run_that_2_0_0_began_in_bfloat16_on_a_processor_is_shown_and_says_what_goes_on_with_it(
    stopped: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, *_ = stopped
    about = json.loads(folder.path.joinpath("run.json").read_text("utf-8"))
    about["config"]["precision"] = "bfloat16"
    folder.path.joinpath("run.json").write_text(json.dumps(about), "utf-8")
    assert runs.find("run").state == "stopped"
    before = folder.state.read_bytes()
    assert main(["train", "--resume", str(folder.path), "--device", "cpu", "--quiet"]) == 1
    assert "rnnviz 2.0.0 to go on with a run that it began in bfloat16" in capsys.readouterr().err
    assert folder.state.read_bytes() == before


def test_removed_model_kind_is_refused() -> None:
    for cell in REMOVED_CELLS:
        with pytest.raises(
            CheckpointError, match=rf"no longer reads .*{cell}; rnnviz 1\.0\.0 does; get it from"
        ):
            rnnviz.load(OLD / f"{cell}.safetensors")
    with pytest.raises(CheckpointError, match="not a usable rnnviz model"):
        rnnviz.load(OLD / "gru.snapshots.safetensors")  # a story: the Train page replays runs
