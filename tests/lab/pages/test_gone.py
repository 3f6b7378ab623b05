"""A run that a page was asked for and hasn't got is named, and so is what is shown instead."""

import pytest

from rnnviz.lab.run import runs
from tests.support.apptest import Open, warned
from tests.support.made_runs import made


@pytest.mark.usefixtures("started")
def test_an_unknown_run_is_named_until_another_is_chosen(open_app: Open) -> None:
    assert "no run called **nobody** here" in warned(open_app("train", run="nobody"))
    made("one", created=1.0)
    made("two", created=2.0)
    app = open_app("train", run="nobody")
    assert "no run called **nobody** here" in warned(app)
    assert "This is **two**" in warned(app)
    assert not warned(app.radio(key="run").set_value("one").run())
    runs.delete("one")  # in another window
    assert "no run called **one** here" in warned(app.run())
    assert "This is **two**" in warned(app)
