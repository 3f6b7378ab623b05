"""The command line: what its commands print, how they end, and what they don't load."""

import argparse
import json
import math
import os
import signal
import subprocess
import sys
from dataclasses import MISSING, fields
from pathlib import Path

import pytest

from rnnviz import cli
from rnnviz.cli.output import json_line
from rnnviz.lab.run.folder import Description
from rnnviz.networks.config import TrainConfig
from tests.support import needs
from tests.support.commands import ROOT, Run, process

RUN_DEFAULTS = {field.name: field.default for kind in (Description, TrainConfig) for field in fields(kind)}
ENDLESS = "sample -m tiny-gru --length 100000000"


def commands() -> dict[str, argparse.ArgumentParser]:
    (names,) = (a for a in cli._build_parser()._actions if isinstance(a, argparse._SubParsersAction))
    return dict(names.choices)


@pytest.mark.parametrize("name", commands())
def test_help_lists_defaults_and_choices(name: str, run: Run) -> None:
    output_text = " ".join(run(f"{name} --help").out.split())
    for action in commands()[name]._actions:
        if action.help == argparse.SUPPRESS or not action.option_strings:
            continue
        for choice in action.choices or ():
            assert str(choice) in output_text, action.option_strings
        # Of a run's settings it is known which were given: the option's own default is MISSING.
        default = RUN_DEFAULTS.get(action.dest) if action.default is MISSING else action.default
        if action.nargs != 0 and default not in (None, False, "", (), argparse.SUPPRESS, MISSING):
            assert "default" in str(action.help), action.option_strings


def test_sample_repeats_with_seed(run: Run) -> None:
    command = "sample -m tiny-gru --length 40 --temperature 0.7 --top-k 9 --top-p 0.9 --seed"
    first, second, third = (run(f"{command} {seed}", "--prompt", "The ") for seed in (3, 3, 4))
    assert first.code == 0
    assert first.out == second.out != third.out
    assert first.out.startswith("The ")
    assert len(first.out) == 4 + 40 + 1


def test_sample_reads_prompt_from_standard_input(run: Run) -> None:
    command = "sample -m tiny-gru --length 20 --seed 3 --prompt"
    assert run(f"{command} -", data=b"The ").out == run(command, "The ").out
    closed = run(f"{command} -", data=None)
    assert (closed.code, "standard input is closed" in closed.err) == (1, True)


def test_models_lists_models_and_damaged_files(run: Run, models_folder: Path) -> None:
    foreign = models_folder / "foreign.safetensors"
    foreign.write_bytes(b"not a model")
    try:
        done = run("models")
    finally:
        foreign.unlink()
    assert (done.code, "foreign.safetensors" in done.err, "foreign" in done.out) == (0, True, False)
    head, *rows = done.out.splitlines()
    assert head.split() == ["name", "kind", "V", "parameters", "perplexity", "size", "title"]
    assert {"tiny-gru", "tiny-lstm", "tiny-3gram"} <= {row.split()[0] for row in rows}
    assert {d["name"]: d["kind"] for d in run("models --json").objects}["tiny-lstm"] == "lstm"


def test_control_characters_in_file_names_are_escaped(run: Run, tmp_path: Path) -> None:
    (tmp_path / "gp\u202ej.txt").write_text("The Time Traveller", "utf-8")
    done = run("perplexity", "gp\u202ej.txt", "gp\u202ej\x1b.tx", "-m", "tiny-gru")
    assert r"gp\u202ej.txt: perplexity" in done.out
    assert r"gp\u202ej\x1b.tx" in done.err
    assert not {"\u202e", "\x1b"} & {*done.out, *done.err}


