"""The training view's component: registered once, mounted by the page.

What it shares with the live view is fetched from that view's own address.
"""

from __future__ import annotations

from rnnviz.ui.browser.component import Component
from rnnviz.ui.pages.explore import assets as live
from rnnviz.ui.pages.train import assets

_component = Component(
    "training",
    root="rnnviz-training rnnviz",
    base=assets.URL,
    shared=[f"{live.URL}/{module}.js" for module in ("entry", "wire", "characters", "heat", "next")],
    missing="The training view's files are missing here: start the app with `streamlit run app.py`.",
)
mount, asked = _component.mount, _component.asked
