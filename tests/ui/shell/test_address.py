"""What a page says belongs in its address, and what somebody finds who arrives by one."""

import zlib

import pytest

from rnnviz.ui.pages.explore import page
from rnnviz.ui.shell.address import pack_text
from tests.support.apptest import (
    Open,
    address_fields,
    component_data,
    page_words,
    run_until_settled,
    url_letters,
    visit_address,
)

OPENING = "The Time Traveller"


def test_arrival_is_sent_once(open_app: Open) -> None:
    app = open_app("explore", model="tiny-gru", text=pack_text("matter\nto us"), unit="5")
    header, arrays = component_data(app)
    assert (header["arrival"]["wrong"], header["arrival"]["cut"]) == ("", None)
    assert arrays["unit"].shape == (12,)
    header, _ = component_data(app.run())
    assert "arrival" not in header  # the reader goes on from there
    assert header["text"] == "matter\nto us"


@pytest.mark.usefixtures("shipped")
def test_address_shows_memoryless_network(open_app: Open) -> None:
    app = open_app("explore", model="timemachine-gru", memoryless="1", text=pack_text("The door"))
    header, arrays = component_data(app)
    assert {"memoryless": True, "quantity": "hidden"}.items() <= header["arrival"].items()
    assert header["fixed"]["memoryless"] == "timemachine-mlp"
    assert len(arrays["memoryless"]) == 8
    for query in ({"memoryless": "2"}, {"unit": "3"}):  # nonsense, and an address from before there was this
        header, arrays = component_data(open_app("explore", model="timemachine-gru", **query))
        assert header["arrival"]["memoryless"] is False
        assert "memoryless" not in arrays
    header, arrays = component_data(open_app("explore", model="python-lstm", memoryless="1"))
    assert (header["fixed"]["memoryless"], "memoryless" in arrays) == (None, False)
    assert header["unit"] == header["fixed"]["first"]["unit"], "the view begins as ever"


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        (f"{pack_text('machine')[:-4]}AAAA", "is damaged"),
        (url_letters(zlib.compress(b"\0" * 10_000_000)), "longer than 2,000 characters"),
        ("A" * 60_000, "longer than 2,000 characters"),
    ],
)
def test_hostile_text_shows_error_and_example(open_app: Open, packed: str, message: str) -> None:
    app = open_app(
        "explore", text=packed, unit="-1", at="1e9", pin="\u0663", rows="x", layer="9" * 400, of="1"
    )
    header, _ = component_data(app)
    assert header["text"] == OPENING
    assert message in header["arrival"]["wrong"]
    assert (header["unit"], header["layer"], header["arrival"]["caret"]) == (None, 0, None)
    assert packed[:30] not in page_words(app)


def test_markup_in_address_stays_text(open_app: Open) -> None:
    text = "<script>document.title = 'owned'</script> **bold** {x} $y$"
    for written in (pack_text(text), text):  # by the page, or by hand
        app = open_app("explore", text=written)
        assert component_data(app)[0]["text"] == text
        assert text not in page_words(app)


def test_back_restores_model_text_and_view(open_app: Open) -> None:
    app = open_app("explore", model="tiny-gru")
    offer = component_data(app)[0]["offer"]
    app.session_state[f"{page.KEY}.ask"] = {"client": "b", "seq": 1, "text": "matter to us"}
    app.run()
    app.sidebar.selectbox(key="model").select("tiny-lstm").run()
    # A key that was pressed in the view that is left has its ask still on its way.
    app.session_state[f"{page.KEY}.ask"] = {"client": "b", "seq": 2, "text": "matter to us!"}
    visit_address(app, back=True, model="tiny-gru", text=pack_text("matter"), unit="3")
    header, _ = component_data(app)
    assert app.sidebar.selectbox(key="model").value == "tiny-gru"
    assert (header["text"], header["unit"]) == ("matter", 3)
    assert header["offer"] > offer  # the browser takes it over
    header, _ = component_data(visit_address(app, back=True, model="tiny-gru"))
    assert (header["text"], header["unit"]) == (OPENING, None)
    assert header["arrival"]["pin"] is None


@pytest.mark.parametrize("page", ["explore", "perplexity"])
def test_entry_left_before_it_was_written_keeps_model_and_text(open_app: Open, page: str) -> None:
    """Streamlit makes the entry at once, and its values come with the page's answer."""
    app = open_app(page, model="tiny-lstm", text=pack_text("matter to us"))
    visit_address(app, back=True)
    fields = address_fields(app)
    assert fields["model"] == "tiny-lstm"
    if page == "explore":
        assert component_data(app)[0]["text"] == "matter to us"
    visit_address(app, back=True, model="tiny-gru")
    assert address_fields(app)["model"] == "tiny-gru"


def test_inside_address_restores_text_position_and_unit(open_app: Open) -> None:
    looks = {"unit": "7", "at": "4", "quantity": "update", "text": pack_text("matter to us, matter to us")}
    app = run_until_settled(open_app("inside", model="tiny-gru", part="units", **looks), "inside")
    assert app.text_area(key="inside.text").value == "matter to us, matter to us"
    assert app.number_input(key="inside.unit").value == 7
    assert component_data(app)[0]["at"] == 4
    in_address = {
        "lang": None,
        "model": "tiny-gru",
        "part": "units",
        **dict.fromkeys(("layer", "direction")),
        **looks,
    }
    assert address_fields(app) == in_address | {"text": "matter to us, matter to us"}
    app.number_input(key="inside.unit").set_value(5).run()
    assert address_fields(app)["unit"] == "5"
    assert (
        component_data(app)[0]["address"]["unit"] == "5"
    )  # a part of the page that is run by itself says it too
    visit_address(app, back=True, model="tiny-gru", part="units", unit="2")
    assert app.number_input(key="inside.unit").value == 2
    assert app.text_area(key="inside.text").value != "matter to us, matter to us"
    message = address_fields(app)
    assert (message["text"], message["at"]) == (None, None)


def test_hostile_inside_address_is_named(open_app: Open) -> None:
    damaged = f"{pack_text('machine')[:-4]}AAAA"
    app = open_app("inside", text=damaged, unit="9" * 30, at="99999", layer="7", quantity="<b>", part="../x")
    message = " ".join(warning.value for warning in app.warning).replace("\\", "")
    assert "text in the address is damaged" in message
    for wrong in ("../x", "9" * 30, "99999", "7", "<b>"):
        assert f"There is no **{wrong}** under" in message
    assert app.segmented_control(key="part").value == "units"
    assert app.number_input(key="inside.unit").value < 12
