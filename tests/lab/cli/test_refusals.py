"""What a command that looks inside or trains refuses: exit code 1, and one plain line on standard error."""

from pathlib import Path

import pytest

from rnnviz.networks.checkpoint import save
from tests.support.built import built
from tests.support.commands import Run, refuse
from tests.support.models import TEXT, tiny
from tests.support.refused import assert_one_sentence

BOOK = ["--file", "book.txt"]
DEEP = ["-m", "deep.safetensors"]
GRU = ["-m", "tiny-gru"]
COUNTS = ["-m", "tiny-3gram"]
PASSAGE = [*GRU, *BOOK, "--text", TEXT[:60], "--span", "7:12", "--threshold", "0.05"]
PATCH = [*DEEP, "--source", "The Time", "--into", "a machine", "--to", "4"]
PROBE = ["-m", "built.safetensors", *BOOK, "--controls", "2", "--quiet"]
TRAIN = ["train", "--corpus", "machine", "--name", "x"]

NO_STATE = "counts n-grams"

REFUSED: dict[str, tuple[list[str], str]] = {
    "attribute: at": (["attribute", *GRU, "The Time", "--at", "99"], "received 99"),
    "connectivity: at": (["connectivity", *DEEP, "machine", "--at", "9"], "received 9"),
    "connectivity: lags": (["connectivity", "ab", "--lags", "5", *DEEP], "received 5 lags and 2 characters"),
    "connectivity: counts": (["connectivity", "abc", *COUNTS], NO_STATE),
    "perturb: position": (
        ["perturb", "The", "--at", "7", "--character", "x", *DEEP], "received at=7",
    ),
    "perturb: counts": (["perturb", "abc", "--at", "0", "--character", "x", *COUNTS], NO_STATE),
    "ablate: a unit": (["ablate", "--units", "99", *DEEP, *BOOK], "units 0 to 11"),
    "ablate: characters": (
        ["ablate", "--characters", "0", *DEEP, *BOOK], "characters is at least 1; received 0",
    ),
    "ablate: counts": (["ablate", *BOOK, *COUNTS], NO_STATE),
    "match: too long": (["match", *PASSAGE, "--span", "3:99"], "within the text of 60 characters"),
    "match: threshold": (["match", *PASSAGE, "--threshold", "3"], "no unit is on throughout the passage"),
    "match: a layer": (["match", *PASSAGE, "--layer", "1"], "has 1 layers, counted from 0"),
    "match: share": (["match", *PASSAGE, "--share", "2"], "above 0 and at most 1"),
    "match: characters": (["match", *PASSAGE, "--characters", "0"], "characters is at least 1"),
    "match: untrained": (["match", *PASSAGE, "--untrained", "-1"], "untrained is at least 0"),
    "match: counts": (["match", *PASSAGE, *COUNTS], NO_STATE),
    "patch: a number": (["patch", *PATCH, "--direction", "random:x"], "received 'random:x'"),
    "patch: a direction": (["patch", *PATCH, "--direction", "up"], "received 'up'"),
    "patch: no text": (
        ["patch", *PATCH, "--direction", "difference:vowel"], "give one with --corpus or --file",
    ),
    "patch: a text": (
        ["patch", *PATCH, "--direction", "random:0", "--corpus", "python-docs"], "needs no text",
    ),
    "patch: a text alone": (["patch", *PATCH, "--corpus", "python-docs"], "give one, or neither"),
    "patch: a target": (
        ["patch", *PATCH, "--direction", "probe:quotas", "--corpus", "python-docs"],
        "there is no target 'quotas'",
    ),
    "patch: at": (["patch", *PATCH, "--at", "99"], "from 0 to 8; received 99"),
    "patch: counts": (["patch", *PATCH, *COUNTS], NO_STATE),
    "probe: controls": (["probe", *PROBE, "--controls", "-1"], "controls is at least 0; received -1"),
    "probe: untrained": (["probe", *PROBE, "--untrained", "-1"], "untrained is at least 0; received -1"),
    "probe: characters": (["probe", *PROBE, "--characters", "0"], "characters is at least 1; received 0"),
    "probe: a layer": (["probe", *PROBE, "--layer", "3"], "received layer 3"),
    "probe: a target": (["probe", *PROBE, "--target", "quite"], "there is no target 'quite'"),
    "probe: counts": (["probe", *PROBE, *COUNTS], "counts n-grams and has no hidden state"),
    "units: a target": (["units", *GRU, *BOOK, "--target", "verbs"], "there is no target 'verbs'"),
    "units: a pattern": (["units", *GRU, *BOOK, "--pattern", "("], "is not a regular expression"),
    "units: typed": (["units", *GRU, *BOOK, "--typed", "typed.txt"], "give --card too"),
    "units: choose": (["units", *GRU, *BOOK, "--choose", "typed.txt"], "give --card too"),
    "units: a gate": (["units", *PROBE[:4], "--quiet", "--quantity", "update"], "rnn cells has hidden"),
    "units: a layer": (["units", *GRU, *BOOK, "--layer", "3"], "received layer 3"),
    "units: characters": (["units", *GRU, *BOOK, "--characters", "0"], "characters is at least 1"),
    "units: untrained": (
        ["units", *GRU, *BOOK, "--untrained", "-1"], "untrained is at least 0; received -1",
    ),
    "units: a card": (
        ["units", *GRU, *BOOK, "--untrained", "0", "--card"], "untrained is at least 1; received 0",
    ),
    "units: counts": (["units", *COUNTS, *BOOK], NO_STATE),
    "units: empty": (["units", *GRU, "--file", "empty.txt"], "empty.txt is empty"),
    "units: seed": (["units", *GRU, *BOOK, "--seed", "-1"], "seed is a whole number"),
    "units: encoding": (["units", *GRU, "--corpus", "book.txt", "--encoding", "nope"], "leave it out"),
    "perplexity: no scheduler": (
        ["perplexity", "book.txt", *GRU, "--scheduler", "nothing://here"], "no Dask scheduler answers at nothing://here",
    ),
    "train: no corpus": (["train", "--name", "x"], "needs --corpus and --name"),
    "train: no name": (["train", "--corpus", "machine"], "needs --corpus and --name"),
    "train: a folder": (["train", "--corpus", "machine", "--name", "../x"], "no folder"),
    "train: a file": (["train", "--corpus", "nowhere.txt", "--name", "x"], "nowhere.txt"),
    "train: a text": (["train", "--name", "x", "--corpus", TEXT[:900]], "no corpus is called"),
    "train: threads": ([*TRAIN, "--threads", "0"], "threads is a whole number from 1 to 1,024; received 0"),
    "train: batch": ([*TRAIN, "--batch", "0"], "batch is a whole number"),
    "train: min_count": ([*TRAIN, "--cell", "ngram", "--min-count", "-1"], "min_count"),
    "train: order": ([*TRAIN, "--order", "3"], "add that, or leave out --order"),
    **{
        f"train: counting with {option}": (
            [*TRAIN, "--cell", "ngram", option, value], f"leave out {option}",
        )
        for option, value in (
            ("--hidden-size", "8"), ("--watch", "a word"), ("--threads", "1"), ("--run-dir", "run"),
        )
    },
    "train: bfloat16": (
        [*TRAIN, "--run-dir", "run", "--precision", "bfloat16", "--device", "cpu"],
        "use precision float32 or auto, or rnnviz 2.0.0 to go on with a run that it began in bfloat16",
    ),
    "train: resume": (["train", "--resume", "nothing-here"], "there is no run in"),
    **{
        f"train: into {output}": ([*TRAIN, "--output", output], said)
        for output, said in (
            ("x.pt", ".safetensors"),
            ("my model.safetensors", "my model"),
            ("folder.safetensors", "folder.safetensors"),
            ("book.txt/x.safetensors", "book.txt"),
        )
    },
    "train: a run in a file": ([*TRAIN, "--run-dir", "book.txt"], "--run-dir"),
    "train: a run under a file": ([*TRAIN, "--run-dir", "book.txt/run"], "no run can be kept in"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusal_is_one_line(name: str, run: Run, tmp_path: Path) -> None:
    Path("book.txt").write_text(TEXT, "utf-8")
    Path("empty.txt").touch()
    Path("folder.safetensors").mkdir()
    save(built(), tmp_path / "built.safetensors")
    save(tiny("lstm", layers=2), tmp_path / "deep.safetensors")
    refuse(run, tmp_path, *REFUSED[name])


def test_torchrun_is_refused_before_run_begins(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    monkeypatch.setenv("WORLD_SIZE", "2")
    done = run(*TRAIN)
    assert (done.code, done.out, list(Path().iterdir())) == (1, "", [])
    assert done.err.endswith("train without torchrun\n")
    assert_one_sentence(done.err.removesuffix("\n"))
