"""The text viewer's component: registered once, mounted by a page, as often as there are texts on it.

What it shares with the live view is fetched from that view's own address.
"""

from __future__ import annotations

from rnnviz.ui.browser.component import Component
from rnnviz.ui.pages.explore import assets as live
from rnnviz.ui.pages.perplexity import assets

_component = Component(
    "viewer",
    root="rnnviz-viewer",
    base=assets.URL,
    shared=[f"{live.URL}/{module}.js" for module in ("entry", "wire", "link", "characters")],
    missing="The text viewer's files are missing here: start the app with `streamlit run app.py`.",
)
mount, asked = _component.mount, _component.asked
