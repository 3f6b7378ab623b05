"""Browser files with all that they import, each a module of its own: for a notebook's cell, and for a page
that needs no server.
"""

import posixpath
import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2]

_IMPORT = re.compile(r'^(import [^"]*?from )"(\.[^"]+)";', re.MULTILINE)


def modules(entry: str) -> dict[str, str]:
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
