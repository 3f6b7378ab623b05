"""Browser modules as one script, and style sheets as one: for the app's views, a notebook's cell and the page
without a server.
"""

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

PACKAGE = Path(__file__).parents[1]

# Our modules import by name and by a relative path, and export functions, classes and constants where these
# are defined. Other forms would need a parser: `bundle` refuses them. A library alone has a default export.
_IMPORT = re.compile(r'^import (\{[^}]*\}|\w+) from "(\.[^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.MULTILINE)
_OTHER_FORM = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)
# A third of what would be sent. A comment behind code stays: to tell it from a string takes a parser.
_COMMENT = re.compile(r"^[ \t]*(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/)\n", re.MULTILINE)
_STYLE_IMPORT = re.compile(r'^@import (?:url\()?"([^"]+)"\)?;$', re.MULTILINE)


def bundle(*entries: str, external: Mapping[str, str] | None = None) -> str:
    """One JavaScript expression with the exports of the modules `entries`, paths in the package; of several,
    an object that has each module's exports by its path.

    external   expressions with the exports of further modules, by path: these are not in the bundle, and a
            library's expression is its default export

    Each module becomes a function that is called at once and returns the module's exports; an import becomes
    the unpacking of such a result. So names of two modules never meet, and each module runs once, after those
    it imports. The expression belongs into a module script, in which `import.meta` and strict mode stay as
    they are; addresses that a module makes of `import.meta.url` hold where the script's folder is the
    package's.

    Raises ValueError for modules that import each other, and for a form of import or export that is not ours.
    """
    results = dict(external or {})  # the result's variable, by the module's path; "" while a module is read
    functions: list[str] = []

    def add_module(path: str) -> str:
        # A module that is still being read has "" here: it would be needed before it has run.
        if path in results:
            if not results[path]:
                raise ValueError(f"{path} imports itself, through others")
            return results[path]
        results[path] = ""
        folder = posixpath.dirname(path)

        def unpack_result(match: re.Match[str]) -> str:
            imported = posixpath.normpath(posixpath.join(folder, match[2]))
            if not match[1].startswith("{") and imported not in results:
                return match[0]  # no library that is external: refused below
            return f"const {match[1].replace(' as ', ': ')} = {add_module(imported)};"

        source = _IMPORT.sub(unpack_result, (PACKAGE / path).read_text("utf-8"))
        exports = _EXPORT.findall(source)
        source = _COMMENT.sub("", _EXPORT.sub("", source))
        source = source.replace("import.meta.url", f'new URL("./{path}", import.meta.url).href')
        if other := _OTHER_FORM.search(source):
            raise ValueError(f"{path}: a bundle can't hold {other[0]!r}")
        # Numbered, not named: two folders have a keys.js.
        results[path] = f"module{len(functions)}"
        returned = ", ".join(exports)
        functions.append(
            f"// {path}\nconst {results[path]} = (() => {{\n{source}return {{ {returned} }};\n}})();"
        )
        return results[path]

    added = {path: add_module(path) for path in entries}
    every = ", ".join(f'"{path}": {result}' for path, result in added.items())
    last = added[entries[0]] if len(entries) == 1 else f"{{ {every} }}"
    return "\n".join(["(() => {", *functions, f"return {last};", "})()"])


def style_sheet(*paths: str) -> str:
    """Style sheets of the package as one, behind those that they import."""
    sheets: dict[str, str] = {}

    def add_sheet(path: str) -> None:
        source = (PACKAGE / path).read_text("utf-8")
        for name in _STYLE_IMPORT.findall(source):
            add_sheet(posixpath.normpath(posixpath.join(posixpath.dirname(path), name)))
        sheets.setdefault(path, _STYLE_IMPORT.sub("", source))

    for path in paths:
        add_sheet(path)
    return "".join(sheets.values())
