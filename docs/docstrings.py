"""How the API's pages read docstrings: prose, with examples as doctests, and no HTML in it."""

import re

import griffe

EXAMPLE = re.compile(r"^( *)>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)
TABLE = re.compile(r"^\w[\w, ]*? {2,}\S.*\n(?:(?:\w[\w, ]*? {2,}| +)\S.*(?:\n|$))+", re.MULTILINE)
CODE = re.compile(r"(```.*?```|``.+?``|`[^`]+`|^ {4}[^\n]*)", re.MULTILINE | re.DOTALL)


def listed(table: str) -> str:
    """A table of names and what they are, as docstrings have it, as a list."""
    rows = re.sub(r"^ +", "  ", table, flags=re.MULTILINE)
    return "\n" + re.sub(r"^(\w[\w, ]*?) {2,}", r"- `\1`: ", rows, flags=re.MULTILINE) + "\n"


def as_markdown(text: str) -> str:
    """Tables as lists, examples as code, and what HTML would take for a tag so that it is read."""
    text = TABLE.sub(lambda match: listed(match[0]), text)
    text = EXAMPLE.sub(lambda match: f"```pycon\n{match[0]}\n```", text)
    parts = CODE.split(text)
    parts[::2] = [part.replace("<", "&lt;") for part in parts[::2]]
    return "".join(parts)


class Prose(griffe.Extension):
    def on_instance(self, *, obj: griffe.Object, **_: object) -> None:
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
