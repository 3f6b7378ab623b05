"""The live view's component: registered once, mounted by the page.

What Streamlit sends with every answer is a loader of a few lines; the modules
themselves are fetched once, from `assets.URL`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from rnnviz.ui.live import assets

ASK = "ask"

_LOADER = """
const base = %r;
let modules;
export default function (component) {
  modules ??= import(new URL(base + "/main.js", window.location.origin).href);
  return modules.then(
    (live) => live.mount(component, base),
    () => {
      modules = undefined;
      const root = component.parentElement.querySelector(".rnnviz");
      root.textContent =
        "The live view's files are missing here: start the app with `streamlit run app.py`.";
      root.hidden = false;
    },
  );
}
"""

_component = st.components.v2.component(
    "rnnviz.live",
    html='<div class="rnnviz" data-testid="rnnviz-live" hidden>\n</div>',
    js=_LOADER % assets.URL,
)


def mount(data: bytes, *, key: str, on_ask: Callable[[], None]) -> None:
    """Put the live view on the page, or hand `data` to the one that is there.

    `on_ask` is called before the next run whenever the browser asks for
    something; `asked(key)` then says what.
    """
    _component(key=key, data=data, on_ask_change=on_ask)


def asked(key: str) -> Any:
    """What the browser asked, in a callback; a JSON value."""
    state = st.session_state.get(key)
    return None if state is None else state.get(ASK)
