"""Each benchmark starts, and does a smallest round. How fast anything is isn't asked here."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import sync_playwright

import rnnviz
from tests.support.driving import browser_path

FOLDER = Path(__file__).with_name("benchmarks")
ROUNDS = {
    "attacks": "--only paths --seconds 2",
    "claims": "finds --file BOOK --model timemachine-mlp --trials 2 --lengths 20000",
    "first_picture": "--starts 1",
    "gates": "PYTHON PYTHON --pairs 2 --parts keystroke",
    "inside": "--parts memory --rounds 1",
    "keystroke": "picture --keys 1 --rounds 1",
    "lecture": "--scenes 1 --steps",
    "room": "--phones 2 --rounds 1 --scenes 2",
    "scoring": "--characters 3000 --cells gru --units 8",
    "training": "--cells gru --units 8 --seconds 0.5 --warm 0.5 --turns 1",
}
PAGES = ("first_picture", "gates", "inside", "keystroke", "lecture", "room")


def test_every_benchmark_is_listed_and_run() -> None:
    programs = {path.stem for path in FOLDER.glob("*.py")} - {"echo", "sitting"}
    assert programs == set(ROUNDS)
    listed = re.findall(r"^\| \[(\w+)\]", (FOLDER / "README.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(ROUNDS)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROUNDS)
def test_a_program_does_a_smallest_round(name: str, tmp_path: Path) -> None:
    if name in PAGES and not os.environ.get("RNNVIZ_REQUIRE_BROWSER"):
        with sync_playwright() as playwright:
            if browser_path(playwright) is None:
                pytest.skip("no browser")
    book = tmp_path / "book.txt"
    book.write_text(rnnviz.corpora.open_corpus("timemachine").text[:20_000], "utf-8")
    options = ROUNDS[name].replace("BOOK", str(book)).replace("PYTHON", sys.executable).split()
    command = [sys.executable, FOLDER / f"{name}.py", *options]
    options: dict[str, Any] = {"capture_output": True, "encoding": "utf-8", "timeout": 300, "check": False}
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONUTF8": "1"}, **options)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^= .+\t[\d,.e+-]+", done.stdout, re.MULTILINE), done.stdout
