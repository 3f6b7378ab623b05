"""What `import rnnviz` offers, and what it must not load."""

import ast
import importlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tomllib
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import rnnviz
from tests.support.written import PAGES, ROOT, examples

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]


def python(code: str) -> str:
    """The standard output of a fresh interpreter running `code`."""
    options: dict[str, Any] = {"capture_output": True, "encoding": "utf-8", "timeout": 120}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", rnnviz.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    value = getattr(rnnviz, name)
    assert isinstance(value, types.ModuleType) == (name in ("corpora", "gradients", "units"))
    if name != "__version__":
        assert (value.__doc__ or "").strip()


def test_dir_lists_the_public_names() -> None:
    assert set(rnnviz.__all__) <= {*dir(rnnviz), "__version__"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nonsense", "nonsense"),
        *(
            (name.partition(".")[2], f"write rnnviz.{name}")
            for name in ("units.probe", "units.Clamp", "gradients.attribute", "corpora.open_corpus")
        ),
    ],
)
def test_an_unknown_name_is_an_attribute_error_that_leads_to_its_room(name: str, words: str) -> None:
    with pytest.raises(AttributeError, match=words):
        getattr(rnnviz, name)


@pytest.mark.parametrize(
    "first",
    [
        "import rnnviz.scoring.trace",
        "from rnnviz.scoring.tracer import Tracer",
        "import rnnviz.scoring.sampling",
        "pass",
    ],
)
def test_trace_is_the_function_whoever_loaded_the_module(first: str) -> None:
    code = f"{first}\nimport rnnviz\nfrom rnnviz import trace\n"
    code += "print(callable(rnnviz.trace), trace is rnnviz.trace)"
    assert python(code).split() == ["True", "True"]


def test_importing_loads_no_screen_and_no_torch() -> None:
    loaded = json.loads(python("import rnnviz, sys, json; print(json.dumps(sorted(sys.modules)))"))
    heavy = {"streamlit", "plotly", "pandas", "torch", "numpy"}
    assert not heavy & {name.partition(".")[0] for name in loaded}


@pytest.mark.slow
def test_reading_and_training_do_not_load_torchs_compiler() -> None:
    """Its import takes longer than all else until the first step; nothing here is compiled."""
    code = """
import sys
import rnnviz
from rnnviz.text import corpora
for cell in ("gru", "lstm"):
    rnnviz.perplexity(rnnviz.load(f"timemachine-{cell}"), text="It was past midnight.")
    config = rnnviz.TrainConfig(cell=cell, hidden_size=8, batch=2, steps=5, epochs=2, dropout_output=0.1)
    for report in rnnviz.train(config, corpora.from_text("a wet coat and a lamp. " * 9)):
        pass
print("torch._dynamo" in sys.modules, "torch" in sys.modules)
"""
    assert python(code).split() == ["False", "True"]


def each_by_itself(*pages: list[str]) -> str:
    """Code that runs each page's blocks, in names of its own."""
    return "".join(f"exec({chr(10).join(blocks)!r}, {{}})\n" for blocks in pages)


# A name set to None in sys.modules is taken for a module there by libraries that ask what is imported.
ABSENT = """
import sys
class Absent:
    def find_spec(name, *_):
        if name.partition(".")[0] in {added}:
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Absent)
import rnnviz
"""


@pytest.mark.slow
def test_the_package_works_without_what_the_app_adds_and_says_what_units_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path))  # one of the examples is a run
    added = [Requirement(r).name for r in EXTRAS["app"]]
    assert {"streamlit", "plotly", "pandas", "pyarrow"} <= set(added)
    code = ABSENT.format(added=[*added, "scipy", "sklearn"])
    code += "for name in rnnviz.__all__: getattr(rnnviz, name)\n"
    for page in examples().values():
        code += each_by_itself(
            [block for block in page if not re.search(r"plotly|frame\(\)|units\.find", block)]
        )
    code += "model, text = rnnviz.load('timemachine-gru'), 'He said \"no\" to me. ' * 300\n"
    for call in ('find(model, text, "quotes")', 'probe(rnnviz.trace(model, text), "quotes")'):
        code += f"try: rnnviz.units.{call}\nexcept rnnviz.errors.ConfigError as error: print(error)\n"
    assert len(re.findall(r"needs scikit-learn.*: pip install .*\[lab\]\" installs it", python(code))) == 2


