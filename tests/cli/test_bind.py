"""Typed functions as commands: which options they have, what is passed on, and what is refused."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest

from rnnviz.cli import bind
from rnnviz.cli.bind import ExclusiveGroup, FieldOptions, Help, Removed, UsageError
from rnnviz.networks.settings import setting

WHERE = ExclusiveGroup(required=True)
GOT: list[dict[str, Any]] = []


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
    made: float = 0.0


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
        tuple[int, ...], Help("units", convert=lambda said: tuple(map(int, said.split(","))))
    ] = (),
    as_json: Annotated[bool, Help("print JSON", "--json")] = False,
    gone: Annotated[str | None, Help("write quantity", "--value", action=Removed)] = None,
) -> int:
    """Look for something.

    examples:
      look 100 %
    """
    if until == "line" and as_json:
        raise UsageError("lines are no JSON")
    GOT.append({**locals()})
    return 3


def main(words: str) -> int:
    parser = argparse.ArgumentParser(prog="rnnviz")
    bind.add_command(parser.add_subparsers(), look)
    given = parser.parse_args(words.split())
    run: Callable[[argparse.Namespace], int] = given.run
    return run(given)


def got(words: str) -> dict[str, Any]:
    assert main(words) == 3
    return GOT.pop()


LEAST = "look a -m gru --file b.txt"


def test_parameters_are_options_with_their_types_and_defaults() -> None:
    found = got(LEAST)
    assert (found["names"], found["source"], found["model"]) == (["a"], Whole(file="b.txt"), "gru")
    assert (found["quantity"], found["controls"], found["units"], found["as_json"]) == (
        None,
        1_000,
        (),
        False,
    )
    found = got("look a b --corpus c --model gru --quantity x --quantity y --units 1,2 --json --share 1")
    assert (found["names"], found["source"].corpus, found["quantity"]) == (["a", "b"], "c", ["x", "y"])
    assert (found["units"], found["as_json"], found["share"]) == ((1, 2), True, 1.0)


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
def test_what_argparse_takes_is_taken(words: str, name: str, value: object) -> None:
    assert got(f"{LEAST} {words}")[name] == value


def test_of_a_recipe_what_was_given_is_passed_on() -> None:
    assert got(LEAST)["recipe"] == {}
    found = got(f"{LEAST} --size 1000 --tied --no-bias --rule c")  # what a field may be its dataclass says
    assert found["recipe"] == {"size": 1_000, "tied": True, "biased": False, "rule": "c"}


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
def test_what_is_misspelt_says_the_usage_and_ends_with_2(words: str, capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: rnnviz")


def test_the_help_is_the_docstring_and_the_annotations(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main("look --help")
    said = capsys.readouterr().out
    assert "Look for something." in said
    assert "examples:\n  look 100 %" in said
    assert "a corpus, 100 % of it" in said
    flat = " ".join(said.split())
    assert "how many (default: 1,000)" in flat
    assert "recipe: --size SIZE how large (default: 1,000) --rate RATE how fast (default: 0.003)" in flat
    assert "--no-bias without a bias --rule" in flat
    assert "--made" not in said, "no setting"
    assert "--value" not in said
