"""The app's components. A run of a page sends a loader of a few lines; the browser fetches modules once."""

import json
from typing import Any

import streamlit as st

from rnnviz.ui.browser.views import VIEWS, script_address

ASK = "ask"

# Streamlit sends a component's JavaScript at each run, so it is only this loader. The promise of the script
# is kept between runs; after a failure it is dropped, and the next run tries again.
_LOADER = """
const about = %s;
let script;
export default function (component) {
  script ??= import(new URL(about.script, window.location.origin).href);
  return script.then(
    ({ enter }) => enter(component),
    () => {
      script = undefined;
      const place = component.parentElement.querySelector("." + about.root);
      place.textContent = about.missing;
      place.hidden = false;
    },
  );
}
"""


class Component:
    """A view of VIEWS, registered with Streamlit once and mounted by any number of pages."""

    def __init__(self, name: str) -> None:
        view = VIEWS[name]
        script = script_address(view.script)
        about = {"script": script, "root": view.root, "missing": view.missing}
        self._component = st.components.v2.component(
            f"rnnviz.{name}",
            html=f'<div class="rv {view.root}" data-testid="rnnviz-{name}" hidden>\n</div>',
            js=_LOADER % json.dumps(about),
        )

    def mount(self, data: bytes, *, key: str) -> None:
        """Draw `data`, the bytes of `payload.pack`, in the component `key`, which the first call creates.

        `take_ask(key)` returns the view's ask at the next run.
        """

        # Streamlit calls this at the beginning of the run that the ask causes, before any of the page's code.
        # The page may not come as far as this component in that run: so the ask waits in a key of its own.
        def keep_ask() -> None:
            st.session_state[f"{key}.{ASK}"] = st.session_state[key].get(ASK)

        self._component(key=key, data=data, on_ask_change=keep_ask)


def take_ask(key: str) -> Any:
    """The ask of the view at `key` since the last run, any JSON value, once; None without an ask."""
    return st.session_state.pop(f"{key}.{ASK}", None)


_PRESENTING = "html[data-rv-presenting]"


def presenting_style(key: str) -> str:
    """CSS that hides all but the component of this key during the presentation.

    That is a page which shows only its view, for a projector. static/present.js begins and ends it, without a
    run of the script.
    """
    block = f'{_PRESENTING} [data-testid="stMainBlockContainer"]'
    component = f".st-key-{key}"
    return f"""
{_PRESENTING} :is(
  [data-testid="stSidebar"], [data-testid="stHeader"], [data-testid="stExpandSidebarButton"]
) {{
  display: none;
}}
{block} {{ padding: 0.5rem 1.5rem 0; max-width: none; }}
{block} [data-testid="stVerticalBlock"] > :not(:has({component}), {component}) {{ display: none; }}
"""
