"""The app's views, one line each, and the address of their browser files.

A page's `static/` holds its view: view.js (exports the class View), view.css, and view.html, the initial
elements. All views share `ui/browser/static/`. The server keeps the folders' layout in `rnnviz`, so
relative imports hold in browsers, in Node and for the type checker. Plotly's file comes from its package.

The address contains a digest of all files: a browser caches them for good, and a changed file changes the
address. app.py imports this module, through serving/entry.py: keep it light.
"""

import hashlib
import mimetypes
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from rnnviz.page.modules import PACKAGE

KIT = PACKAGE / "ui" / "browser" / "static"
KATEX = PACKAGE / "ui" / "browser" / "katex"  # a library, unchanged from its npm package

# Browsers refuse modules served as text/plain, the type of .js in some Windows registries.
for _ending in (".js", ".mjs"):
    mimetypes.add_type("text/javascript", _ending)
mimetypes.add_type("font/woff2", ".woff2")


@dataclass(frozen=True)
class View:
    """A view.

    files    its folder in the package
    root     the CSS class of the element that it draws in
    missing  the sentence shown where the browser can't fetch its files
    """

    name: str
    files: str
    root: str
    missing: str

    @property
    def folder(self) -> Path:
        """The folder of the view's browser files."""
        return PACKAGE / self.files


_HOW = "files are missing here: start the app with `streamlit run app.py`."
VIEWS = {
    view.name: view
    for view in (
        View("live", "ui/pages/explore/static", "rnnviz", f"The live view's {_HOW}"),
        View("viewer", "ui/pages/perplexity/static", "rnnviz-viewer", f"The text viewer's {_HOW}"),
        View("dashboard", "lab/pages/inside/static", "rnnviz-dashboard", f"The dashboard's {_HOW}"),
        View("training", "lab/pages/train/static", "rnnviz-training", f"The training view's {_HOW}"),
        View("learn", "ui/pages/learn/static", "rnnviz-learn", f"The lecture's {_HOW}"),
        View("address", "ui/browser/address", "rnnviz-address", f"The address's {_HOW}"),
    )
}
FOLDERS = (KIT, KATEX, *(view.folder for view in VIEWS.values()))


def _digest() -> str:
    digest = hashlib.sha256()
    for path in (path for folder in FOLDERS for path in sorted(folder.rglob("*")) if path.is_file()):
        # The path too, ended by a byte that no path has: a file that is moved changes the address.
        digest.update(str(path.relative_to(PACKAGE)).encode() + b"\0" + path.read_bytes())
    # Plotly's file comes from its package, which may be updated without a change here.
    with suppress(PackageNotFoundError):
        digest.update(version("plotly").encode())
    return digest.hexdigest()[:12]


ADDRESS = f"/views/{_digest()}"


def address(folder: Path) -> str:
    """The URL path of a folder of FOLDERS, without the server's name."""
    return f"{ADDRESS}/{folder.relative_to(PACKAGE).as_posix()}"


class _ImmutableFiles(StaticFiles):
    """Files that never change at their address, so that a browser doesn't revalidate them."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        response = super().file_response(*arguments, **options)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


def routes(*, settled: bool = True) -> list[Mount]:
    """The routes of every view's files. `settled`: whether browsers cache them for good; a developer's, who
    edits files while the server runs, don't.
    """
    files = _ImmutableFiles if settled else StaticFiles
    return [
        *(Mount(address(folder), files(directory=folder)) for folder in FOLDERS),
        Mount(f"{ADDRESS}/plotly", files(packages=[("plotly", "package_data")])),
    ]
