"""The live view's component: registered once, mounted by the page."""

from __future__ import annotations

from rnnviz.ui.browser.component import Component
from rnnviz.ui.pages.explore import assets

_component = Component(
    "live",
    root="rnnviz",
    base=assets.URL,
    missing="The live view's files are missing here: start the app with `streamlit run app.py`.",
)
mount, asked = _component.mount, _component.asked
