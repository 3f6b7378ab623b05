"""The installed package, tried in an empty folder, without its checkout and without torch.
Run by the Python of an environment that has `rnnviz[app]` and nothing else; any failure ends it non-zero.
"""

import importlib.util
import math
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

BIN = Path(sys.executable).parent
PATIENCE = 120  # seconds that a command has


def command(*words: str) -> subprocess.CompletedProcess[str]:
    """`rnnviz` with these words, as it is on the path."""
    return subprocess.run(
        [BIN / "rnnviz", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )


def package() -> None:
    """What the package answers is what it answers in a checkout."""
    import rnnviz

    assert Path(rnnviz.__file__).is_relative_to(sys.prefix), rnnviz.__file__
    assert importlib.util.find_spec("torch") is None, "torch came along"
    trace = rnnviz.trace(rnnviz.load("timemachine-gru"), "machine")
    assert trace.hidden.shape == (7, 1, 256)
    assert Path(rnnviz.__file__).with_name("py.typed").exists()
    assert math.isclose(trace.perplexity[-1], 3.35876, rel_tol=1e-4), trace.perplexity[-1]
    for corpus, size in (("timemachine", 178_979), ("names", 36_122)):
        assert rnnviz.corpora.open_corpus(corpus).characters == size, corpus
    for info in rnnviz.available()[0]:
        text = "他走进门来。" if info.name.startswith("chinese") else "He came in."
        assert math.isfinite(rnnviz.perplexity(rnnviz.load(info.name), text=text).perplexity), info.name


def commands() -> None:
    """The command is there, scores a file, writes a page with its licences, and says what it does."""
    Path("book.txt").write_text("It was past midnight when the machine came back. " * 20, "utf-8")
    scored = command("perplexity", "book.txt", "--model", "timemachine-lstm", "--json")
    assert scored.returncode == 0, scored.stderr
    assert '"perplexity":' in scored.stdout
    assert command("page", "--model", "names-lstm", "--output", "page").returncode == 0
    assert "SIL OPEN FONT LICENSE" in Path("page", "NOTICE.txt").read_text("utf-8")
    assert command().returncode == 2
    assert command("--version").stdout.startswith("rnnviz ")


def pages() -> None:
    """Each page runs from the installed files, and shows no error."""
    from streamlit.testing.v1 import AppTest
    from streamlit.util import calc_hash

    import rnnviz

    script = Path(rnnviz.__file__).parent / "ui" / "script" / "main.py"
    folders = sorted(found.parent.name for found in script.parents[2].glob("*/pages/*/page.py"))
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
    """`rnnviz app` answers at a port, and gives away its page and Plotly."""
    words = [sys.executable, "-u", BIN / "rnnviz", "app", "--no-browser", "--port", "0"]
    started = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8")
    try:
        named = (re.search(r"http://localhost:\d+", line) for line in started.stdout)
        address = next(found[0] for found in named if found)
        proxyless = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for _ in range(200):  # it is about to listen
            with suppress(urllib.error.URLError):
                proxyless.open(address + "/_stcore/health", timeout=PATIENCE)
                break
            time.sleep(0.1)
        from rnnviz.ui.browser.views import ADDRESS

        for path, wanted in (("/", b"<html"), (f"{ADDRESS}/plotly/plotly.min.js", b"plotly")):
            assert wanted in proxyless.open(address + path, timeout=PATIENCE).read(), path
    finally:
        started.terminate()
        started.communicate(timeout=30)


if __name__ == "__main__":
    for check in (package, commands, pages, served):
        check()
        print(f"{check.__name__}: {check.__doc__.splitlines()[0]}")
