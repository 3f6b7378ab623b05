"""Results and records of a text are its owner's alone, and are removed at a click."""

import gc
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from rnnviz.errors import ConfigError
from rnnviz.ui.jobs import store
from rnnviz.ui.jobs.store import Key, Store
from rnnviz.ui.pages.perplexity.text_sources import ReaderText
from tests.support import needs
from tests.support.apptest import Open, run_until_settled
from tests.support.jobs import SOON, GatedJob
from tests.support.perplexity_page import open_section, paste, upload


def test_forgetting_texts_leaves_results_without_a_text(tmp_path: Path) -> None:
    results, textless = Store(), Key("of no text")
    for name in "abc":
        (tmp_path / name).mkdir()
        results.put(Key("full", name, "model"), name, tmp_path / name)
    results.put(textless, 1)
    results.forget_texts()
    assert list(tmp_path.iterdir()) == []
    assert [results.get(Key("full", name, "model")) for name in "abc"] == 3 * [None]
    assert results.get(textless) == 1


def stored_files() -> list[Path]:
    folder = store.shared().folder().parent
    return [path for path in folder.rglob("*") if path.name != ".lock"]


def test_only_the_owner_can_read_a_record(open_app: Open) -> None:
    upload(open_app("perplexity"), ("a.txt", "The machine. " * 9), ("b.txt", "A lever of brass. " * 9))
    assert {"codes.u4", "nll.f4"} <= {path.name for path in stored_files()}
    modes = {
        path: stat.S_IMODE(path.stat().st_mode) for path in [*stored_files(), store.shared().folder().parent]
    }
    if os.name == "posix":
        assert set(modes.values()) == {0o600, 0o700}
        assert all((mode == 0o700) == path.is_dir() for path, mode in modes.items())


def files_with(words: str) -> list[str]:
    """The names of stored files that hold these words."""
    coded = words.encode("utf-32-le")
    return [path.name for path in stored_files() if path.is_file() and coded in path.read_bytes()]


def test_button_forgets_all_texts_at_once(open_app: Open) -> None:
    app = upload(open_app("perplexity", model="tiny-lstm"), ("mine.txt", "A lever of brass. " * 9))
    assert files_with("A lever") == ["codes.u4"]
    paste(app, "The secret machine. " * 9)
    assert files_with("The secret") == ["codes.u4"]
    # Where the session keeps texts with their files open.
    origins = [name for name in app.session_state if name.startswith("origin.") and name.count(".") == 1]
    views = [app.session_state[name] for name in origins]
    assert [view.record.read("codes").size > 0 for view in views]
    gated = GatedJob()
    app.session_state["perplexity.jobs"].ask("gated", "gated", gated)
    assert gated.started.wait(SOON)
    app.button(key="forget-texts").click().run()
    assert gated.closed.is_set()
    assert files_with("The secret") == files_with("A lever") == []
    for view in views:
        with pytest.raises(ConfigError, match="was closed"):
            view.record.read("codes")
    app = run_until_settled(app.run(), "perplexity")
    assert [metric.label for metric in app.metric if "Perplexity" in metric.label] == [
        "Perplexity of an example"
    ]
    assert app.text_area(key="pasted").value == ""
    assert not app.warning
    assert not [button for button in app.button if button.key == "forget-texts"]
    assert app.sidebar.selectbox(key="model").value == "tiny-lstm"


def test_button_forgets_all_results_of_a_text(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    needs.coder()
    keys, store_result = set[Key](), Store.put

    def put_noting(self: Store, key: Key, *result: Any) -> Any:
        keys.add(key)
        return store_result(self, key, *result)

    app = run_until_settled(open_app("perplexity"), "perplexity")
    monkeypatch.setattr(Store, "put", put_noting)
    app = upload(app, ("mine.txt", "A lever of brass. " * 9))
    for part in ("against", "compression"):
        run_until_settled(open_section(app, part), "perplexity")
    run_until_settled(app.button(key="pack").click().run(), "perplexity")
    assert {key.kind for key in keys} == {"full", "plain", "baselines", "pack"}
    results, text_keys = store.shared(), keys.copy()
    assert all(results.get(key) is not None for key in text_keys)
    app.button(key="forget-texts").click().run()
    assert [key.kind for key in text_keys if results.get(key) is not None] == []
    run_until_settled(app, "perplexity")
    gc.collect()
    # isinstance() would wake torch's deprecated names among the objects.
    assert not [item for item in gc.get_objects() if type(item) is ReaderText and item.name == "mine.txt"]
