"""A field is decided once a run: by code, by the address, by its widget, or as usual."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.apptest import visit_address
from tests.support.fields import EDGES, PART


def script() -> None:
    """A page with three fields; how it is run stands in st.session_state."""
    import streamlit as st

    from rnnviz.ui.shell import address, fields
    from tests.support.fields import EDGES, NAMES, PART, TEXT, why_gone

    settings = st.session_state["given"]
    address.record_arrival(settings.get("page", "page"))
    top = st.container()
    words = {name: name.title() for name in settings.get("parts", ("one", "two"))}
    PART.choose(
        "Part",
        words,
        settings.get("usual"),
        subject=settings.get("of"),
        why=why_gone if settings.get("why") else None,
    )
    if settings.get("open", True):
        EDGES.resolve(range(10))
        st.number_input("Edges", 0, 9, **EDGES.widget)
    NAMES.choose("Names", words, draw=st.multiselect)
    TEXT.resolve()
    for field, value in settings.get("put", ()):
        field.request(value)
    with top:
        fields.show_rejected_values()
    st.session_state["found"] = dict(address.current_values())
    if not settings.get("cut"):
        address.arrival().is_answered = True


def visit(app: AppTest | None = None, *, back: bool = False, settings: Any = None, **query: str) -> AppTest:
    """Come to the page by an address, in this session (`app`) or a new one; `back`: by Back."""
    app = app or AppTest.from_function(script)
    app.session_state["given"] = settings or {}
    return visit_address(app, back=back, **query)


def address_values(app: AppTest) -> dict[str, str | None]:
    """What the page says belongs in its address."""
    return dict(app.session_state["found"])


def warnings(app: AppTest) -> list[str]:
    return [warning.value for warning in app.warning]


def rerun(app: AppTest, **settings: Any) -> AppTest:
    app.session_state["given"] = settings
    return app.run()


def test_address_sets_fields_on_arrival_alone() -> None:
    app = visit(part="TWO", edges="5", names="two,one", text="given")
    whole = {"part": "two", "edges": "5", "names": "two,one", "text": "given"}
    assert address_values(app) == address_values(app.run()) == whole
    assert address_values(app.segmented_control(key="part").set_value("one").run()) == whole | {"part": "one"}
    assert address_values(app.number_input(key="edges").set_value(7).run())["edges"] == "7"
    assert not app.number_input(key="edges").proto.set_value, "a widget that has moved on would jump back"
    assert address_values(visit(app, settings={"page": "other"})) == whole | {"part": "one", "edges": "7"}
    usual = {"part": "one", "edges": "3", "names": None, "text": None}
    assert address_values(visit(app, back=True, edges="2")) == usual | {"edges": "2"}


def test_closed_field_follows_earlier_arrival() -> None:
    app = visit(settings={"open": False}, edges="5")
    assert "edges" not in address_values(app)
    assert address_values(rerun(app.run()))["edges"] == "5"


def test_interrupted_run_repeats_arrival() -> None:
    app = visit(settings={"cut": True}, part="two")
    app.session_state["part"] = "one"  # a browser that hasn't heard of it
    assert address_values(rerun(app))["part"] == "two"


def test_a_request_outlives_runs_that_are_cut_off() -> None:
    app = visit(settings={"cut": True, "put": [(PART, "one")]}, part="two", edges="5")
    for _ in range(2):  # one that takes the request, one that makes it again
        assert address_values(rerun(app, cut=True)) == {
            "part": "one",
            "edges": "5",
            "names": None,
            "text": None,
        }
    app = visit(settings={"cut": True, "put": [(PART, None)]}, part="two")
    for _ in range(2):
        assert address_values(rerun(app, cut=True, usual="one"))["part"] == "one"


def test_unset_field_follows_changed_default() -> None:
    app = visit(settings={"usual": "two"})
    assert address_values(app)["part"] == "two"
    assert address_values(rerun(app, usual="one"))["part"] == "one"
    app.segmented_control(key="part").set_value("two").run()
    assert address_values(rerun(app, usual="three", parts=("two", "three")))["part"] == "two"
    assert address_values(rerun(app, usual="three", parts=("three",)))["part"] == "three"
    assert not warnings(app)
    app = visit(part="two", settings={"of": "a"})
    assert address_values(rerun(app, of="a"))["part"] == "two"
    assert address_values(rerun(app, of="b"))["part"] == "one", "it was set for something else"


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
def test_rejected_value_is_named_until_page_change(query: dict[str, str], sentence: str) -> None:
    app = visit(**query)
    assert warnings(app) == [sentence]
    assert warnings(app.run()) == [sentence]
    assert not warnings(visit(app, settings={"page": "other"}))


def test_rejected_value_is_named_until_field_is_set() -> None:
    app = visit(edges="10")
    assert not warnings(rerun(app, open=False)), "it isn't looked at"
    assert warnings(rerun(app))
    assert not warnings(app.number_input(key="edges").set_value(4).run())


def test_why_explains_removed_value_until_it_returns() -> None:
    app = visit(part="two")
    removed = rerun(app, parts=("one",), why=True)
    assert warnings(removed) == ["two is gone. This is **One**."]
    assert warnings(removed.run())
    assert not warnings(rerun(app, why=True))
    assert address_values(app)["part"] == "one"
    removed = rerun(visit(settings={"usual": "two"}), parts=("one",), usual="one", why=True)
    assert warnings(removed) == ["two is gone. This is **One**."], "though nobody set it"


def test_single_option_is_written_without_widget() -> None:
    app = visit(settings={"parts": ("one", "two")})
    assert [widget.label for widget in app.button_group] == ["Part"]
    app = visit(settings={"parts": ("two",), "usual": "two"})
    assert not app.button_group
    assert "Two" in "".join(widget.value for widget in app.markdown)
    assert app.multiselect, "of names one may be chosen, or none"


def test_requested_value_counts_at_next_run() -> None:
    app = visit(edges="5", settings={"put": [(PART, "two"), (EDGES, 12)]})
    assert address_values(app)["part"] == "one"
    assert address_values(rerun(app)) == {"part": "two", "edges": "5", "names": None, "text": None}
    assert warnings(app) == ["There is no **12** under *Edges* here. This is **5**."]
    rerun(app, put=[(EDGES, None)])
    assert address_values(rerun(app))["edges"] == "3", "as usual"
