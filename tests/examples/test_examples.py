"""The notebooks in examples/ run from first cell to last, stored without output; so do the scripts."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import rnnviz
from rnnviz.lab.run import runs
from rnnviz.text import corpora

for name, extra in (("nbclient", "test"), ("ipykernel", "test"), ("anywidget", "notebook")):
    if find_spec(name) is None:  # imported where they are used: nbformat's import takes a second
        pytest.skip(f"the extra {extra} is not installed", allow_module_level=True)

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def read(path: Path) -> Any:
    import nbformat

    return nbformat.read(path, as_version=4)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A kernel that knows this checkout, and reads nobody's settings: what it imported is there for all."""
    import nbclient

    folder = tmp_path_factory.mktemp("jupyter")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
            patch.setenv(name, str(folder / name))
        patch.setenv("PYTHONPATH", str(ROOT))
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            patch.setenv(name, "1")
        client = nbclient.NotebookClient(read(NOTEBOOKS[0]), timeout=300, kernel_name="python3")
        with client.setup_kernel():
            yield client


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_something(path: Path, kernel: Any) -> None:
    from nbformat.v4 import new_code_cell

    notebook = read(path)
    read_by_network = rnnviz.load("python-lstm").card["sha256"]
    if "python-library" in str(notebook) and corpora.open_corpus("python-library").sha256 != read_by_network:
        pytest.skip("another Python's library: what the notebook concludes was measured on the network's own")
    notebook.cells.insert(0, new_code_cell("%reset -f"))  # names of the one before are gone
    kernel.nb = notebook
    for place, cell in enumerate(notebook.cells):
        kernel.execute_cell(cell, place)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert "text/html" in kinds  # a picture of ours
    assert ("application/vnd.jupyter.widget-view+json" in kinds) == path.stem.startswith("1_")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_short_plain_and_ends_with_a_conclusion(path: Path) -> None:
    cells = read(path).cells
    assert 10 <= len(cells) <= 25
    assert cells[0].source.startswith("# ")
    assert cells[-1].source.startswith("**Conclusion.**")
    checked = ast.parse(cells[-2].source)  # what the conclusion says, as assertions about the numbers
    assert sum(isinstance(node, ast.Assert) for node in checked.body) >= 2
    for cell in cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


def ran(script: str, *options: str) -> str:
    """What a script of examples/ prints."""
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / script, *options],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_training_loop_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop in plain PyTorch, whose run is there with all that the page shows."""
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path / "runs"))
    output = ran("5_any_training_loop.py", "--steps", "30")
    assert str(tmp_path / "runs" / "any-loop") in output
    run = runs.find("any-loop")
    assert run.state == "finished"
    reports = [e["validation_perplexity"] for e in runs.tail_log("any-loop")[0] if e["event"] == "report"]
    assert len(reports) == 2
    assert reports[1] < 20 < 50 < reports[0] < 90, "it learns: of some 70 characters to under 20"
    noise, learnt = runs.snapshot("any-loop", 0), runs.snapshot("any-loop")
    assert learnt.perplexity[-1] < noise.perplexity[-1] / 2


@pytest.mark.slow
def test_a_mixture_and_a_network_that_goes_on_learning_predict_better() -> None:
    heads, *rows = (line.split() for line in ran("6_mix_and_adapt.py", "--characters", "3000").splitlines())
    assert heads[1:] == ["network", "6-gram", "mixed", "adapted", "both"]
    assert [row[0] for row in rows] == ["timemachine", "python-source"]
    for row in rows:
        network, ngram, mixed, adapted, both = map(float, row[1:])
        assert mixed < min(network, ngram)
        assert adapted < network
        assert both < min(mixed, adapted)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_short(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) < 80
