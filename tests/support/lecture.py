"""The lecture's steps by name, what their code computes, and the parts of their pictures."""

import re
from collections.abc import Iterator
from typing import Any

from rnnviz.lecture.primitives import Node
from rnnviz.lecture.scenes import scenes
from rnnviz.lecture.steps import PICK, SEEN, Step

STEPS = [(f"scene_{scene.number}", one) for scene in scenes() for one in scene.steps]


def shown_values(step: Step) -> dict[str, Any]:
    values = step.initial_values
    return values | ({PICK: SEEN} if step.question else {})


def step_of(name: str) -> Step:
    """The step of a name."""
    return next(step for _module, step in STEPS if step.name == name)


def run_code(name: str, **values: Any) -> dict[str, Any]:
    """Every name that a step's code leaves behind."""
    step = step_of(name)
    names: dict[str, Any] = {}
    exec(step.code(step.initial_values | values), names)
    return names


def nodes(node: Node) -> Iterator[Node]:
    yield node
    for inner in (*node.get("parts", ()), *node.get("lines", ())):
        yield from nodes(inner)


def nodes_of(picture: Node, kind: str) -> list[Node]:
    """The parts of a kind, wherever in a picture."""
    return [part for part in nodes(picture) if part["kind"] == kind]


# What may stand in a formula beside its symbols: how it is set, operators, and functions known from school.
COMMANDS = {
    *("quad", "qquad", "tfrac", "frac", "textstyle", "displaystyle", "bigl", "bigr", "Bigl", "Bigr"),
    *("ldots", "cdots", "mid", "lVert", "rVert", "sum", "prod", "partial", "odot", "cdot", "leftarrow"),
    *(
        "infty",
        "to",
        "le",
        "ge",
        "approx",
        "neq",
        "Rightarrow",
        "exp",
        "log",
        "lim",
        "max",
        "min",
        "top",
        "sim",
    ),
}

MATRIX = re.compile(r"\\(begin|end)\{[bp]?(small)?matrix\}|\\\\")
NAMED = re.compile(r"\\s\{([^{}]*)\}")
COMMAND = re.compile(r"\\(?:([A-Za-z]+)|[,;: |])")
OPERATORS = set("0123456789+-=<>()[]|/,;!^_{} &'")


def unexplained(formula: str) -> set[str]:
    """What in a formula is neither a named symbol nor allowed beside them."""
    rest = MATRIX.sub(" ", NAMED.sub(" ", formula))
    commands = {names[1] for names in COMMAND.finditer(rest) if names[1]}
    return (commands - COMMANDS) | (set(COMMAND.sub(" ", rest)) - OPERATORS)
