"""The text viewer's component: registered once, mounted by a page, as often as there are texts on it.

What Streamlit sends is a loader of a few lines; the modules are fetched once,
from `assets.URL`, and those shared with the live view from its own address.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from rnnviz.ui.live import assets as live
from rnnviz.ui.viewer import assets

ASK = "ask"

_LOADER = """
const base = %r, live = %r;
let modules;
const load = (address) => import(new URL(address, window.location.origin).href);
export default function (component) {
  modules ??= Promise.all([
    load(base + "/main.js"),
    load(live + "/wire.js"),
    load(live + "/link.js"),
    load(live + "/characters.js"),
  ]);
  return modules.then(
    ([viewer, ...shared]) => viewer.mount(component, base, Object.assign({}, ...shared)),
    () => {
      modules = undefined;
      const root = component.parentElement.querySelector(".rnnviz-viewer");
      root.textContent =
        "The text viewer's files are missing here: start the app with `streamlit run app.py`.";
      root.hidden = false;
    },
  );
}
"""

_component = st.components.v2.component(
    "rnnviz.viewer",
    html='<div class="rnnviz-viewer" data-testid="rnnviz-viewer" hidden>\n</div>',
    js=_LOADER % (assets.URL, live.URL),
)


def mount(data: bytes, *, key: str, on_ask: Callable[[], None]) -> None:
    """Put the viewer on the page, or hand `data` to the one that is there.

    `on_ask` is called before the next run whenever the browser asks for
    something; `asked(key)` then says what.
    """
    _component(key=key, data=data, on_ask_change=on_ask)


def asked(key: str) -> Any:
    """What the browser asked, in a callback; a JSON value."""
    state = st.session_state.get(key)
    return None if state is None else state.get(ASK)
