"""A page that is left and come back to: what was chosen there is still chosen."""

import pytest
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.testing.v1 import AppTest

from tests.support.apptest import Open, page_words, switch_page
from tests.support.perplexity_page import paste

PAGES = ("explore", "perplexity", "inside", "train", "learn")


def listed(app: AppTest) -> list[str]:
    """The texts of the table."""
    return next(table.value["Text"].tolist() for table in app.dataframe if "Text" in table.value)


def test_pages_can_be_left_and_revisited(open_app: Open) -> None:
    app, titles = open_app("learn", model="tiny-gru"), dict[str, list[str]]()
    for n, page in enumerate(PAGES):
        for other in (page, *PAGES[n + 1 :]):
            for at in dict.fromkeys((other, page)):
                switch_page(app, at)
                title = page_words(app).splitlines()[:1]
                assert titles.setdefault(at, title) == title
    assert len(titles) == len(PAGES)


def test_uploads_and_pasted_text_survive_page_change(open_app: Open) -> None:
    app = open_app("perplexity", model="tiny-gru", section="sum")
    app.file_uploader[0].upload("one.txt", b"the time machine").upload("two.txt", b"a machine of time")
    paste(app, "and a pasted one")
    assert listed(app) == ["one.txt", "two.txt", "pasted text"]
    switch_page(switch_page(app, "learn"), "perplexity")
    assert listed(app) == ["one.txt", "two.txt", "pasted text"]
    assert app.segmented_control(key="section").value == "sum"
    app.file_uploader[0].upload("three.txt", b"the time machine, again").run()
    assert listed(app) == ["one.txt", "two.txt", "three.txt", "pasted text"]
    next(b for b in app.button if b.label == "two\\.txt").click().run()
    assert listed(app) == ["one.txt", "three.txt", "pasted text"]
    app.file_uploader[0].set_value([]).run()
    assert listed(app) == ["one.txt", "pasted text"]
    next(b for b in app.button if b.label == "one\\.txt").click().run()
    assert "one.txt" not in page_words(app)


def test_lost_uploads_are_named_until_uploaded(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_app("perplexity", model="tiny-gru")
    with monkeypatch.context() as lossy:  # as after the server's restart: the browser names what is gone
        lossy.setattr(MemoryUploadedFileManager, "add_file", lambda *_args: None)
        app.file_uploader[0].upload("one.txt", b"the time machine").run()
    assert "upload them again" in page_words(app)
    app.file_uploader[0].upload("one.txt", b"the time machine").run()
    assert "upload them again" not in page_words(app)
    switch_page(switch_page(app, "learn"), "perplexity")
    assert "Uploaded before:" in page_words(app)
    assert "upload them again" not in page_words(app)
