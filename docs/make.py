"""Builds the site: `python docs/make.py`, into build/site/html. Its first page is the live view, which opens
from a web server alone; the documentation is in docs/ and opens from the folder it stands in.

Pages are laid side by side before they are built, for some of them stand outside docs/ (PAGES). A link to a
file that is no page, such as a module, becomes its text, as a site has no copy of the code.
"""

import inspect
import posixpath
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path

import plotly

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from rnnviz.page.build import folder_files, networks  # noqa: E402
from rnnviz.page.folder import write  # noqa: E402
from tests.support.gallery import GALLERY, TEXT  # noqa: E402, as the tests stand beside the package

BUILD = ROOT / "build" / "site"
SITE = BUILD / "html"
DOCS = SITE / "docs"
FIRST_PAGE = "../index.html"
"""The link from a page of docs/ to the site's first page."""
MERMAID = ROOT / "node_modules" / "@mermaid-js" / "tiny" / "dist" / "mermaid.tiny.js"
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
WORKER = ROOT / "node_modules" / "iframe-worker" / "shim" / "index.js"


def licence_of(package: str) -> Path:
    """The licence of an installed Python package."""
    return next(
        Path(file.locate()) for file in distribution(package).files if file.name.startswith("LICENSE")
    )


TEMPLATES = Path(distribution("zensical").locate_file("zensical")) / "templates"
LICENCES = {
    "mermaid.tiny.js": [MERMAID.parent.parent / "LICENSE"],
    "plotly.min.js": [licence_of("plotly")],
    "worker.js": [WORKER.parent.parent / "LICENSE"],
    "images/favicon.png javascripts/ stylesheets/": [
        licence_of("zensical"),
        TEMPLATES / "assets/javascripts/LICENSE",
        *(
            TEMPLATES / ".icons" / name
            for name in ("fontawesome/LICENSE.txt", "lucide/LICENSE", "material/LICENSE")
        ),
    ],
}
"""What the documentation's assets hold of others: files or folders, and their licences."""
THEME = ROOT / "docs" / "theme"
ICON = ROOT / "rnnviz" / "ui" / "icon.svg"

PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "readme.md",
    "SECURITY.md": "security.md",
    "deploy/README.md": "deploy.md",
    "models/README.md": "models.md",
    "tests/benchmarks/README.md": "benchmarks.md",
}
"""Pages outside docs/, by the path in the repository."""

FENCE = re.compile(r"^(`{3,}).*?^\1\s*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|!?\[[^\]]*\](?:\([^)]*\))?)*)\]\(([^()\s]+)\)")
BADGE = re.compile(r"\[!\[[^\]]*\]\(\.\./\.\./actions/[^)]*\)\]\([^)]*\)\s*")
"""A workflow's state, whose address GitHub alone has."""
FETCHES = re.compile(
    r"""<(?:script|img|iframe|source|link(?=[^>]*stylesheet))[^>]*?(?:src|srcset|href)="((?:https?:)?//[^"]+)"
    |url\(["']?((?:https?:)?//[^)"']+)|@import\s+["']((?:https?:)?//[^"']+)""",
    re.VERBOSE,
)

FILE = re.compile(r'(?<=\s)(src|srcset|href)="([^"\s]+)"')


def pages() -> dict[str, str]:
    """Every page's path in the repository, and its path on the site."""
    sources = {
        path.relative_to(ROOT).as_posix(): path.relative_to(ROOT / "docs").as_posix()
        for path in sorted((ROOT / "docs").rglob("*.md"))
    }
    return sources | {path: name for path, name in PAGES.items() if (ROOT / path).is_file()}


def site_path(path: str) -> str | None:
    """Where the site shows a file of the repository; None where it has no copy of it."""
    if path.startswith("docs/") and not path.endswith(".py"):
        return path.removeprefix("docs/")
    return PAGES.get(path)


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """`text` with `change` made to all that stands in no fenced block."""
    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [change(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, change(text[end:])])


def picture(words: str, target: str, two: bool) -> str:
    """A picture that opens in full by a click; where there are `two`, that of the page's light or dark."""
    if not two:
        return f"[![{words}]({target})]({target})"
    dark = posixpath.join(posixpath.dirname(target), f"{Path(target).stem}-dark{Path(target).suffix}")
    light = f"[![{words}]({target}#only-light)]({target})"
    return f"{light}[![{words}]({dark}#only-dark)]({dark})"


