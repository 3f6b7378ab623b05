"""What .ci/steps says at the end, however a program ends; which mistakes are made; how properties fail."""

import os
import platform
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

CI = Path(__file__).resolve().parent.parent / ".ci"
mistakes = SimpleNamespace(**runpy.run_path(str(CI / "mistakes.py")))


def run(steps: str) -> tuple[int, list[str], Path]:
    """Exit status, the summary's lines and the folder that was made, of a program with these steps."""
    if os.name != "posix":
        pytest.skip("these programs are for a shell that isn't here")
    code = f'source {CI / "steps"}\necho "made $made"\n{steps}'
    done = subprocess.run(["bash", "-c", code, "program"], capture_output=True, encoding="utf-8", check=False)
    output, _, summary = done.stdout.partition("\nprogram, ")
    result = re.search(r"^made (.*)$", output, re.MULTILINE)
    assert result is not None, done.stderr
    lines = [re.sub(r"^ *\d+ s +", "", line) for line in summary.splitlines()[1:]]
    return done.returncode, lines, Path(result[1])


NO = 'no() { skipped "nobody is there"; }\n'
STEPS_PROGRAM = """work() {
cd /nowhere && true
echo not here
false | cat
touch "$made/went-on"
}
try "fine" true
try "work" work
try "worse" bash -c "exit 3"
try "went on" [ -e "$made/went-on" ]
step "last" true"""
PROGRAMS = {
    "every step is named": (
        f'{NO}step "the first" true\nstep "asking" no\nstep "last" [ -d "$made" ]',
        0,
        ["done      the first", "SKIPPED   asking (nobody is there)", "done      last"],
    ),
    "what comes after a failure is tried too": (
        STEPS_PROGRAM,
        1,
        ["done      fine", "FAILED    work", "FAILED    worse", "FAILED    went on", "done      last"],
    ),
    **{
        f"the first failure ends it: {failing}": (
            f'work() {{\n{failing}\n}}\nstep "fine" true\nstep "work" work\nstep "never" true',
            status,
            ["done      fine", "FAILED    work"],
        )
        for failing, status in {
            "exit 3": 3,
            "false; true": 1,
            "false | cat": 1,
            "cd /nowhere && true": 1,
            'echo "$nothing"': 1,
            "pip() { return 4; }; pip install this && true": 4,
        }.items()
    },
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_ends_with_what_came_of_each_step(program: str) -> None:
    steps, status, lines = PROGRAMS[program]
    ended, output, script = run(steps)
    assert (ended, output) == (status, lines)
    assert not script.exists()


def test_github_runs_what_is_run_here_and_rooms_that_are_there() -> None:
    workflows = CI.parent / ".github" / "workflows"
    checks = yaml.safe_load((workflows / "checks.yml").read_text("utf-8"))["jobs"]
    assert checks["linux"]["steps"][-1]["run"] == ".ci/run"
    installing, testing = (step["run"] for step in checks["elsewhere"]["steps"][-2:])
    assert f'"installing" {installing}\n' in (CI / "run").read_text("utf-8")
    assert all((CI.parent / room).is_dir() for room in testing.split()[1:])
    nightly = yaml.safe_load((workflows / "nightly.yml").read_text("utf-8"))
    assert nightly[True]["schedule"], "YAML 1.1 takes `on` for a truth"
    assert ".ci/nightly" in [step.get("run") for step in nightly["jobs"]["nightly"]["steps"]]
    site = yaml.safe_load((workflows / "site.yml").read_text("utf-8"))["jobs"]["build"]["steps"]
    assert [step["run"] for step in site if "run" in step][-2:] == [installing, "python docs/make.py"]


def test_actions_and_images_are_named_by_what_is_in_them() -> None:
    """A tag may be moved to other code; a commit and a digest can't."""
    root = CI.parent
    used = [
        (path.name, name)
        for path in (*(root / ".github" / "workflows").glob("*.yml"), root / "deploy" / "Dockerfile")
        for name in re.findall(r"^ *(?:- uses|uses|container|FROM):? (\S+)", path.read_text("utf-8"), re.M)
    ]
    assert len(used) > 10
    for path, name in used:
        assert re.search(r"@(sha256:[0-9a-f]{64}|[0-9a-f]{40})$", name), f"{path}: {name}"


def test_no_room_is_left_out_on_another_processor(tmp_path: Path) -> None:
    """What `pytest` runs is run, with the kernel's own products, whatever was set before."""
    (tmp_path / "said").touch()
    python = f'echo "$RNNVIZ_TEST_ROUNDING $OPENBLAS_CORETYPE $OMP_NUM_THREADS $*" >>{tmp_path}/said'
    status, _, _ = run(f'python() {{ {python}; }}\nstep "numbers" numeric_rooms Prescott 2 -m slow')
    assert status == 0
    _kernel, tests = (tmp_path / "said").read_text("utf-8").splitlines()
    assert tests == "own Prescott 2 -m pytest -m slow", "no folder is named, and none left out"
    assert "numeric_rooms Haswell 1\n" in (CI / "run").read_text("utf-8")
    assert "kernels=(Haswell Prescott)" in (CI / "nightly").read_text("utf-8")


def test_no_room_of_look_is_left_out_where_the_labs_libraries_are_missing(tmp_path: Path) -> None:
    """Pip and pytest of the second environment say what they are asked for."""
    python = f'mkdir -p "$3/bin"; for it in pip python; do install -m 755 {tmp_path}/it "$3/bin/$it"; done'
    (tmp_path / "it").write_text(f'#!/bin/sh\necho "${{0##*/}} $*" >>{tmp_path}/said\n', "utf-8")
    status, _, _ = run(f'python3() {{ {python}; }}\nPYTHON=python3\nstep "look" look_alone')
    assert status == 0
    installed, removed, tested = (tmp_path / "said").read_text("utf-8").splitlines()
    assert "-e .[app,compress,notebook] axe" in installed
    assert " pytest>=" in installed
    assert removed == "pip uninstall --yes numba scikit-learn torch"
    rooms = {path.parent.name for path in (CI.parent / "rnnviz").glob("*/__init__.py")} - {"lab"}
    assert {word.removeprefix("tests/") for word in tested.split() if word.startswith("tests/")} == rooms
    assert tested.endswith(" rnnviz --ignore=rnnviz/lab")
    assert " look_alone\n" in (CI / "run").read_text("utf-8")


COMPUTES = """
import numpy, torch
from threadpoolctl import threadpool_info
print({library["architecture"] for library in threadpool_info() if library["user_api"] == "blas"})
print("X86_V4" in numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", []))
print(torch.backends.cpu.get_cpu_capability(), torch.get_num_threads())
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="another processor has other names")
def test_numbers_are_computed_as_on_a_processor_without_avx512(tmp_path: Path) -> None:
    """A setting's name that nothing knows is silently heeded by nothing."""
    (tmp_path / "computes.py").write_text(COMPUTES, "utf-8")
    python = f'case "$*" in *pytest*) "{sys.executable}" {tmp_path}/computes.py >{tmp_path}/found;; esac'
    status, _, _ = run(f'python() {{ {python}; }}\nstep "numbers" numeric_rooms Haswell 2')
    assert status == 0
    assert (tmp_path / "found").read_text("utf-8").splitlines() == ["{'Haswell'}", "False", "AVX2 2"]


@pytest.mark.parametrize(
    ("knows", "pins", "status", "outcome"),
    [("echo PYSEC-2014-8; exit 1", "exit 0", 0, "done"),
     ("echo PYSEC-2014-8; exit 1", "exit 1", 1, "FAILED"),
     ("exit 0", "exit 1", 0, "SKIPPED")],
)  # fmt: skip
def test_an_advisory_service_that_knows_nothing_audits_nothing(
    knows: str, pins: str, status: int, outcome: str
) -> None:
    service = f'case "$*" in *weak.txt*) {knows};; *) {pins};; esac'
    ended, lines, _ = run(f'pip-audit() ( {service}; )\nstep "pins" audit')
    assert ended == status
    assert lines[0].startswith(f"{outcome} ")


def test_deliberate_mistakes_are_made_in_every_room() -> None:
    settings = tomllib.loads((CI.parent / "pyproject.toml").read_text("utf-8"))["tool"]["mutmut"]
    assert settings["source_paths"] == ["rnnviz"]
    assert "only_mutate" not in settings
    for choice in settings["pytest_add_cli_args_test_selection"]:
        assert (CI.parent / choice.rpartition("=")[2].partition("::")[0]).exists(), choice


def test_a_seed_draws_the_same_mistakes_and_nearly_the_same_of_changed_code() -> None:
    names = [f"module.function__mutmut_{n}" for n in range(2000)]
    mutants = mistakes.drawn(names, 300, seed=0)
    assert mutants == mistakes.drawn(reversed(names), 300, seed=0)
    assert len(mutants & mistakes.drawn(names, 300, seed=1)) < 100
    assert len(mutants & mistakes.drawn(names[100:], 300, seed=0)) > 250
    assert 100 < len(mutants & {*names[:1000]}) < 200  # anywhere


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({}, ""),
        ({"killed": 83, "survived": 16}, "at least 85 % are wanted"),
        ({"killed": 83, "not checked": 1}, "at least 85 % are wanted"),  # as where mutmut was interrupted
        ({"killed": 85, "timeout": 0, "suspicious": 1, "survived": 14}, ""),
        ({"killed": 0, "timeout": 0, "survived": 0}, "no mistakes were made"),
    ],
)
def test_only_mistakes_that_a_test_ended_are_noticed(changed: dict[str, int], wrong: str) -> None:
    outcomes = {"killed": 84, "survived": 15, "timeout": 1, **changed}
    assert mistakes.share([name for name, count in outcomes.items() for _ in range(count)], 85.0) == wrong


def test_the_share_has_an_interval(capsys: pytest.CaptureFixture[str]) -> None:
    """Wilson's; R. G. Newcombe, Statistics in Medicine 17 (1998), has 0.2553 to 0.3662 for 81 of 263."""
    assert mistakes.share(["killed"] * 81 + ["survived"] * 182, 30.0) == ""
    assert "263 mistakes, 30.8 % noticed, 95 % interval 25.5 to 36.6 %" in capsys.readouterr().out
