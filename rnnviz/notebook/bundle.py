"""The widget's browser files as the one ES module that anywidget takes: the files themselves, unchanged, each
made a module of its own in the browser, where its imports are replaced by the addresses of those before it.
"""

from __future__ import annotations

import json
import posixpath
import re
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
PACKAGE = HERE.parent
ENTRY = "notebook/widget.js"
VIEW = "ui/pages/explore/static"

_IMPORT = re.compile(r'^(import [^"]*?from )"(\.[^"]+)";', re.MULTILINE)

_LOADER = """const sources = %s;
const at = {};
for (const [name, source] of sources) {
  const text = source.replace(/"\\0([^"]+)"/g, (_, other) => JSON.stringify(at[other]));
  at[name] = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
}
const { widget } = await import(at[%s]);
export default widget(%s, %s);
"""


def modules(entry: str = ENTRY) -> dict[str, str]:
    """Each file's source by its path in the package, after all that it imports; the paths in its imports are
    marked by a NUL before them.
    """
    found: dict[str, str] = {}

    def visit(name: str) -> None:
        if name in found:
            return
        folder = posixpath.dirname(name)

        def there(match: re.Match[str]) -> str:
            other = posixpath.normpath(posixpath.join(folder, match[2]))
            visit(other)
            return f'{match[1]}"\0{other}";'

        source = _IMPORT.sub(there, (PACKAGE / name).read_text("utf-8"))
        found[name] = source

    visit(entry)
    return found


@cache
def bundle() -> str:
    """The module: its default export is what anywidget calls."""
    styles = "\n".join(
        (PACKAGE / file).read_text("utf-8") for file in ("ui/browser/static/kit.css", f"{VIEW}/view.css")
    )
    markup = (PACKAGE / VIEW / "view.html").read_text("utf-8")
    return _LOADER % tuple(map(json.dumps, (list(modules().items()), ENTRY, styles, markup)))