def relinked(text: str, path: str) -> str:
    """The Markdown of the page at `path`, its links as the site needs them."""
    folder = posixpath.dirname(pages()[path]) or "."

    def on_site(target: str) -> str | None:
        """Where a link of the page leads; None where the site has no copy of that."""
        if re.match(r"[a-z]+:|#|//", target):
            return target
        file, _, anchor = target.partition("#")
        place = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
        page = site_path(place)
        if page is None:  # zensical says so where there is no such file at all
            return None if (ROOT / place).exists() else target
        return posixpath.relpath(page, folder) + (f"#{anchor}" if anchor else "")

    def link(match: re.Match[str]) -> str:
        image, words, target = match.groups()
        laid = on_site(target)
        if laid is None:
            return words
        if image:
            still = (ROOT / path).parent / target
            return picture(words, laid, still.with_stem(f"{still.stem}-dark").is_file())
        return f"{image}[{words}]({laid})"

    def file(match: re.Match[str]) -> str:
        return f'{match[1]}="{on_site(match[2]) or match[2]}"'

    return outside_code(BADGE.sub("", text), lambda part: FILE.sub(file, LINK.sub(link, part)))


def gallery() -> str:
    """The page of the pictures that the package draws, each with the lines that draw it."""
    begin = "```python\nimport rnnviz\nfrom rnnviz import gradients, units\n```"
    parts = [f"# Gallery\n\nPictures that the package draws, and the lines that draw each, after\n\n{begin}"]
    for title, make in GALLERY.items():
        body = "".join(inspect.getsourcelines(make)[0][2:])
        code = textwrap.dedent(body).replace("return ", "figure = ").replace("TEXT", repr(TEXT))
        html = make().update_layout(width=720, height=320).to_html(full_html=False, include_plotlyjs=False)
        parts.append(f"## {title}\n\n```python\n{code}```\n\n{html}")
    return "\n\n".join(parts)


def lay(folder: Path) -> None:
    """All that the site is built from, in `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    for path in sorted((ROOT / "docs").rglob("*")):
        if path.is_file() and path.suffix not in (".md", ".py", ".pyc") and THEME not in path.parents:
            place = folder / path.relative_to(ROOT / "docs")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)
    shutil.copy(ICON, folder)
    for path, name in pages().items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        head = "---\nlang: zh\n---\n\n" if name.endswith(".zh.md") else ""
        place.write_text(head + relinked((ROOT / path).read_text("utf-8"), path), "utf-8")
    (folder / "gallery.md").write_text(gallery(), "utf-8")


def finish(folder: Path) -> None:
    """What zensical would have fetched from another host: what draws a page's diagrams and figures, and what
    lets a page that was opened from a folder search."""
    shutil.copy(WORKER, folder / "assets" / "worker.js")
    drawing = {'class="mermaid"': MERMAID, 'class="plotly-graph-div"': PLOTLY}
    for script in drawing.values():
        shutil.copy(script, folder / "assets")
    for page in folder.rglob("*.html"):
        text = page.read_text("utf-8")
        assets = "../" * (len(page.relative_to(folder).parts) - 1) + "assets"
        text = text.replace("https://unpkg.com/iframe-worker/shim", f"{assets}/worker.js")
        for picture_page, script in drawing.items():
            if picture_page in text:
                text = text.replace("</head>", f'<script src="{assets}/{script.name}"></script></head>', 1)
        page.write_text(text, "utf-8")


def fetched(folder: Path) -> set[str]:
    """What the site's pages and styles would fetch from other hosts."""
    addresses: set[str] = set()
    for file in folder.rglob("*"):
        if file.suffix in (".html", ".css"):
            addresses.update(
                url for match in FETCHES.findall(file.read_text("utf-8")) for url in match if url
            )
    return addresses


def licences(assets: Path) -> str:
    """The licences of all assets, below the files' names. Raises LookupError for an asset without one."""
    named = tuple(name for names in LICENCES for name in names.split())
    files = {path.relative_to(assets).as_posix() for path in assets.rglob("*") if path.is_file()}
    if strangers := {file for file in files if not file.startswith(named)}:
        raise LookupError(f"LICENCES in docs/make.py has no licence of {', '.join(sorted(strangers))}")
    return "\n\n".join(
        f"{names}\n{'=' * len(names)}\n\n" + "\n\n".join(path.read_text("utf-8") for path in paths)
        for names, paths in LICENCES.items()
    )


def main() -> int:
    if not (MERMAID.is_file() and WORKER.is_file()):
        print("The diagrams and the search need what npm ci brings: run that first.", file=sys.stderr)
        return 1
    shutil.rmtree(SITE, ignore_errors=True)
    write(SITE, folder_files(networks(), documentation="docs/index.html"))
    lay(BUILD / "pages")
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--clean", "--strict"], cwd=ROOT, check=False
    )
    if done.returncode:
        return done.returncode
    finish(DOCS)
    (DOCS / "assets" / "LICENSES.txt").write_text(licences(DOCS / "assets"), "utf-8")
    if strangers := fetched(SITE):
        print("The site would fetch from other hosts:", *sorted(strangers), sep="\n", file=sys.stderr)
        return 1
    print(f"Open {DOCS / 'index.html'}; the site's first page: python -m http.server --directory {SITE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
