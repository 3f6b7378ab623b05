"""The widget's browser files as the one ES module that anywidget takes: the files themselves, unchanged, each
made a module of its own in the browser, where its imports are replaced by the addresses of those before it.
"""

from __future__ import annotations

import json
from functools import cache

from rnnviz.ui.browser.modules import PACKAGE, modules

ENTRY = "notebook/widget.js"
VIEW = "ui/pages/explore/static"

_LOADER = """const sources = %s;
const at = {};
for (const [name, source] of sources) {
  const text = source.replace(/"\\0([^"]+)"/g, (_, other) => JSON.stringify(at[other]));
  at[name] = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
}
const { widget } = await import(at[%s]);
export default widget(%s, %s);
"""


@cache
def bundle() -> str:
    """The module: its default export is what anywidget calls."""
    styles = "\n".join(
        (PACKAGE / file).read_text("utf-8") for file in ("ui/browser/static/kit.css", f"{VIEW}/view.css")
    )
    markup = (PACKAGE / VIEW / "view.html").read_text("utf-8")
    return _LOADER % tuple(map(json.dumps, (list(modules(ENTRY).items()), ENTRY, styles, markup)))
