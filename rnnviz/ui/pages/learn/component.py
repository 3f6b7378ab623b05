"""The lecture's component: registered once, mounted by the page with JSON in UTF-8.

What it shares with the live view is fetched from that view's own address.
"""

from __future__ import annotations

from rnnviz.ui.browser.component import Component
from rnnviz.ui.pages.explore import assets as live
from rnnviz.ui.pages.learn import assets

_component = Component(
    "learn",
    root="rnnviz-learn",
    base=assets.URL,
    shared=[f"{live.URL}/{module}.js" for module in ("entry", "link")],
    missing="The lecture's files are missing here: start the app with `streamlit run app.py`.",
)
mount, asked = _component.mount, _component.asked
