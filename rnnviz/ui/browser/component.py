"""The app's components: a loader of a few lines, resent with every answer; the modules are fetched once."""

import json
from collections.abc import Callable
from typing import Any

import streamlit as st

from rnnviz.ui.browser.views import KIT, VIEWS, address

ASK = "ask"

_LOADER = """
const about = %s;
const load = (address) => import(new URL(address, window.location.origin).href);
let modules;
export default function (component) {
  modules ??= Promise.all([load(about.kit + "/enter.js"), load(about.base + "/view.js")]);
  return modules.then(
    ([{ enter }, { View }]) => enter(component, View, about),
    () => {
      modules = undefined;
      const place = component.parentElement.querySelector("." + about.root);
      place.textContent = about.missing;
      place.hidden = false;
    },
  );
}
"""


class Component:
    """One of VIEWS, registered once and mounted by any number of pages."""

    def __init__(self, name: str) -> None:
        view = VIEWS[name]
        html = view.folder / "view.html"
        about = {
            "kit": address(KIT),
            "base": address(view.folder),
            "root": view.root,
            "markup": html.read_text("utf-8") if html.exists() else "",
            "missing": view.missing,
        }
        self._component = st.components.v2.component(
            f"rnnviz.{name}",
            html=f'<div class="rv {view.root}" data-testid="rnnviz-{name}" hidden>\n</div>',
            js=_LOADER % json.dumps(about),
        )

    def mount(self, data: bytes, *, key: str, on_ask: Callable[[], None]) -> None:
        """Draw `data`, creating the component if needed; `on_ask` is called when the browser asks."""
        self._component(key=key, data=data, on_ask_change=on_ask)

    def asked(self, key: str) -> Any:
        """What the browser asked, as a JSON value; for use in a callback."""
        state = st.session_state.get(key)
        return None if state is None else state.get(ASK)
