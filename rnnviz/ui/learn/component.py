"""The lecture's component: registered once, mounted by the page.

What Streamlit sends is a loader of a few lines; the modules are fetched once,
from `assets.URL`, and the one shared with the live view from its own address.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from rnnviz.ui.learn import assets
from rnnviz.ui.live import assets as live

ASK = "ask"

_LOADER = """
const base = %r, live = %r;
let modules;
const load = (address) => import(new URL(address, window.location.origin).href);
export default function (component) {
  modules ??= Promise.all([load(base + "/main.js"), load(live + "/link.js")]);
  return modules.then(
    ([learn, { Link }]) => learn.mount(component, base, Link),
    () => {
      modules = undefined;
      const root = component.parentElement.querySelector(".rnnviz-learn");
      root.textContent =
        "The lecture's files are missing here: start the app with `streamlit run app.py`.";
      root.hidden = false;
    },
  );
}
"""

_component = st.components.v2.component(
    "rnnviz.learn",
    html='<div class="rnnviz-learn" data-testid="rnnviz-learn" hidden>\n</div>',
    js=_LOADER % (assets.URL, live.URL),
)


def mount(data: bytes, *, key: str, on_ask: Callable[[], None]) -> None:
    """Put the lecture on the page, or hand `data` (JSON in UTF-8) to the one that is there.

    `on_ask` is called before the next run whenever the browser asks for
    something; `asked(key)` then says what.
    """
    _component(key=key, data=data, on_ask_change=on_ask)


def asked(key: str) -> Any:
    """What the browser asked, in a callback; a JSON value."""
    state = st.session_state.get(key)
    return None if state is None else state.get(ASK)
