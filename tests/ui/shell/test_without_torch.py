"""Where torch isn't installed, what needs it says which command brings it, and all else is alive."""

import pytest

from rnnviz.networks import has_torch
from tests.conftest import TEXT
from tests.support.apptest import Open
from tests.ui.pages.test_perplexity import upload


@pytest.fixture(autouse=True)
def hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(has_torch, "installed", lambda: False)


@pytest.mark.parametrize(("locale", "said"), [("en", "needs torch"), ("zh", "要用 torch")])
def test_train_cannot_start(open_app: Open, locale: str, said: str) -> None:
    app = open_app("train", locale=locale)
    assert [said in each.value and "pip" in each.value for each in app.info] == [True]
    assert app.button(key="train-start").disabled


def test_a_text_is_scored(open_app: Open) -> None:
    app = upload(open_app("perplexity", model="tiny-gru"), ("a.txt", TEXT))
    assert app.metric[0].label == r"Perplexity of a\.txt"