def test_no_file_of_the_app_hides_a_standard_module() -> None:
    # Streamlit puts the script's folder first on sys.path.
    names = {p.stem for p in (ROOT / "rnnviz" / "ui").iterdir() if p.suffix == ".py" or p.is_dir()}
    assert not names & set(sys.stdlib_module_names) - {"__init__"}


def pins() -> list[Requirement]:
    """The lines of requirements.txt that hold on this machine."""
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    every = [Requirement(line) for line in lines if not line.startswith("#")]
    return [pin for pin in every if pin.marker is None or pin.marker.evaluate()]


def needed(lines: Iterable[str]) -> Iterator[Requirement]:
    """Those that count here, without the libraries for GPUs that one of torch's builds brings along."""
    for requirement in map(Requirement, lines):
        gpu = re.match("cuda-|nvidia-|triton$", requirement.name)
        if not gpu and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            yield requirement


def test_the_pins_lie_within_the_ranges_of_the_package() -> None:
    parts = (PROJECT["dependencies"], EXTRAS["app"], EXTRAS["compress"], EXTRAS["lab"])
    versions = {pin.name: str(pin.specifier).removeprefix("==") for pin in pins()}
    for requirement in needed(line for part in parts for line in part):
        assert versions[requirement.name] in requirement.specifier


def test_all_that_the_pins_need_is_pinned() -> None:
    """On this machine; `.ci/pins` writes them for every other."""
    pinned = {canonicalize_name(pin.name) for pin in pins()}
    assert len(pinned) == len(pins())
    for name in sorted(pinned):
        needed_names = {
            canonicalize_name(requirement.name)
            for requirement in needed(importlib.metadata.requires(name) or ())
        }
        assert needed_names <= pinned, name


def test_every_extra_is_listed_and_all_of_them_are_tested() -> None:
    (extras,) = map(Requirement, EXTRAS["all"])
    assert set(EXTRAS) == extras.extras | {"all", "docs", "fast", "pictures", "test", "train"}
    assert Requirement(EXTRAS["test"][0]).extras == {"all", "docs"}


def libraries(*folders: str) -> set[str]:
    """The distributions of what the modules in these folders import, wherever in them."""
    module, imported = importlib.metadata.packages_distributions(), set[str]()
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            imported |= {
                canonicalize_name(module[top][0])
                for name in names
                if (top := name.partition(".")[0]) in module
            }
    return imported - {"rnnviz"}


def test_no_test_module_imports_another() -> None:
    """What several use stands in tests/support."""
    for path in (ROOT / "tests").rglob("*.py"):
        assert not re.search(r"^ *(from|import) tests\.\S*\btest_", path.read_text("utf-8"), re.MULTILINE), (
            path
        )


@pytest.mark.parametrize(
    ("folders", "extras"),
    [(["rnnviz"], ["all"]), (["tests", ".ci"], ["test"]), (["docs"], ["test", "pictures"])],
    ids=str,
)
def test_a_library_that_is_imported_is_declared(folders: list[str], extras: list[str]) -> None:
    """Not merely brought along by another, which may do without it tomorrow."""
    lines, done = list(PROJECT["dependencies"]), set[str]()
    while extras:
        if (extra := extras.pop()) not in done:
            done.add(extra)
            lines += EXTRAS[extra]
            extras += [
                e
                for requirement in map(Requirement, EXTRAS[extra])
                if requirement.name == "rnnviz"
                for e in requirement.extras
            ]
    declared = {canonicalize_name(Requirement(line).name) for line in lines}
    # What types alone need comes with mypy; mutmut is installed beside the package, for .ci/mutation.
    assert libraries(*folders) - declared <= {"typing-extensions", "mutmut"}


