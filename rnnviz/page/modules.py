"""Browser modules as one script, for a notebook's cell and for the page without a server."""

import posixpath
import re
from pathlib import Path

PACKAGE = Path(__file__).parents[1]

# Our modules import by name and by a relative path, and export functions, classes and constants where these
# are defined. Other forms would need a parser: `bundle` refuses them.
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "(\.[^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.MULTILINE)
_OTHER_FORM = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)


def bundle(entry: str) -> str:
    """One JavaScript expression with the exports of the module `entry`, a path in the package.

    Each module becomes a function that is called at once and returns the module's exports; an import becomes
    the unpacking of such a result. So names of two modules never meet, and each module runs once, after those
    it imports. The expression belongs into a module script: `import.meta` and strict mode stay as they are.

    Raises ValueError for modules that import each other, and for a form of import or export that is not ours.
    """
    results: dict[str, str] = {}  # the result's variable, by the module's path; "" while a module is read
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
            return f"const {match[1].replace(' as ', ': ')} = {add_module(imported)};"

        source = _IMPORT.sub(unpack_result, (PACKAGE / path).read_text("utf-8"))
        exports = _EXPORT.findall(source)
        source = _EXPORT.sub("", source)
        if other := _OTHER_FORM.search(source):
            raise ValueError(f"{path}: a bundle can't hold {other[0]!r}")
        # Numbered, not named: two folders have a keys.js.
        results[path] = f"module{len(functions)}"
        returned = ", ".join(exports)
        functions.append(
            f"// {path}\nconst {results[path]} = (() => {{\n{source}return {{ {returned} }};\n}})();"
        )
        return results[path]

    last = add_module(entry)
    return "\n".join(["(() => {", *functions, f"return {last};", "})()"])
