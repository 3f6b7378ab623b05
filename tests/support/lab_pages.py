"""What tests do with the pages Inside and Train in AppTest."""

from typing import Any

from streamlit.testing.v1 import AppTest

from tests.support.apptest import run_until_settled
from tests.support.models import tiny, tiny_card

INSIDE_PARTS = ("units", "match", "memory", "cause")


def choose_way(app: AppTest, way: str) -> AppTest:
    """Choose a way under Cause."""
    return run_until_settled(app.segmented_control(key="inside.way").set_value(way).run(), "inside")


def ask_dashboard(app: AppTest, key: str, **action: Any) -> AppTest:
    """As if a dashboard's browser had asked this."""
    app.session_state[f"{key}.ask"] = {"client": "me", "seq": 1, **action}
    return app.run()


def write_text(app: AppTest, text: str) -> AppTest:
    return app.text_area(key="inside.text").set_value(text).run()


def text_values(dashboard: dict[str, Any], n: int = 0) -> Any:
    """The values by which a dashboard's text `n` is coloured, one a character."""
    return dashboard["arrays"][dashboard["texts"][n]["values"]]


def pick_text(app: AppTest, text: str) -> AppTest:
    return app.selectbox(key="train-text").select(text).run()


TINY_GRU = tiny("gru", card=tiny_card())
