"""The app's views, one line each, and the address of their browser files.

A page's `static/` holds its view: view.js (exports the class View), view.css, and view.html, the initial
elements. All views share `ui/browser/static/`, the kit. A browser fetches two scripts: the kit's, and the
view's with its style sheet and its elements. Loaded one by one, the modules of Explore were 42 requests, four
levels of import deep. Plotly's file comes from its package, and KaTeX's from its folder.

The address contains a digest of all files: a browser caches them for good, and a changed file changes the
address. app.py imports this module, through serving/entry.py: keep it light.
"""

import hashlib
import json
import mimetypes
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from rnnviz.page.modules import PACKAGE, bundle, style_sheet
from rnnviz.page.responses import PackedFile, pack_file

KIT = PACKAGE / "ui" / "browser" / "static"
KATEX = PACKAGE / "ui" / "browser" / "katex"  # a library, unchanged from its npm package
KIT_SCRIPT = "kit"
_ENTRY, _FIRST = "ui/browser/static/component.js", "ui/browser/static/first_picture.js"

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

    @property
    def script(self) -> str:
        """The name of the script that has it. The address is on every page, so it comes with the kit."""
        return KIT_SCRIPT if self.name == "address" else self.name


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


def script_address(name: str) -> str:
    """The URL path of a script, without the server's name."""
    return f"{ADDRESS}/{name}.js"


def make_script(name: str) -> str:
    """The script `name`: of a view, or the kit's. It exports `enter`, which takes the argument with which
    Streamlit calls a component, and `first`, which draws the view in the first picture.
    """
    (view,) = (view for view in VIEWS.values() if view.script == name)
    modules = sorted(path.relative_to(PACKAGE).as_posix() for path in KIT.glob("*.js"))
    code = f"{view.files}/view.js"
    if name == KIT_SCRIPT:
        lines = [f"export const kit = {bundle(*modules, code)};", f'const {{ View }} = kit["{code}"];']
    else:
        library = KATEX.relative_to(PACKAGE).as_posix() + "/katex.mjs"
        external = {path: f'kit["{path}"]' for path in modules} | {library: "library.default"}
        lines = ['import { kit } from "./kit.js";', f"const {{ View }} = {bundle(code, external=external)};"]
        if external[library] in lines[1]:
            lines.insert(0, f'import * as library from "./{library}";')
    return "\n".join(
        [
            *lines,
            f"const look = {json.dumps(_look(view))};",
            f'export const enter = (component) => kit["{_ENTRY}"].enter(component, View, look);',
            f'export const first = () => kit["{_FIRST}"].show(View, look);\n',
        ]
    )


def _look(view: View) -> dict[str, str]:
    """What a view's modules are given (types.d.ts: Look)."""
    markup = view.folder / "view.html"
    return {
        "root": view.root,
        "styles": style_sheet(f"{KIT.relative_to(PACKAGE).as_posix()}/shared.css", f"{view.files}/view.css"),
        "markup": markup.read_text("utf-8") if markup.exists() else "",
    }


@cache
def packed_script(name: str) -> PackedFile:
    """A view's script as it is sent, made once."""
    return pack_file(make_script(name).encode(), f"{name}.js", permanent=True)


class _ImmutableFiles(StaticFiles):
    """Files that never change at their address, so that a browser doesn't revalidate them."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        response = super().file_response(*arguments, **options)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


def routes(*, settled: bool = True) -> list[BaseRoute]:
    """The routes of every view's files. `settled`: whether browsers cache them for good; a developer's, who
    edits files while the server runs, don't.
    """
    files = _ImmutableFiles if settled else StaticFiles

    def script(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in {view.script for view in VIEWS.values()}:
            return Response(status_code=404)
        file = packed_script(name) if settled else pack_file(make_script(name).encode(), f"{name}.js")
        return file.answer(request)

    return [
        Route(f"{ADDRESS}/{{name}}.js", script),
        *(Mount(address(folder), files(directory=folder)) for folder in FOLDERS),
        Mount(f"{ADDRESS}/plotly", files(packages=[("plotly", "package_data")])),
    ]
