"""The lecture's formulas: no symbol that nothing explains, and no explanation without a symbol."""

import json
import re
from importlib.resources import files

import pytest

from rnnviz import i18n
from rnnviz.lecture import symbols
from rnnviz.lecture.scenes import scenes
from rnnviz.lecture.symbols import SYMBOLS
from tests.support.lecture import unexplained


@pytest.mark.parametrize(
    "formula", ["x", r"\s{t} + k", r"\phi(\s{t})", r"\text{bits}", r"\mathbf{H}", r"\s t"]
)
def test_a_symbol_without_a_name_is_noticed(formula: str) -> None:
    assert unexplained(formula)


def test_a_phone_knows_every_command_of_a_formula() -> None:
    steps = [step for scene in scenes() for step in scene.steps]
    formulas = " ".join(symbols.typeset(step.formula_at(step.initial_values)) for step in steps)
    known = (files("rnnviz") / "ui/serving/room/phone/formula.js").read_text("utf-8")
    by_name = {"log", "exp", "max", "min", "lim"}  # written as they are called
    commands = set(re.findall(r"\\([A-Za-z]+)", formulas))
    assert {name for name in commands - by_name if not re.search(rf"\b{name}\b", known)} == set()


def test_every_explanation_is_of_a_symbol_that_is_shown() -> None:
    symbols_shown: set[str] = set()
    for step in (step for scene in scenes() for step in scene.steps):
        values = step.initial_values
        symbols_shown |= set(symbols.NAMED.findall(step.formula_at(values)))
        symbols_shown |= _named(step.draw(values)[0])
    assert SYMBOLS.keys() - symbols_shown == set()


def _named(picture: object) -> set[str]:
    """The symbols in a picture: what stands for one, and those of its formulas."""
    text = json.dumps(picture)
    stand = " ".join(re.findall(r'"stands": "([^"]*)"', text)).split()
    return {*stand, *re.findall(r"symbol=([^}]*)\}", text)}


def test_a_symbol_is_ascii_by_name_and_explained_in_words() -> None:
    for name, symbol in SYMBOLS.items():
        assert name.isascii(), name
        assert not set(name) & set("{},= ~%#&^$\\\\"), name  # KaTeX reads these in another way
        assert len(symbol.means) > 3, name
        assert symbol.means[0].islower(), name
        assert set(symbol.shape) <= set("ndhq1 ×"), name
        assert symbol.latex.count("{") == symbol.latex.count("}"), name


def test_a_formula_has_a_handle_on_every_symbol_in_the_session_s_language(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert symbols.typeset(r"\s{W_hh}") == r"\htmlData{symbol=W_hh}{\mathbf{W}_{hh}}"
    with pytest.raises(KeyError):
        symbols.typeset(r"\s{nothing}")
    assert symbols.typeset(r"\s{perplexity}").endswith(r"{\text{perplexity}}")
    monkeypatch.setattr(i18n, "_asks", lambda: "zh")
    assert symbols.typeset(r"\s{perplexity}").endswith(r"{\text{困惑度}}")
