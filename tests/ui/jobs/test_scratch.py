"""Temporary folders: a process's own stays while it lives, and is removed however it ends."""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import portalocker
import pytest

from rnnviz.ui.jobs import store
from rnnviz.ui.jobs.store import Scratch, Store, sweep
from tests.support import needs

SERVER = """
import sys
from rnnviz.ui.jobs.store import Store
store = Store()
record = store.folder()
record.mkdir()
(record / "nll.f4").write_bytes(bytes(1000))
print(record.parent, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@contextmanager
def server() -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that keeps a record until its input ends, and its folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    )
    with process:
        yield process, Path(process.stdout.readline().strip())
        process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("end", [subprocess.Popen.terminate, subprocess.Popen.kill])
def test_sweep_removes_folders_of_killed_servers_alone(
    end: Callable[[subprocess.Popen[str]], None], temporary: Path
) -> None:
    with server() as (first, orphan), server() as (_second, used):
        assert {p.name for p in temporary.iterdir()} == {orphan.name, used.name}
        sweep()
        assert orphan.is_dir()
        end(first)
        first.wait()
        assert orphan.is_dir()
        sweep()
        assert not orphan.exists()
        assert [f.stat().st_size for f in used.rglob("nll.f4")] == [1000]


def test_server_removes_its_folder_at_exit() -> None:
    with server() as (process, folder):
        process.stdin.close()
        assert process.wait() == 0
        assert not folder.exists()


def test_sweep_spares_this_process_on_every_thread() -> None:
    store = Store()
    with ThreadPoolExecutor() as threads:
        folder = threads.submit(store.folder).result().parent
    sweep()
    assert folder.is_dir()
    vars(store)["_scratch"].remove()
    assert not folder.exists()
    again = store.folder().parent
    assert again.is_dir()
    vars(store)["_scratch"].remove()


def test_sweep_leaves_foreign_files(temporary: Path) -> None:
    for name in ("outside/diary", "rnnviz-book"):  # without a file to lock the book is none of ours
        (temporary / name).mkdir(parents=True)
    for name in (f"outside/{store.LOCK}", "rnnviz-notes.txt", "rnnviz-book/chapter"):
        (temporary / name).touch()
    before = sorted(temporary.rglob("*"))
    sweep()
    assert sorted(temporary.rglob("*")) == before


def test_sweep_follows_no_link(temporary: Path) -> None:
    outside = temporary / "outside"
    (outside / "diary").mkdir(parents=True)
    (outside / store.LOCK).touch()
    needs.link(temporary / "rnnviz-link", outside)
    sweep()
    assert (outside / "diary").is_dir()
    assert (temporary / "rnnviz-link").is_symlink()


def test_folder_swept_before_its_lock_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another server starts in the moment between a folder's making and its locking."""
    make_folder, rival = tempfile.mkdtemp, []

    def make_swept(prefix: str) -> str:
        folder = Path(make_folder(prefix=prefix))
        if not rival:
            file = (folder / store.LOCK).open("ab")
            portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE)
            rival.append((folder, file))
        return str(folder)

    monkeypatch.setattr(tempfile, "mkdtemp", make_swept)
    scratch = Scratch()
    folder, file = rival[0]
    assert scratch.path != folder
    file.close()
    sweep()
    assert scratch.path.is_dir()
    scratch.remove()
    scratch.remove()
    assert not scratch.path.exists()


def test_sweep_leaves_folders_that_cannot_be_locked(monkeypatch: pytest.MonkeyPatch) -> None:
    def unlockable(*_: object) -> None:
        raise portalocker.LockException("no locks available")

    with monkeypatch.context() as patch:
        patch.setattr(portalocker, "lock", unlockable)
        scratch = Scratch()
    sweep()
    assert scratch.path.is_dir()
    scratch.remove()
    assert not scratch.path.exists()
