"""Tables that promise to be complete: commands, variables of the environment, extras."""

import re
import tomllib

from rnnviz.cli import COMMANDS_HELP
from rnnviz.ui.serving import guard
from tests.support.written import ROOT

PAGE = (ROOT / "docs" / "command-line.md").read_text("utf-8")
VARIABLE = re.compile(r"RNNVIZ_[A-Z_]*[A-Z]")


def first_cells(rows: str) -> list[str]:
    """The first name in backticks of each row of a table, in order."""
    return re.findall(r"^\|[^`\n]*`(\w+)` \|", rows, re.MULTILINE)


def test_command_line_page_lists_all_commands() -> None:
    lines = (line.strip() for line in COMMANDS_HELP.splitlines())
    listed = [match[1] for line in lines if (match := re.match(r"(?:\w+ +)?(\w+) {2,}", line))]
    assert first_cells(PAGE[: PAGE.index("```")]) == listed != []


def test_command_line_page_lists_all_variables() -> None:
    listed = first_cells(PAGE[PAGE.index("\n## Variables of the environment\n") :])
    files = [
        path for name in ("rnnviz", "deploy", "tests", "docs/pictures") for path in (ROOT / name).rglob("*")
    ]
    read = [path for path in files if path.suffix in (".py", ".yaml", ".service", "") and path.is_file()]
    named = {name for path in read for name in VARIABLE.findall(path.read_text("utf-8"))}
    read_variables = named - {"RNNVIZ_REQUIRE", *guard.REMOVED_VARIABLES}
    assert sorted(listed) == sorted(read_variables)
    assert not VARIABLE.findall(PAGE.rpartition("|")[2])  # nothing comes after the table


def test_the_page_of_the_package_has_all_extras() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    page = (ROOT / "docs" / "package.md").read_text("utf-8")
    listed = [
        name
        for cell in re.findall(r"^\| (`[^|]+) \|", page, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", cell)
    ]
    # fast is the lab by its oldest name
    assert set(extras) - {"fast"} == {name for name in listed if name in extras}
