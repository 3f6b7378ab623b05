"""Names in code say what a thing is: functions, parameters, variables, constants, classes and tests.

A variable has the thing's noun (`unit`, `matches`), a function a verb and its object, a constant says what of
(`MAX_LABEL_CHARS`),
a class's name means one thing in the whole package, a test has a subject, a verb, a result.
`test_words` holds the words of modules and public classes to the glossary.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import rnnviz

PACKAGE = Path(rnnviz.__file__).parent
TESTS = PACKAGE.parent / "tests"

POOR = """
anything asked came drawn each everything far few found given gone got held here it its kept known
longest made many meant most nothing of one others own said say seldom shown sure take
tell that them there these they thing things this those told wanted what which who whose wish
"""
"""Pronouns, bare participles and quantities: they say nothing of the thing. `_` in front changes nothing."""

SUBJECTLESS = """
anything each everything it its nothing one that them there these they this those what which who
"""
"""Words that a test's name doesn't begin with: its subject stands there."""

UNREAD: tuple[str, ...] = ()
"""Rooms whose names have not been read afresh. None is added here."""

LEFT = {
    "rnnviz/cli/perplexity.py": "given",
    "rnnviz/figures/themes.py": "came",
    "rnnviz/lab/analysis/backward.py": "of",
    "rnnviz/lab/analysis/comparison.py": "known",
    "rnnviz/lab/analysis/gating.py": "longest",
    "rnnviz/lab/analysis/matching.py": "found most of own said",
    "rnnviz/lab/analysis/perturbation.py": "others",
    "rnnviz/lab/analysis/places.py": "most",
    "rnnviz/lab/analysis/probing.py": "few held",
    "rnnviz/lab/analysis/search_result.py": "found",
    "rnnviz/lab/analysis/targets.py": "what",
    "rnnviz/lab/engines/tape.py": "kept",
    "rnnviz/lab/cli/match.py": "most",
    "rnnviz/lab/reports/perturbation.py": "others",
    "rnnviz/lecture/primitives.py": "here",
    "rnnviz/lecture/scene_4_product.py": "_ONE one",
    "rnnviz/lecture/scene_8_questions.py": "far",
    "rnnviz/lecture/steps.py": "say",
    "rnnviz/networks/config.py": "GONE",
    "rnnviz/networks/ngram.py": "seen",
    "rnnviz/scoring/many_files.py": "given",
    "rnnviz/scoring/perplexity.py": "each",
    "rnnviz/scoring/score.py": "given",
    "rnnviz/scoring/trace.py": "known",
    "rnnviz/text/corpora.py": "given",
}
"""Names that stay in a file: public, keys that JavaScript reads, parts of an address; some wait."""


def trees(folder: Path) -> Iterator[tuple[str, ast.Module]]:
    for file in sorted(folder.rglob("*.py")):
        if not str(file.relative_to(folder.parent)).startswith(UNREAD):
            yield str(file.relative_to(folder.parent)), ast.parse(file.read_text("utf-8"))


def bound(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Each name that a module binds: functions, parameters, variables and the fields of classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id


def poor(tree: ast.AST, left: str = "") -> list[str]:
    names = set(POOR.split()) - {name.strip("_").lower() for name in left.split()}
    return [f"{line}: {name}" for line, name in bound(tree) if name.strip("_").lower() in names]


def is_number(value: ast.expr) -> bool:
    """Whether an expression is made of numbers alone."""
    parts = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)
    nodes = list(ast.walk(value))
    numbers = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return all(isinstance(node, parts) for node in nodes) and all(type(n) in (int, float) for n in numbers)


def bare_numbers(tree: ast.Module) -> list[str]:
    """Constants of a module that hold a number and have one word."""
    constants = []
    for node in tree.body:
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign)
            else []
        )
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if names and names[0].isupper() and node.value is not None and is_number(node.value):
            constants += [name for name in names if "_" not in name.strip("_")]
    return constants


def repeated_classes() -> dict[str, list[str]]:
    """Names of top-level classes that several modules of the package define."""
    where: dict[str, list[str]] = {}
    for file, tree in trees(PACKAGE):
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                where.setdefault(node.name, []).append(file)
    return {name: files for name, files in where.items() if len(files) > 1}


def test_a_name_says_what_the_thing_is() -> None:
    assert {file: names for file, tree in trees(PACKAGE) if (names := poor(tree, LEFT.get(file, "")))} == {}


def test_a_constant_says_what_of() -> None:
    assert {file: names for file, tree in trees(PACKAGE) if (names := bare_numbers(tree))} == {}


def test_a_class_name_means_one_thing() -> None:
    assert repeated_classes() == {}


def test_names_of_tests_begin_with_their_subject() -> None:
    tests = {name for _, tree in trees(TESTS) for _, name in bound(tree) if name.startswith("test_")}
    assert [name for name in sorted(tests) if name.split("_")[1] in SUBJECTLESS.split()] == []


def test_poor_names_are_noticed() -> None:
    code = (
        "MOST = 3\nclass A:\n    kept: int\ndef _said(found, *, length):\n    return [one for one in found]\n"
    )
    assert sorted(poor(ast.parse(code))) == ["1: MOST", "3: kept", "4: _said", "4: found", "5: one"]
    assert bare_numbers(ast.parse("MOST = 2 * 3\nMAX_ROWS = 5\nNAME = 'a'\nON = True\n")) == ["MOST"]