def test_quick_commands_load_no_torch(command_environment: dict[str, str]) -> None:
    code = """if True:
        import sys
        from rnnviz import cli
        from rnnviz.networks import engines
        for words in ("--help", "dev --help", "models", "perplexity --help", "train --help"):
            try:
                cli.main(words.split())
            except SystemExit:
                pass
            heavy = {"torch", "numpy", "streamlit", "plotly", "pandas"} & {*sys.modules}
            print(words, heavy or "loads none", file=sys.stderr)
        for words in (
            "trace The", "perturb The --at 1 --character x", "attribute The",
            "connectivity The --at 2", "patch --source The --into machine --to 2",
        ):
            assert cli.main([*words.split(), "-m", "tiny-gru"]) == 0
        print("torch" in sys.modules)
        for words in ("perplexity README.md", "sample --prompt The"):
            assert cli.main([*words.split(), "-m", "tiny-gru"]) == 0
        print(engines.gpu_driver() or "torch" not in sys.modules)
    """
    options = {"capture_output": True, "encoding": "utf-8", "timeout": 60, "env": command_environment}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, **options)
    assert "tiny-gru" in done.stdout
    assert "\nFalse\n" in done.stdout, "what looks inside loads no torch"
    assert done.stdout.endswith("True\n"), "scoring by a GRU, and writing, load it for a GPU alone"
    assert done.stderr.count("loads none") == 5, done.stderr


@pytest.mark.parametrize(
    ("arguments", "output_text"),
    [
        ("", "name a command, such as app, which opens the app; rnnviz --help lists them"),
        *(
            (words, "usage:")
            for words in (
                *("", "nonsense", "perplexity", "dev", "trace --model tiny-gru", "patch --units x"),
                *("ablate --to median", "match --span 3-7"),
            )
        ),
    ],
)
def test_misspelt_command_exits_2(run: Run, arguments: str, output_text: str) -> None:
    done = run(arguments)
    assert done.code == 2
    assert output_text in done.err


GROUPS = ("", "look", "score", "train", "inside", "share")


def test_commands_help_fits_one_screen(run: Run) -> None:
    lines = run("--help").out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    listed = {line[9:].split()[0] for line in lines if line[9:].strip() and line[:9].strip() in GROUPS}
    assert listed == {*commands(), "app", "host", "page"} - {"dev"}
    assert "dev                    what maintainers use: rnnviz dev --help" in lines


@needs.signals
def test_ctrl_c_exits_130_with_one_line(command_environment: dict[str, str]) -> None:
    # A shell's background job ignores Ctrl-C, and so would this child of it.
    heed = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    started = process(ENDLESS, command_environment, **heed)
    assert started.stdout.read(1)  # it is writing
    started.send_signal(signal.SIGINT)
    _, complaint = started.communicate(timeout=60)
    assert started.returncode == cli.EXIT_INTERRUPTED
    assert complaint.decode().strip().endswith("rnnviz: stopped")
    assert b"Traceback" not in complaint


@pytest.mark.skipif(os.name != "posix", reason="pipes close differently elsewhere")
def test_closed_pipe_exits_0(command_environment: dict[str, str]) -> None:
    with process(ENDLESS, command_environment) as started:
        assert started.stdout.read(1)
        started.stdout.close()
        assert started.stderr.read() == b""
        assert started.wait(timeout=60) == 0


@pytest.mark.skipif(os.name != "posix", reason="pipes close differently elsewhere")
def test_help_into_closed_pipe_exits_0(command_environment: dict[str, str]) -> None:
    closed, writes = os.pipe()
    os.close(closed)
    started = [process(words, command_environment, stdout=writes) for words in ("--help", "train --help")]
    os.close(writes)
    for help_process in started:
        assert (help_process.communicate(timeout=60)[1], help_process.returncode) == (b"", 0)


def test_nonfinite_numbers_become_null() -> None:
    values = json.loads(json_line({"a": math.inf, "b": {"c": [math.nan, 1.5]}}))
    assert values == {"a": None, "b": {"c": [None, 1.5]}}


def test_table_is_aligned_by_cell_width(capsys: pytest.CaptureFixture[str]) -> None:
    cli.output.print_table(("name", "n"), [("西游记", "1"), ("a", "12")], numbers={1})
    assert capsys.readouterr().out == "name     n\n西游记   1\na       12\n"
