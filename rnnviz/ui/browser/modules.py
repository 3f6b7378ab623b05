"""A browser module with all its imports, for a notebook's cell and for a page that needs no server."""

import posixpath
import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2]

_IMPORT = re.compile(r'^(import [^"]*?from )"(\.[^"]+)";', re.MULTILINE)


def modules(entry: str) -> dict[str, str]:
    """The sources of `entry` and of all its imports, by path in the package; imports come before importers.

    In a source, an import's path begins with a NUL, so that the caller finds it and puts an address there.
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
