"""The lecture's formulas: no symbol that nothing explains, and no explanation without a symbol."""

import math
import re
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from rnnviz import i18n
from rnnviz.lecture import symbols
from rnnviz.lecture.symbols import SYMBOLS
from rnnviz.networks import checkpoint
from rnnviz.ui.browser.views import VIEWS
from rnnviz.ui.pages.learn import scenes
from rnnviz.ui.pages.learn.session import Lecture
from tests.ui.formulas import every_formula
from tests.ui.test_learn import answered

# What may stand in a formula beside its symbols: how it is set, operators, and functions known from school.
COMMANDS = {
    *("quad", "qquad", "tfrac", "frac", "textstyle", "displaystyle", "bigl", "bigr", "Bigl", "Bigr"),
    *("ldots", "cdots", "mid", "lVert", "rVert", "sum", "prod", "partial", "odot", "cdot", "leftarrow"),
    *("infty", "to", "le", "ge", "approx", "neq", "Rightarrow", "exp", "log", "lim", "max", "min", "top"),
}
MATRIX = re.compile(r"\\(begin|end)\{[bp]?(small)?matrix\}|\\\\")
NAMED = re.compile(r"\\s\{([^{}]*)\}")
COMMAND = re.compile(r"\\(?:([A-Za-z]+)|[,;: |])")
OPERATORS = set("0123456789+-=<>()[]|/,;!^_{} &'")

FORMULAS = list(every_formula())


def unexplained(formula: str) -> set[str]:
    """What in a formula is neither a named symbol nor allowed beside them."""
    rest = MATRIX.sub(" ", NAMED.sub(" ", formula))
    commands = {found[1] for found in COMMAND.finditer(rest) if found[1]}
    return (commands - COMMANDS) | (set(COMMAND.sub(" ", rest)) - OPERATORS)


def test_every_symbol_of_every_formula_is_explained() -> None:
    assert len(FORMULAS) > 40
    wrong = {where: unexplained(formula) for where, formula in FORMULAS if unexplained(formula)}
    assert wrong == {}
    unknown = {name for _, formula in FORMULAS for name in symbols.names(formula)} - SYMBOLS.keys()
    assert unknown == set()


@pytest.mark.parametrize(
    "formula", ["x", r"\s{t} + k", r"\phi(\s{t})", r"\text{bits}", r"\mathbf{H}", r"\s t"]
)
def test_a_symbol_without_a_name_is_noticed(formula: str) -> None:
    assert unexplained(formula)


def drawn() -> set[str]:
    """The symbols that the pictures name: stands: "…" of a matrix, board.stands(element, "…", "…")."""
    found: set[str] = set()
    for path in VIEWS["learn"].folder.glob("*.js"):
        source = re.sub(r"^ *(//|\*).*", "", path.read_text("utf-8"), flags=re.MULTILINE)
        for named in re.findall(r'\bstands: "([^"]+)"', source):
            found.update(named.split())
        for call in re.findall(r"\bboard\.stands\((.*?)\);", source, flags=re.DOTALL):
            found.update(re.search(r'((?:, "[^"]+")*)\s*$', call)[1].replace('"', "").split(", ")[1:])  # type: ignore[index]
    return found


def test_every_explanation_is_of_a_symbol_that_is_shown() -> None:
    shown = {name for _, formula in FORMULAS for name in symbols.names(formula)}
    assert SYMBOLS.keys() - shown - drawn() == set()


def test_what_a_picture_stands_for_is_explained() -> None:
    assert drawn() <= SYMBOLS.keys()


def test_a_symbol_is_ascii_by_name_and_explained_in_words() -> None:
    for name, symbol in SYMBOLS.items():
        assert name.isascii(), name
        assert not set(name) & set("{},= ~%#&^$\\\\"), name  # KaTeX reads these in another way
        assert len(symbol.means) > 3, name
        assert symbol.means[0].islower(), name
        assert set(symbol.shape) <= set("ndhq1 ×"), name
        assert symbol.latex.count("{") == symbol.latex.count("}"), name


