"""The command line, as a process of its own."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from rnnviz import cli
from rnnviz.cli.output import as_json
from rnnviz.networks.checkpoint import load
from rnnviz.reading.scoring import perplexity
from rnnviz.reading.trace import trace

FIELDS = [
    "file",
    "model",
    "characters",
    "unknown",
    "perplexity",
    "perplexity_known",
    "bits_per_character",
    "bits_per_byte",
    "encoding",
    "seconds",
]


class Done(NamedTuple):
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]


@pytest.fixture
def rnnviz(
    models_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> Run:
    """Run one command in an empty folder, in this process: torch is loaded once for all of them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RNNVIZ_MODELS", str(models_folder))

    def run(*arguments: str, text: str = "") -> Done:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8"))
        capfdbinary.readouterr()
        try:
            code = cli.main(arguments)
        except SystemExit as exit:
            code = int(exit.code or 0)
        out, err = capfdbinary.readouterr()
        return Done(code, out.decode(), err.decode())

    return run


def test_the_module_is_a_command(command_environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("time")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "rnnviz",
            "perplexity",
            tmp_path / "a.txt",
            "gone.txt",
            "-m",
            "tiny-gru",
            "--json",
        ],
        cwd=Path(__file__).resolve().parents[2],
        env=command_environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["characters"] == 4
    assert len(done.stderr.splitlines()) == 1
    assert "gone.txt" in done.stderr


