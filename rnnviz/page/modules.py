"""Browser modules as text, for a notebook's cell and for a page that needs no server; Plotly's file."""

import posixpath
import re
from importlib.util import find_spec
from pathlib import Path

from rnnviz.errors import ConfigError

PACKAGE = Path(__file__).parents[1]

# Our modules write every import on lines that end so, with a relative path; others would need a parser.
_IMPORT = re.compile(r'^(import [^"]*?from )"(\.[^"]+)";', re.MULTILINE)


def module_sources(entry: str) -> dict[str, str]:
    """The sources of `entry` and of all its imports, by path in the package; imports come before importers.

    In a source, an import's path begins with a NUL, so that the caller finds it and puts an address there.
    """
    sources: dict[str, str] = {}

    def visit(name: str) -> None:
        if name in sources:
            return
        folder = posixpath.dirname(name)

        def mark_import(match: re.Match[str]) -> str:
            imported = posixpath.normpath(posixpath.join(folder, match[2]))
            # Before this module, because boot.js makes an address of each as it comes.
            visit(imported)
            return f'{match[1]}"\0{imported}";'

        source = _IMPORT.sub(mark_import, (PACKAGE / name).read_text("utf-8"))
        sources[name] = source

    visit(entry)
    return sources


def plotly_folder() -> Path:
    """The folder of plotly.min.js, in Plotly's package. Raises ConfigError if that isn't installed."""
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        raise ConfigError("a page needs Plotly's drawing library: pip install plotly")
    return Path(spec.origin).parent / "package_data"
