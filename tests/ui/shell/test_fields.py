"""A field is decided once a run: by code, by the address, by its widget, or as usual."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from rnnviz.ui.shell import address
from tests.support.fields import EDGES, PART

Visit = Callable[..., AppTest]


def script() -> None:
    """A page with three fields; how it is run stands in st.session_state."""
    import streamlit as st

    from rnnviz.ui.shell import address, fields
    from tests.support.fields import EDGES, NAMES, PART, TEXT, why_gone

    given = st.session_state["given"]
    address.record_arrival(given.get("page", "page"))
    top = st.container()
    words = {name: name.title() for name in given.get("parts", ("one", "two"))}
    PART.choose(
        "Part", words, given.get("usual"), subject=given.get("of"), why=why_gone if given.get("why") else None
    )
    if given.get("open", True):
        EDGES.resolve(range(10))
        st.number_input("Edges", 0, 9, **EDGES.widget)
    NAMES.choose("Names", words, draw=st.multiselect)
    TEXT.resolve()
    for field, value in given.get("put", ()):
        field.request(value)
    with top:
        fields.show_rejected_values()
    st.session_state["found"] = dict(address.current_values())
    if not given.get("cut"):
        address.arrival().is_answered = True


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch) -> Visit:
    """Come to the page by an address, in this session (`app`) or a new one; `back`: by Back."""

    def come(app: AppTest | None = None, *, back: bool = False, given: Any = None, **query: str) -> AppTest:
        app = app or AppTest.from_function(script)
        app.session_state["given"] = given or {}
        app.query_params.clear()
        for name, value in query.items():
            app.query_params[name] = value
        with monkeypatch.context() as patched:
            patched.setattr(address, "is_history_navigation", lambda: back)
            app.run()
        return app

    return come


def found(app: AppTest) -> dict[str, str | None]:
    """What the page says belongs in its address."""
    said: dict[str, str | None] = app.session_state["found"]
    return said


def said(app: AppTest) -> list[str]:
    return [warning.value for warning in app.warning]


def again(app: AppTest, **given: Any) -> AppTest:
    app.session_state["given"] = given
    return app.run()


def test_the_address_counts_at_an_arrival_and_the_reader_after_it(visit: Visit) -> None:
    app = visit(part="TWO", edges="5", names="two,one", text="given")
    whole = {"part": "two", "edges": "5", "names": "two,one", "text": "given"}
    assert found(app) == found(app.run()) == whole
    assert found(app.segmented_control(key="part").set_value("one").run()) == whole | {"part": "one"}
    assert found(app.number_input(key="edges").set_value(7).run())["edges"] == "7"
    assert not app.number_input(key="edges").proto.set_value, "a widget that has moved on would jump back"
    assert found(visit(app, given={"page": "other"})) == whole | {"part": "one", "edges": "7"}
    usual = {"part": "one", "edges": "3", "names": None, "text": None}
    assert found(visit(app, back=True, edges="2")) == usual | {"edges": "2"}


def test_a_field_follows_an_arrival_when_it_is_first_looked_at(visit: Visit) -> None:
    app = visit(given={"open": False}, edges="5")
    assert "edges" not in found(app)
    assert found(again(app.run()))["edges"] == "5"


def test_a_run_that_was_cut_off_hands_its_arrival_on(visit: Visit) -> None:
    app = visit(given={"cut": True}, part="two")
    app.session_state["part"] = "one"  # a browser that hasn't heard of it
    assert found(again(app))["part"] == "two"


def test_what_nobody_set_is_as_usual_though_that_changes(visit: Visit) -> None:
    app = visit(given={"usual": "two"})
    assert found(app)["part"] == "two"
    assert found(again(app, usual="one"))["part"] == "one"
    app.segmented_control(key="part").set_value("two").run()
    assert found(again(app, usual="three", parts=("two", "three")))["part"] == "two"
    assert found(again(app, usual="three", parts=("three",)))["part"] == "three"
    assert not said(app)
    app = visit(part="two", given={"of": "a"})
    assert found(again(app, of="a"))["part"] == "two"
    assert found(again(app, of="b"))["part"] == "one", "it was set for something else"


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"part": "<b>"}, r"There is no **\<b\>** under *Part* here. This is **One**."),
        ({"edges": "ten"}, "There is no **ten** under *Edges* here. This is **3**."),
        ({"edges": "10"}, "There is no **10** under *Edges* here. This is **3**."),
        ({"names": "one,three"}, r"There is no **one\,three** under *Names* here."),
        ({"text": "damaged"}, "This text is damaged"),
    ],
)
def test_a_refusal_outlives_its_run_until_the_reader_sets_the_field(
    visit: Visit, query: dict[str, str], sentence: str
) -> None:
    app = visit(**query)
    assert said(app) == [sentence]
    assert said(app.run()) == [sentence]
    assert not said(visit(app, given={"page": "other"}))


def test_a_refusal_is_gone_with_its_field_or_once_the_reader_sets_that(visit: Visit) -> None:
    app = visit(edges="10")
    assert not said(again(app, open=False)), "it isn't looked at"
    assert said(again(app))
    assert not said(app.number_input(key="edges").set_value(4).run())


def test_why_a_value_is_not_there_is_said_until_it_is(visit: Visit) -> None:
    app = visit(part="two")
    gone = again(app, parts=("one",), why=True)
    assert said(gone) == ["two is gone. This is **One**."]
    assert said(gone.run())
    assert not said(again(app, why=True))
    assert found(app)["part"] == "one"
    gone = again(visit(given={"usual": "two"}), parts=("one",), usual="one", why=True)
    assert said(gone) == ["two is gone. This is **One**."], "though nobody set it"


def test_a_single_option_is_written_and_looks_like_no_choice(visit: Visit) -> None:
    app = visit(given={"parts": ("one", "two")})
    assert [one.label for one in app.button_group] == ["Part"]
    app = visit(given={"parts": ("two",), "usual": "two"})
    assert not app.button_group
    assert "Two" in "".join(one.value for one in app.markdown)
    assert app.multiselect, "of names one may be chosen, or none"


def test_code_puts_a_value_for_the_next_run(visit: Visit) -> None:
    app = visit(edges="5", given={"put": [(PART, "two"), (EDGES, 12)]})
    assert found(app)["part"] == "one"
    assert found(again(app)) == {"part": "two", "edges": "5", "names": None, "text": None}
    assert said(app) == ["There is no **12** under *Edges* here. This is **5**."]
    again(app, put=[(EDGES, None)])
    assert found(again(app))["edges"] == "3", "as usual"