def test_perplexity_prints_one_json_object_a_file(rnnviz: Run, tmp_path: Path, models_folder: Path) -> None:
    (tmp_path / "one.txt").write_text("The Time Traveller")
    (tmp_path / "two.txt").write_bytes("Zeit größer\r\n".encode("utf-16"))
    done = rnnviz("perplexity", "one.txt", "two.txt", "--model", "tiny-gru", "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    one, two = map(json.loads, done.stdout.splitlines())
    assert list(one)[: len(FIELDS)] == FIELDS
    assert one["file"] == "one.txt"
    assert one["model"] == "tiny-gru"
    assert one["characters"] == 18
    assert one["unknown"] == 0
    assert two["characters"] == 12
    assert two["unknown"] > 0
    assert two["encoding"] == "utf-16-le"
    expected = perplexity(load(models_folder / "tiny-gru.safetensors"), text="The Time Traveller")
    assert one["perplexity"] == pytest.approx(expected.perplexity, rel=1e-6)


def test_a_file_that_cannot_be_scored_does_not_stop_the_others(rnnviz: Run, tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("time")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    done = rnnviz(
        "perplexity", "missing.txt", "empty.txt", "picture.png", "good.txt", "-m", "tiny-3gram", "--json"
    )
    assert done.returncode == 1
    assert [json.loads(line)["file"] for line in done.stdout.splitlines()] == ["good.txt"]
    complaints = done.stderr.splitlines()
    assert len(complaints) == 3
    for name, complaint in zip(("missing.txt", "empty.txt", "picture.png"), complaints, strict=True):
        assert name in complaint


def test_perplexity_in_words_and_from_standard_input(rnnviz: Run) -> None:
    done = rnnviz("perplexity", "-", "--model", "tiny-lstm", text="Zürich, time")
    assert done.returncode == 0
    assert done.stdout.startswith("-: perplexity ")
    assert "12 characters, 2 unknown (without them " in done.stdout  # Z and ü
    assert "utf-8, verified" in done.stdout


def test_the_encoding_can_be_declared(rnnviz: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("Größe".encode("latin-1"))
    done = rnnviz("perplexity", "a.txt", "-m", "tiny-gru", "--json", "--encoding", "latin-1")
    assert json.loads(done.stdout)["characters"] == 5
    done = rnnviz("perplexity", "a.txt", "-m", "tiny-gru", "--encoding", "klingon")
    assert done.returncode == 1
    assert "klingon" in done.stderr


@pytest.mark.parametrize("command", [["perplexity", "x.txt"], ["sample"], ["trace", "x"]])
@pytest.mark.parametrize("model", ["nobody", "../tiny-gru", "gone.safetensors"])
def test_a_model_that_is_not_there(rnnviz: Run, command: list[str], model: str) -> None:
    done = rnnviz(*command, "--model", model)
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("rnnviz: ")


def test_a_damaged_model_is_said_in_words(rnnviz: Run, tmp_path: Path, models_folder: Path) -> None:
    whole = (models_folder / "tiny-gru.safetensors").read_bytes()
    (tmp_path / "cut.safetensors").write_bytes(whole[: len(whole) // 2])
    done = rnnviz("sample", "--model", "cut.safetensors")
    assert done.returncode == 1
    assert "copy or download it again" in done.stderr


def test_sample_continues_the_prompt_and_repeats_with_a_seed(rnnviz: Run) -> None:
    command = [
        "sample",
        "-m",
        "tiny-gru",
        "--prompt",
        "The ",
        "--length",
        "40",
        "--temperature",
        "0.7",
        "--top-k",
        "9",
    ]
    one, two = rnnviz(*command, "--seed", "3"), rnnviz(*command, "--seed", "3")
    assert one.returncode == 0
    assert one.stdout == two.stdout
    assert one.stdout.startswith("The ")
    assert len(one.stdout) == 4 + 40 + 1
    assert rnnviz(*command, "--seed", "4").stdout != one.stdout


def test_sample_refuses_a_temperature_below_zero(rnnviz: Run) -> None:
    done = rnnviz("sample", "-m", "tiny-gru", "--temperature=-1")
    assert done.returncode == 1
    assert "temperature" in done.stderr


def test_trace_prints_what_the_library_computes(rnnviz: Run, tmp_path: Path, models_folder: Path) -> None:
    expected = trace(load(models_folder / "tiny-gru.safetensors"), 'T"i,\nm')
    done = rnnviz("trace", 'T"i,\nm', "--model", "tiny-gru")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["position"] for row in rows] == list("123456")
    assert "".join(row["character"] for row in rows) == 'T"i,\nm'
    assert [float(row["nll"]) for row in rows] == pytest.approx(expected.nll.tolist())
    assert [int(row["rank"]) for row in rows] == expected.rank.tolist()
    assert [float(row["entropy"]) for row in rows] == pytest.approx(expected.entropy[:-1].tolist())

    (tmp_path / "a.txt").write_text('T"i,\nm')
    done = rnnviz("trace", "--file", "a.txt", "--model", "tiny-gru", "--format", "json")
    values = json.loads(done.stdout)
    assert values["text"] == 'T"i,\nm'
    assert [c["nll"] for c in values["characters"]] == pytest.approx(expected.nll.tolist())
    assert all(
        0 <= c["entropy"] <= math.log(load(models_folder / "tiny-gru.safetensors").vocabulary.size) + 1e-6
        for c in values["characters"]
    )


def test_trace_needs_a_network(rnnviz: Run) -> None:
    done = rnnviz("trace", "x", "--model", "tiny-3gram")
    assert done.returncode == 1
    assert "no hidden state" in done.stderr


def test_models_lists_what_there_is(rnnviz: Run) -> None:
    done = rnnviz("models")
    assert done.returncode == 0
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["name", "kind", "V", "parameters", "perplexity", "size", "title"]
    assert {"tiny-gru", "tiny-lstm", "tiny-3gram"} <= {row.split()[0] for row in rows}
    described = [json.loads(line) for line in rnnviz("models", "--json").stdout.splitlines()]
    assert {d["name"]: d["kind"] for d in described}["tiny-lstm"] == "lstm"


def test_models_names_damaged_files_beside_the_others(rnnviz: Run, models_folder: Path) -> None:
    foreign = models_folder / "foreign.safetensors"
    foreign.write_bytes(b"not a model")
    try:
        done = rnnviz("models")
    finally:
        foreign.unlink()
    assert done.returncode == 0
    assert "tiny-gru" in done.stdout
    assert "foreign" not in done.stdout
    assert "foreign.safetensors" in done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["models"], ["perplexity", "--help"], ["train", "--help"]])
def test_quick_commands_load_no_torch(command_environment: dict[str, str], arguments: list[str]) -> None:
    code = (
        "import sys\nfrom rnnviz import cli\n"
        f"try:\n    cli.main({arguments!r})\nexcept SystemExit: pass\n"
        "heavy = ('torch', 'numpy', 'streamlit', 'plotly', 'pandas')\n"
        "print([m for m in heavy if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).resolve().parents[2],
        env=command_environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout
    assert done.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["perplexity"], ["trace", "--model", "tiny-gru"]])
def test_a_misspelt_command_ends_with_2(rnnviz: Run, arguments: list[str]) -> None:
    done = rnnviz(*arguments)
    assert done.returncode == 2
    assert "usage:" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_progress_is_shown_on_a_terminal_and_the_result_is_not(
    command_environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "long.txt").write_text("The Time Traveller " * 20_000)
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "rnnviz", "perplexity", tmp_path / "long.txt", "-m", "tiny-lstm", "--json"],
        cwd=Path(__file__).resolve().parents[2],
        env={**command_environment, "TERM": "xterm", "COLUMNS": "120"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # Linux says so when the other side of a terminal is gone
        while piece := os.read(ours, 65_536):
            shown += piece
    os.close(ours)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"characters, perplexity" in shown
    assert json.loads(out)["characters"] == 19 * 20_000


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as a signal")
def test_ctrl_c_is_a_short_sentence(command_environment: dict[str, str]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "rnnviz", "sample", "-m", "tiny-gru", "--length", "100000000"],
        cwd=Path(__file__).resolve().parents[2],
        env=command_environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell's background job ignores Ctrl-C, and so would this child of it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    assert process.stdout.read(1)  # it is writing
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == cli.STOPPED
    assert complaint.decode().strip().endswith("rnnviz: stopped")
    assert b"Traceback" not in complaint


@pytest.mark.skipif(os.name != "posix", reason="pipes close differently elsewhere")
def test_a_closed_pipe_is_no_error(command_environment: dict[str, str]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "rnnviz", "sample", "-m", "tiny-gru", "--length", "100000000"],
        cwd=Path(__file__).resolve().parents[2],
        env=command_environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.read(1)
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 0


def test_numbers_that_json_lacks_become_null() -> None:
    assert json.loads(as_json({"a": math.inf, "b": {"c": [math.nan, 1.5]}})) == {
        "a": None,
        "b": {"c": [None, 1.5]},
    }