def test_the_written_test_command_is_what_the_ci_runs() -> None:
    command = 'pip install -r requirements.txt -e ".[test]" && pytest'
    install, _, _ = command.partition(" && ")
    assert f"`{install}`" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    steps = re.findall(r'^step "[^"]*" (.*)$', (ROOT / ".ci" / "run").read_text("utf-8"), re.MULTILINE)
    assert command in " && ".join(steps)
    assert 'pytest -m "" tests/browser' in steps  # which `pytest` leaves out
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_pages_name_public_functions_alone() -> None:
    pages = [page for page in PAGES if page.name != "migration.md"]  # of names that went
    named = {name for page in pages for name in re.findall(r"rnnviz\.(\w+)\(", page.read_text("utf-8"))}
    assert {"adapt", "load", "perplexity"} <= named <= set(rnnviz.__all__)


@pytest.mark.slow
def test_the_pages_python_runs_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path))
    pages = examples()
    assert {"README.md", "docs/own-network.md", "docs/package.md"} <= set(pages)
    pages["docs/own-network.md"].append("print('<' in seen._repr_html_(), own.name)")
    pages["docs/package.md"].append("print(found.best.score > found.chance)")
    quiet = "import plotly.io; plotly.io.renderers.default = 'json'; plotly.io.show = lambda *a, **k: None\n"
    out = python(quiet + each_by_itself(*pages.values())).splitlines()
    assert {"True my network", "True"} <= set(out)
    assert len(out) > 15  # they show something


def test_every_room_but_the_app_is_kept_from_screens() -> None:
    contracts = PYPROJECT["tool"]["importlinter"]["contracts"]
    contract = next(c for c in contracts if c["name"] == "Streamlit in the app alone")["source_modules"]
    rooms = {f"rnnviz.{p.parent.name}" for p in (ROOT / "rnnviz").glob("*/__init__.py")}
    rooms |= {f"rnnviz.lab.{p.parent.name}" for p in (ROOT / "rnnviz" / "lab").glob("*/__init__.py")}
    rooms |= {f"rnnviz.{name}" for name in ("arrays", "errors", "findings", "i18n", "reprs", "sentences")}
    assert rooms - {"rnnviz.ui", "rnnviz.lab", "rnnviz.lab.pages"} == set(contract) - {"rnnviz.registry"}


def test_the_first_start_asks_nothing_and_reports_nothing() -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert config["server"]["showEmailPrompt"] is False
    assert config["browser"]["gatherUsageStats"] is False
    assert config["client"]["showErrorDetails"] == "none"
    assert "http" not in (ROOT / ".streamlit" / "config.toml").read_text("utf-8")  # no font from the network


def test_the_picture_of_the_rooms_names_files_that_are_there() -> None:
    page = "".join((ROOT / name).read_text("utf-8") for name in ("docs/architecture.md", "CONTRIBUTING.md"))
    tests = ROOT / "tests"
    pinned = (
        *(ROOT / "rnnviz").rglob("*.*"),
        *tests.rglob("*.py"),
        *(tests / "javascript").iterdir(),
        *(ROOT / "docs").rglob("*.py"),
    )
    files = {p.relative_to(ROOT).as_posix() for p in pinned} | {
        "app.py",
        "pyproject.toml",
        "zensical.toml",
        ".streamlit/config.toml",
    }
    named = set(re.findall(r"`([\w/.]+\.(?:pyi?|js|po|toml))\b", page))
    assert len(named) > 40
    assert not {n for n in named if not any(f == n or f.endswith(f"/{n}") for f in files)}


def test_the_version_and_its_day_are_the_same_wherever_they_stand() -> None:
    released = re.findall(r"^## (\d[\w.]*) – ([\d-]+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    cited = (ROOT / "CITATION.cff").read_text("utf-8")
    version, day = released[0]
    assert version == rnnviz.__version__
    assert f"\nversion: {version}\ndate-released: {day}\n" in cited