def test_a_formula_is_sent_with_a_handle_on_every_symbol() -> None:
    sent = answered(Lecture({"scene": "3", "step": "2"}))
    assert r"\s{" not in sent["formula"]
    assert r"\htmlData{symbol=W_hh}{\mathbf{W}_{hh}}" in sent["formula"]
    assert symbols.names(r"\s{T} + \s{t} + \s{T}") == ["T", "t"]
    with pytest.raises(KeyError):
        symbols.typeset(r"\s{nothing}")


def test_a_picture_says_the_values_of_its_symbols_where_the_board_looks_for_them() -> None:
    said = {}
    for number in range(1, len(scenes.MODULES) + 1):
        lecture = Lecture({"scene": str(number)})
        for step in range(min(8, scenes.scene(number).STEPS)):
            data = answered(lecture, {"step": step})["data"]
            assert not isinstance(data.get("symbols"), dict), (number, step, "it is called here")
            assert data.get("here", {}).keys() <= SYMBOLS.keys(), (number, step)
            said |= {(number, step, name): one["value"] for name, one in data.get("here", {}).items()}
    assert len(said) > 20


def test_values_of_symbols_are_those_of_the_picture() -> None:
    def shown(number: int, name: str, **ask: object) -> tuple[dict[str, Any], dict[str, Any]]:
        step = scenes.scene(number).NAMES.index(name)  # type: ignore[attr-defined]
        data = answered(Lecture({"scene": str(number)}), {"step": step, "ask": ask})["data"]
        return data, {symbol: one["value"] for symbol, one in data["here"].items()}

    data, here = shown(5, "train")
    assert here["T"] == len(data["losses"]) == len("machin")
    assert here["L"] == pytest.approx(sum(data["losses"]) / len(data["losses"]), abs=1e-4)
    assert math.exp(here["L"]) == pytest.approx(here["perplexity"])
    data, here = shown(7, "dial", radius=1.2, power=1)
    first = np.array(data["matrix"])[: symbols.SHOWN, : symbols.SHOWN]
    assert np.allclose(here["W_hh"], first, atol=1e-4)
    assert here["rho"] == pytest.approx(max(abs(np.linalg.eigvals(np.array(data["matrix"])))), abs=1e-3)
    data, here = shown(2, "state", model="rnn")
    stored = load_file(checkpoint.find("timemachine-rnn"))
    assert np.allclose(
        here["W_hh"], stored["recurrence.weight_hh_l0"].T[: symbols.SHOWN, : symbols.SHOWN], atol=1e-3
    )
    assert data["here"]["W_hh"]["shape"] == "256 × 256"
    assert data["here"]["W_xh"]["shape"] == "128 × 256"
    data, here = shown(7, "clip", gradient=[4, 3])
    assert here["g"] == [[4.0, 3.0]]
    assert data["norms"] == pytest.approx([5.0, here["theta"]])


def test_a_word_of_a_formula_is_in_the_session_s_language(monkeypatch: pytest.MonkeyPatch) -> None:
    assert symbols.typeset(r"\s{perplexity}").endswith(r"{\text{perplexity}}")
    monkeypatch.setattr(i18n, "_asks", lambda: "zh")
    assert symbols.typeset(r"\s{perplexity}").endswith(r"{\text{困惑度}}")


def test_the_values_of_symbols_are_small_enough_to_send() -> None:
    found = symbols.here({"W_hh": np.arange(256 * 256).reshape(256, 256) / 3, "T": 7, "b_h": [1.0, 2.0]})
    assert found["W_hh"]["shape"] == "256 × 256"
    assert found["W_hh"]["value"][0][:5] == [0.0, 0.3333, 0.6667, 1.0, 1.3333]
    assert len(found["W_hh"]["value"]) == symbols.SHOWN
    assert found["T"] == {"shape": "", "value": 7}
    assert found["b_h"] == {"shape": "1 × 2", "value": [[1.0, 2.0]]}
    with pytest.raises(KeyError):
        symbols.here({"nothing": 1})
