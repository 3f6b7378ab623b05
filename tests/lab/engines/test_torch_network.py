"""A network's PyTorch program, run where no rnnviz is, beside the package's own perplexity."""

import ast
import re
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import rnnviz
from rnnviz.errors import ConfigError
from rnnviz.figures.torch_network import program
from rnnviz.networks import cells
from rnnviz.networks.checkpoint import load_numpy, save
from rnnviz.networks.ngram import NgramModel
from tests.support.foreign_networks import adapted, layers_of, stepwise
from tests.support.models import TEXT, tiny

CELLS: list[tuple[str, dict[str, Any]]] = [
    *((cell, {"activation": activation}) for cell in ("mlp", "rnn") for activation in ("tanh", "relu")),
    *((cell, {}) for cell in ("gru", "lstm", "mingru")),
]
FORMS: list[dict[str, Any]] = [
    {"layers": 1},
    {"layers": 2},
    {"layers": 1, "embedding_size": 0},
    {"layers": 2, "embedding_size": 12, "tied": True},
]
NETWORKS = {
    "-".join([cell, *options.values(), str(n)]): tiny(cell, **options, **form)
    for (cell, options), (n, form) in product(CELLS, enumerate(FORMS))
}
NETWORKS["typography"] = replace(tiny("gru"), normaliser="typography")
NETWORKS["ends"], NETWORKS["ends-mingru"] = tiny("gru", ends=True), tiny("mingru", ends=True)
NETWORKS["corners"] = replace(tiny("mingru"), normaliser="corner-brackets")

UNKNOWN = "\ufeffé道🎉\r\nA “quartz” machine… the 「lever」\rof – brass\n"
READ = UNKNOWN + TEXT + UNKNOWN
"""More than a program's piece of 1,000 characters; its first character is unknown."""

RUN_ALL = """
import runpy, sys
sys.modules["rnnviz"] = None  # an installed one can't be imported either
text, *programs = sys.argv[1:]
for file in programs:
    print("program", file)
    sys.argv = [file, text, "The", "lever"]
    names = runpy.run_path(file, run_name="__main__")
    print(repr([names["sample"]("the“", 40, temperature=1e-9), names["encode"]("a\\r\\nb\\r道").tolist()]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each network's file and program, and a text; one network is stored as float16."""
    folder = tmp_path_factory.mktemp("taken home")
    (folder / "text.txt").write_bytes(b"\xef\xbb\xbf" + READ.encode())
    for name, model in {**NETWORKS, "half": tiny("lstm")}.items():
        path = save(model, folder / f"{name}.safetensors", half=name == "half")
        (folder / f"{name}.py").write_text(program(load_numpy(path), path.name), "utf-8")
    return folder


def printed(folder: Path, *command: str) -> str:
    """What Python prints in another folder, with torch and without rnnviz."""
    options: dict[str, Any] = {"capture_output": True, "encoding": "utf-8", "timeout": 300}
    options["env"] = {"OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, "-X", "utf8", "-I", *command], cwd=folder.parent, **options)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture(scope="module")
def outputs(folder: Path) -> dict[str, str]:
    """What each program prints, by the network's name."""
    files = sorted(folder.glob("*.py"))
    out = printed(folder, "-c", RUN_ALL, str(folder / "text.txt"), *map(str, files))
    return dict(
        zip([file.stem for file in files], re.split(r"^program .*\n", out, flags=re.M)[1:], strict=True)
    )


@pytest.mark.parametrize("name", [*NETWORKS, "half"])
def test_a_program_gives_the_perplexity_of_the_package(
    name: str, folder: Path, outputs: dict[str, str]
) -> None:
    model = load_numpy(folder / f"{name}.safetensors")
    score = rnnviz.perplexity(model, READ)
    first, second, written = outputs[name].split("\n", 2)
    characters, perplexity = re.fullmatch(r"([\d,]+) characters, perplexity (\S+)", first).groups()
    known, of_known = re.fullmatch(r"([\d,]+) known, perplexity (\S+)", second).groups()
    assert int(characters.replace(",", "")) == score.characters
    assert int(characters.replace(",", "")) - int(known.replace(",", "")) == score.unknown > 4
    assert float(perplexity) == pytest.approx(score.perplexity, rel=1e-6)
    assert float(of_known) == pytest.approx(score.perplexity_known, rel=1e-6)
    exact = rnnviz.perplexity(model, READ, precise=True).perplexity
    assert float(perplexity) == pytest.approx(exact, rel=1e-8), "all digits that it prints"
    written, called = written.removesuffix("\n").rsplit("\n", 1)
    most_probable, ids = ast.literal_eval(called)
    assert most_probable == "the“" + rnnviz.sample(model, "the“", 40, temperature=0)
    assert ids == [model.vocabulary.start, *model.vocabulary.encode("a\nb\n道")]
    assert written.startswith("The lever")
    assert len(written) == len("The lever") + 300 or model.vocabulary.ends
    assert {*written} <= {*model.vocabulary.characters, *"The lever\n"}


def test_every_cell_that_is_trained_has_a_program() -> None:
    assert {cell for cell, _ in CELLS} == {*cells.CELLS}


def test_programs_are_short_and_in_ruffs_form(folder: Path) -> None:
    programs = {file.name: file.read_text("utf-8") for file in folder.glob("*.py")}
    assert len(programs) == len(NETWORKS) + 1
    for name, text in programs.items():
        assert len(text.splitlines()) <= 80, name
        assert max(map(len, text.splitlines())) <= 88, name
    rules = "E,F,W,I,UP,B,C4,SIM,RUF,NPY,ISC,RET,PIE"
    ignored = "RUF001"  # quotes and dashes that are meant
    for words in (("format", "--diff"), ("check", f"--select={rules}", f"--ignore={ignored}")):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", words[0], "--isolated", *words[1:], folder], capture_output=True
        )
        assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()


def test_a_program_runs_by_itself_and_writes_on_without_a_text(folder: Path) -> None:
    gru = "gru-0"
    assert len(printed(folder, str(folder / f"{gru}.py"))) == 300 + len("\n")
    (folder / "empty.txt").touch()
    assert "perplexity" not in printed(folder, str(folder / f"{gru}.py"), str(folder / "empty.txt"))


def test_an_adapted_network_is_taken_home_once_it_is_saved(folder: Path) -> None:
    import torch

    model = adapted(layers_of(torch.nn.LSTM, 14), start=None)
    path = save(model, folder / "adapted.safetensors")
    (folder / "adapted.program").write_text(program(load_numpy(path), path.name), "utf-8")
    (folder / "seats.txt").write_text("eat on\n, off世?", "utf-8")
    out = printed(folder, str(folder / "adapted.program"), str(folder / "seats.txt"))
    expected = rnnviz.perplexity(model, "eat on\n, off世?").perplexity
    assert float(out.split()[3]) == pytest.approx(expected, rel=1e-6)


def test_models_without_a_program_say_what_to_do() -> None:
    counts = NgramModel.fit(TEXT, order=3, name="counts")
    with pytest.raises(ConfigError, match=r"'counts' counts 3-grams.* choose a network"):
        program(counts, "x.safetensors")
    import torch

    with pytest.raises(ConfigError, match=r"custom cells.* mlp, rnn, gru.* take home the function"):
        program(stepwise(layers_of(torch.nn.GRU, 14)), "x.safetensors")
