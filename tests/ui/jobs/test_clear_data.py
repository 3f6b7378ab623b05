"""What is found of a text is its owner's alone, and goes at a click."""

import gc
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from rnnviz.errors import ConfigError
from rnnviz.ui.jobs import store
from rnnviz.ui.jobs.store import Key, Store
from rnnviz.ui.pages.perplexity.text_sources import InputText
from tests.support import needs
from tests.support.apptest import Open, run_until_settled
from tests.support.perplexity_page import open_section, paste, upload

OTHER = Key("of no text")


@pytest.fixture
def kept(tmp_path: Path) -> Store:
    """A store with a result of three texts and one of none."""
    found = Store()
    for name in "abc":
        (tmp_path / name).mkdir()
        found.put(Key("full", name, "model"), name, tmp_path / name)
    found.put(OTHER, 1)
    return found


def test_texts_go_and_what_is_of_no_text_stays(kept: Store, tmp_path: Path) -> None:
    kept.forget_texts()
    assert list(tmp_path.iterdir()) == []
    assert [kept.get(Key("full", name, "model")) for name in "abc"] == 3 * [None]
    assert kept.get(OTHER) == 1


def files() -> list[Path]:
    folder = store.shared().folder().parent
    return [path for path in folder.rglob("*") if path.name != ".lock"]


def test_only_the_owner_can_read_what_is_kept(open_app: Open) -> None:
    upload(open_app("perplexity"), ("a.txt", "The machine. " * 9), ("b.txt", "A lever of brass. " * 9))
    assert {"codes.u4", "nll.f4"} <= {path.name for path in files()}
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [*files(), store.shared().folder().parent]}
    if os.name == "posix":
        assert set(modes.values()) == {0o600, 0o700}
        assert all((mode == 0o700) == path.is_dir() for path, mode in modes.items())


def tell(words: str) -> list[str]:
    """The files kept that hold these words."""
    coded = words.encode("utf-32-le")
    return [path.name for path in files() if path.is_file() and coded in path.read_bytes()]


def test_a_reader_can_have_all_texts_forgotten_at_once(open_app: Open) -> None:
    app = upload(open_app("perplexity", model="tiny-lstm"), ("mine.txt", "A lever of brass. " * 9))
    assert tell("A lever") == ["codes.u4"]
    paste(app, "The secret machine. " * 9)
    assert "Perplexity of pasted text" in [metric.label for metric in app.metric]
    assert tell("The secret") == ["codes.u4"]
    # Where the session keeps texts with their files open.
    origins = [name for name in app.session_state if name.startswith("origin.") and name.count(".") == 1]
    shown = [app.session_state[name] for name in origins]
    assert [one.record.read("codes").size > 0 for one in shown]
    app.button(key="forget-texts").click().run()
    assert tell("The secret") == tell("A lever") == []
    for one in shown:
        with pytest.raises(ConfigError, match="was closed"):
            one.record.read("codes")
    app = run_until_settled(app.run(), "perplexity")
    assert [one.label for one in app.metric if "Perplexity" in one.label] == ["Perplexity of an example"]
    assert app.text_area(key="pasted").value == ""
    assert not app.warning
    assert not [button for button in app.button if button.key == "forget-texts"]
    assert app.sidebar.selectbox(key="model").value == "tiny-lstm"


def test_all_that_was_made_of_a_text_is_forgotten(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    needs.coder()
    made, put = set[Key](), Store.put

    def seen(self: Store, key: Key, *result: Any) -> Any:
        made.add(key)
        return put(self, key, *result)

    app = run_until_settled(open_app("perplexity"), "perplexity")
    monkeypatch.setattr(Store, "put", seen)
    app = upload(app, ("mine.txt", "A lever of brass. " * 9))
    for part in ("against", "compression"):
        run_until_settled(open_section(app, part), "perplexity")
    run_until_settled(app.button(key="pack").click().run(), "perplexity")
    assert {key.kind for key in made} == {"full", "plain", "baselines", "pack"}
    kept, theirs = store.shared(), made.copy()
    assert all(kept.get(key) is not None for key in theirs)
    app.button(key="forget-texts").click().run()
    assert [key.kind for key in theirs if kept.get(key) is not None] == []
    run_until_settled(app, "perplexity")
    gc.collect()
    # isinstance() would wake torch's deprecated names among the objects.
    assert not [item for item in gc.get_objects() if type(item) is InputText and item.name == "mine.txt"]
