"""Typed functions as commands: which options they have, what is passed on, and what is refused."""

import argparse
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest

from rnnviz.cli import bind
from rnnviz.cli.bind import ExclusiveGroup, FieldOptions, Help, Removed, UsageError
from rnnviz.networks.settings import setting

WHERE = ExclusiveGroup(required=True)
CALLS: list[dict[str, Any]] = []


@dataclass(frozen=True)
class Source:
    corpus: Annotated[str | None, Help("a corpus", one_of=WHERE)] = None
    file: Annotated[str | None, Help("a file", "-f", one_of=WHERE)] = None


@dataclass(frozen=True)
class Recipe:
    cell: str = field(default="gru", metadata=setting("which cell"))
    size: int = field(default=1_000, metadata=setting("how large"))
    rate: float = field(default=3e-3, metadata=setting("how fast"))
    tied: bool = field(default=False, metadata=setting("tied"))
    biased: bool = field(default=True, metadata=setting("without a bias", names=("--no-bias",)))
    rule: Literal["a", "b"] = field(default="a", metadata=setting("a or b"))
    recipe_made: float = 0.0


@dataclass(frozen=True)
class Whole(Source):
    corpus: Annotated[str | None, Help("a corpus, 100 % of it", one_of=WHERE)] = None


def look(
    names: Annotated[list[str], Help("what to look for", metavar="NAME", positional=True)],
    source: Whole,
    recipe: Annotated[dict[str, Any], FieldOptions(Recipe, "recipe", but=["cell"])],
    *,
    model: Annotated[str, Help("a model", "-m")],
    quantity: Annotated[list[str] | None, "again for more"] = None,
    controls: Annotated[int, Help("how many", least=0)] = 1_000,
    share: float = 0.75,
    until: Annotated[Literal["line", "paragraph"] | None, "line or paragraph"] = None,
    units: Annotated[
        tuple[int, ...], Help("units", convert=lambda text: tuple(map(int, text.split(","))))
    ] = (),
    as_json: Annotated[bool, Help("print JSON", "--json")] = False,
    removed: Annotated[str | None, Help("write quantity", "--value", action=Removed)] = None,
) -> int:
    """Look for something.

    examples:
      look 100 %
    """
    if until == "line" and as_json:
        raise UsageError("lines are no JSON")
    CALLS.append({**locals()})
    return 3


def main(words: str) -> int:
    parser = argparse.ArgumentParser(prog="rnnviz")
    bind.add_command(parser.add_subparsers(), look)
    namespace = parser.parse_args(words.split())
    return int(namespace.run(namespace))


def run_once(words: str) -> dict[str, Any]:
    assert main(words) == 3
    return CALLS.pop()


LEAST = "look a -m gru --file b.txt"


def test_parameters_become_options() -> None:
    values = run_once(LEAST)
    assert (values["names"], values["source"], values["model"]) == (["a"], Whole(file="b.txt"), "gru")
    assert (values["quantity"], values["controls"], values["units"], values["as_json"]) == (
        None,
        1_000,
        (),
        False,
    )
    values = run_once(
        "look a b --corpus c --model gru --quantity x --quantity y --units 1,2 --json --share 1"
    )
    assert (values["names"], values["source"].corpus, values["quantity"]) == (["a", "b"], "c", ["x", "y"])
    assert (values["units"], values["as_json"], values["share"]) == ((1, 2), True, 1.0)


@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        ("--mod lstm", "model", "lstm"),  # abbreviated; of an option given twice the last counts
        ("--controls 2 --controls 7", "controls", 7),
        ("--controls 0", "controls", 0),
        ("--until line", "until", "line"),
        ("--json", "as_json", True),
    ],
)
def test_option_values_are_parsed(words: str, name: str, value: object) -> None:
    assert run_once(f"{LEAST} {words}")[name] == value


def test_field_options_pass_given_fields_alone() -> None:
    assert run_once(LEAST)["recipe"] == {}
    values = run_once(
        f"{LEAST} --size 1000 --tied --no-bias --rule c"
    )  # what a field may be its dataclass says
    assert values["recipe"] == {"size": 1_000, "tied": True, "biased": False, "rule": "c"}


@pytest.mark.parametrize(
    "words",
    [
        "look a -m gru",
        "look a --file b",
        "look -m gru --file b",
        f"{LEAST} --corpus c",
        f"{LEAST} --controls 1.5",
        f"{LEAST} --until page",
        f"{LEAST} --contrl 2",
        f"{LEAST} --cell gru",
        f"{LEAST} --until line --json",
    ],
)
def test_misspelt_options_print_usage_and_exit_2(words: str, capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: rnnviz")


def test_help_has_docstring_and_annotations(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main("look --help")
    text = capsys.readouterr().out
    assert "examples:\n  look 100 %" in text
    flat = " ".join(text.split())
    for part in (
        "Look for something.",
        "a corpus, 100 % of it",
        "how many (default: 1,000)",
        "recipe: --size SIZE how large (default: 1,000) --rate RATE how fast (default: 0.003)",
        "--no-bias without a bias --rule",
    ):
        assert part in flat
    for option in ("--made", "--value"):  # no setting, and a removed one
        assert option not in text
