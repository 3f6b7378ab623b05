"""A paste that is longer than its field."""

import pytest

from rnnviz.ui.shell import fields
from tests.support.apptest import Open
from tests.support.perplexity_page import paste


def test_long_pasted_text_shows_warning(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "MAX_PASTE_CHARS", 50)
    app = paste(open_app("perplexity"), "The Time Traveller " * 10)  # more than any browser would send
    assert "This field takes 50 characters" in app.warning[0].value
    assert len(app.text_area(key="pasted").value) == 50
    app = paste(app, "The Time")
    assert not app.warning
