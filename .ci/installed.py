"""The installed package, tried in an empty folder, without its checkout and without torch.
Run by the Python of an environment that has `rnnviz[app]` and nothing else; any failure ends it non-zero.
"""

import importlib.util
import math
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

BIN = Path(sys.executable).parent
PATIENCE = 120  # seconds that a command has


def command(*words: str) -> subprocess.CompletedProcess[str]:
    """`rnnviz` with these words, as it is on the path."""
    return subprocess.run(
        [BIN / "rnnviz", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE
    )


def package() -> None:
    """What the package answers is what it answers in a checkout."""
    import rnnviz

    assert Path(rnnviz.__file__).is_relative_to(sys.prefix), rnnviz.__file__
    assert importlib.util.find_spec("torch") is None, "torch came along"
    model = rnnviz.load("timemachine-gru")
    trace = rnnviz.trace(model, "machine")
    assert trace.hidden.shape == (7, 1, 256)
    assert math.isclose(trace.perplexity[-1], 3.35876, rel_tol=1e-4), trace.perplexity[-1]
    report = rnnviz.perplexity(model, text="The Time Traveller smiled.")
    assert math.isclose(report.perplexity, 2.29815, rel_tol=1e-4), report.perplexity
    assert len(rnnviz.sample(model, "The time", 20, seed=0)) == 20
    for info in rnnviz.available()[0]:
        text = "他走进门来。" if info.name.startswith("chinese") else "He came in."
        assert math.isfinite(rnnviz.perplexity(rnnviz.load(info.name), text=text).perplexity), info.name


def commands() -> None:
    """The command is there, lists the models, and says what it does without a terminal."""
    listed = command("models")
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout.count("timemachine-") == 6, listed.stdout
    Path("book.txt").write_text("It was past midnight when the machine came back. " * 20, "utf-8")
    scored = command("perplexity", "book.txt", "--model", "timemachine-lstm", "--json")
    assert scored.returncode == 0, scored.stderr
    assert '"perplexity":' in scored.stdout
    assert command().returncode == 2
    assert command("--version").stdout.startswith("rnnviz ")


def pages() -> None:
    """Each page runs from the installed files, and shows no error."""
    from streamlit.testing.v1 import AppTest
    from streamlit.util import calc_hash

    import rnnviz

    script = Path(rnnviz.__file__).parent / "ui" / "script" / "main.py"
    folders = sorted(found.parent.name for found in script.parents[1].glob("pages/*/page.py"))
    assert folders == ["explore", "inside", "learn", "perplexity", "train"], folders
    seen = set()
    for page in folders:
        app = AppTest.from_file(str(script), default_timeout=PATIENCE)
        app._page_hash = calc_hash(page)  # switch_page knows files only, and these pages are functions
        app.run()
        assert not app.exception, (page, app.exception)
        assert not app.error, (page, [found.value for found in app.error])
        views = [view.proto.component_name for view in app.get("bidi_component")]
        seen.add((*(title.value for title in app.title), *views))
    assert len(seen) == len(folders), seen  # one page, shown again, would be no other


def served() -> None:
    """`rnnviz app` answers at a port, and gives away its page, Plotly and a view's files."""
    started = subprocess.Popen(
        [BIN / "rnnviz", "app", "--no-browser", "--port", "0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        said = ""
        while (found := re.search(r"http://localhost:\d+", said)) is None:
            line = started.stdout.readline()
            assert line, f"it ended: {said}"
            said += line
        for path, wanted in {
            "/_stcore/health": b"ok",
            "/": b"<html",
            "/plotly/plotly.min.js": b"plotly",
        }.items():
            with _open(found[0] + path) as answer:
                assert wanted in answer.read(), path
    finally:
        started.terminate()
        started.communicate(timeout=30)


def _open(address: str):
    """What is at an address, of a server that is about to listen."""
    proxyless = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for attempt in range(200):
        try:
            return proxyless.open(address, timeout=PATIENCE)
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionRefusedError) or attempt == 199:
                raise
            time.sleep(0.1)
    raise AssertionError(address)


if __name__ == "__main__":
    for check in (package, commands, pages, served):
        check()
        print(f"{check.__name__}: {check.__doc__.splitlines()[0]}")
