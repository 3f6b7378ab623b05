"""What the app's own components have in common: how their browser files get there, and what they ask.

What Streamlit sends with every answer is a loader of a few lines; the modules
themselves are fetched once, from addresses that hold a digest of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

ASK = "ask"

_LOADER = """
const { base, root, shared, missing } = %s;
const load = (address) => import(new URL(address, window.location.origin).href);
let modules;
export default function (component) {
  modules ??= Promise.all([base + "/main.js", ...shared].map(load));
  return modules.then(
    ([main, ...others]) => main.mount(component, base, Object.assign({}, ...others)),
    () => {
      modules = undefined;
      const place = component.parentElement.querySelector("." + root.replaceAll(" ", "."));
      place.textContent = missing;
      place.hidden = false;
    },
  );
}
"""


class Component:
    """A component, registered once and mounted by a page as often as it likes.

    `name` is rnnviz.… in Streamlit, and `root` the class, or classes, of the element it draws in. `base`
    is where its files are: main.js there exports mount(component, base, exports), which is handed what
    the modules at the addresses `shared` export. `missing` is said where they can't be fetched.
    """

    def __init__(self, name: str, *, root: str, base: str, shared: Sequence[str] = (), missing: str) -> None:
        about = {"base": base, "root": root, "shared": list(shared), "missing": missing}
        self._component = st.components.v2.component(
            f"rnnviz.{name}",
            html=f'<div class="{root}" data-testid="rnnviz-{name}" hidden>\n</div>',
            js=_LOADER % json.dumps(about),
        )

    def mount(self, data: bytes, *, key: str, on_ask: Callable[[], None]) -> None:
        """Put it on the page, or hand `data` to the one that is there.

        `on_ask` is called before the next run whenever the browser asks for
        something; `asked(key)` then says what.
        """
        self._component(key=key, data=data, on_ask_change=on_ask)

    def asked(self, key: str) -> Any:
        """What the browser asked, in a callback; a JSON value."""
        state = st.session_state.get(key)
        return None if state is None else state.get(ASK)
