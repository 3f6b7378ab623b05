"""The command line where something is in its way: what was given, where it should write, who reads it."""

import shutil
from pathlib import Path

import pytest

from rnnviz.networks.checkpoint import save
from tests.support.commands import Run, process
from tests.support.models import TEXT, tiny


@pytest.mark.parametrize(
    ("file", "option"),
    [
        ("page.html", ["--html", "{file}.html"]),
        ("page.html", ["--html", "./page.html"]),
        ("rows.csv", ["--output", "./rows.csv", "--column", "text"]),
    ],
)
def test_read_file_is_never_overwritten(run_beside_text: Run, file: str, option: list[str]) -> None:
    shutil.copy("tiny.txt", file)
    code, _, err = run_beside_text("perplexity", file, "--model", "tiny-gru", *option)
    assert code == 1
    assert f"{file} is read here, and would be overwritten" in err
    assert Path(file).read_text("utf-8") == TEXT * 4


def test_model_is_found_by_listed_name(
    run_beside_text: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    save(tiny("gru", name="own"), folder / "own.safetensors")
    (folder / "own.safetensors").rename(folder / "foo.safetensors")
    shutil.copy(folder / "foo.safetensors", folder / "foo.snapshots.safetensors")
    monkeypatch.setenv("RNNVIZ_MODELS", str(folder))
    assert "\nfoo " in run_beside_text("models")[1]
    assert run_beside_text("sample", "--model", "foo", "--length", "3")[0] == 0
    err = run_beside_text("sample", "--model", "own", "--length", "3")[2]
    assert "no model is called 'own'" in err
    assert " foo, " in err
    assert "snapshots" not in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_full_disk_is_reported(command_environment: dict[str, str]) -> None:
    with open("/dev/full", "wb") as full, process("models", command_environment, stdout=full) as done:
        _, err = done.communicate()
    assert done.returncode == 1
    assert err == b"rnnviz: the output can't be written: No space left on device\n"
