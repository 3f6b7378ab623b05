"""The app's components: a loader of a few lines in each answer of the page; modules are fetched once."""

import json
from typing import Any

import streamlit as st

from rnnviz.ui.browser.views import KIT, VIEWS, address

ASK = "ask"

_LOADER = """
const about = %s;
const load = (address) => import(new URL(address, window.location.origin).href);
let modules;
export default function (component) {
  modules ??= Promise.all([load(about.kit + "/component.js"), load(about.base + "/view.js")]);
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

    def mount(self, data: bytes, *, key: str) -> None:
        """Draw `data`, creating the component if needed; the next run finds what is asked in `asked(key)`."""

        def take() -> None:
            st.session_state[f"{key}.{ASK}"] = st.session_state[key].get(ASK)

        self._component(key=key, data=data, on_ask_change=take)


def asked(key: str) -> Any:
    """What the view at `key` has asked the page since the last run, any JSON value; None for nothing."""
    return st.session_state.pop(f"{key}.{ASK}", None)
