r"""Steps of the lecture: each is one function, in the module of its scene.

    @step(
        N_("The dial"),
        r"\s{rho} = \max_{\s{i_eigenvalue}} |\s{lambda_i}|",
        say=N_("Each step back multiplies by one matrix."),
        prompt=N_("Turn ρ through 1. Which curve bends?"),
        covers=(28,), minutes=3,
        rho=slider(0.6, 1.4, 0.01, 1.1, N_("ρ"), stands="rho"),
    )
    def dial(rho):
        W = rho * np.eye(3)
        back = [np.linalg.norm(np.linalg.matrix_power(W, k)) for k in range(41)]
        # show
        return plot([line(back)], log=True), _("…")

The lines above `# show` compute; the code panel shows them after the controls' values. The function returns
the picture (primitives.py) and the sentence to notice. Its name is the step's, and stays: addresses hold it.

A scene is a module `scene_N_name` with a TITLE; its steps come in the order of their definition. Steps of the
`appendix` are reached only by address and from the notes.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import io
import textwrap
import tokenize
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any

from rnnviz.lecture.controls import Control, ControlValues, whole, with_defaults
from rnnviz.lecture.primitives import Node

StepPicture = tuple[Node, str]
"""A step's result: its picture, and the sentence to notice."""

SHOW_MARK = "# show"
PICK = "pick"
"""The control of a step with a question: OPEN; SEEN once the answer is shown; or the predicted option."""

OPEN, SEEN = -2, -1


@dataclass(frozen=True)
class Question:
    """A step's question before its picture, also for the room: words marked by N_, translated when shown.

    right     the right option's index
    shows     draws what the question is about, beside it
    """

    text: str
    options: Sequence[str]
    right: int
    shows: Callable[[], Node] | None = None


@dataclass(frozen=True)
class LetterQuestion:
    """A step's question for the room alone: one of `options`, single characters, the right one by its index.

    key           names the question: a step that comes back to it keeps its answers
    draw_answers  called outside the session with the counts of each option, by the keys of all revealed
                  questions; returns the "picture" of the answers, and in "changes" the controls that Space
                  sets next
    """

    key: str
    text: str
    options: str
    right: int
    draw_answers: Callable[[Mapping[str, Sequence[int]]], dict[str, Any]]


@dataclass(frozen=True)
class Step:
    """A step. `covers`: items of the textbook's section; `minutes`, `minutes_of_90`: its share of a talk
    of 45 and of 90 minutes, 0 where it is left out; `prints`: an expression of its code's names, the
    picture's number.
    """

    draw_function: Callable[..., StepPicture]
    title: str
    formula: str | Callable[..., str]
    say: str
    prompt: str | Question
    covers: Sequence[int]
    minutes: float
    minutes_of_90: float
    appendix: bool
    prints: str
    literals: Callable[..., Mapping[str, Any]] | None
    room_question: Callable[..., LetterQuestion | None] | None = None
    controls: Mapping[str, Control] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The step's name in addresses."""
        return self.draw_function.__name__

    @property
    def key(self) -> str:
        """The key of its question in the room."""
        return f"question.{self.name}"

    @property
    def question(self) -> Question | None:
        """The question before its picture; None without one."""
        return self.prompt if isinstance(self.prompt, Question) else None

    @property
    def initial_values(self) -> ControlValues:
        """The controls' initial values, in the session's language."""
        return with_defaults(self.controls, dict.fromkeys(self.controls))

    def draw(self, values: ControlValues) -> StepPicture:
        """The picture at the controls' values, and the sentence to notice."""
        chosen = {name: values[name] for name in self.controls if name != PICK}
        return self.draw_function(**chosen, **self._literals_at(values))

    def _literals_at(self, values: ControlValues) -> Mapping[str, Any]:
        return _apply(self.literals, values) if self.literals else {}

    def formula_at(self, values: ControlValues) -> str:
        """The formula, which may depend on the values."""
        return self.formula if isinstance(self.formula, str) else _apply(self.formula, values)

    @cached_property
    def _source(self) -> str:
        """The function's body above `# show`; "" without that mark."""
        whole_source = textwrap.dedent(inspect.getsource(self.draw_function))
        function = ast.parse(whole_source).body[0]
        assert isinstance(function, ast.FunctionDef)
        first = function.body[0].lineno - 1
        lines = whole_source.splitlines()[first:]
        mark_lines = [i for i, line in enumerate(lines) if line.strip() == SHOW_MARK]
        return textwrap.dedent("\n".join(lines[: mark_lines[0]] if mark_lines else [])).strip("\n")

    def code(self, values: ControlValues) -> str:
        """A complete program: imports, values, the step's lines, and a line that prints the picture's number;
        "" where the step computes nothing. Its lines are narrow enough for the panel.
        """
        if not self._source:
            return ""
        source = f"{self._source}\nprint({self.prints})" if self.prints else self._source
        used = {variable.id for variable in ast.walk(ast.parse(source)) if isinstance(variable, ast.Name)}
        compiled = self.draw_function.__code__
        local_names = {*compiled.co_varnames, *compiled.co_cellvars, *vars(builtins)}
        module_names = self.draw_function.__globals__.keys() & used - local_names
        imports = [
            _import(self.draw_function.__module__, name, self.draw_function.__globals__[name])
            for name in module_names
        ]
        value_lines = [f"{name} = {values[name]!r}" for name in self.controls if name in used]
        for name, array in self._literals_at(values).items():
            # each row on a line of its own, which then isn't too long
            value_lines.append(f"{name} = np.{array!r}".replace("(", "(\n ").replace("\n       ", "\n  "))
        imports.sort(key=lambda line: (" = " in line, line))  # modules first, then constants
        lines = "\n".join([*imports, *([""] if imports else []), *value_lines, source])
        return narrow(lines) + "\n"


CODE_WIDTH = 46
"""Characters of a code panel's line beside a picture of 1280 pixels."""


_BREAKABLE = {*"([{,+-*/@", "==", "<", ">", "//", "for"}
"""Behind these a line of code may end, within brackets; before a `for`."""


def narrow(code: str, width: int = CODE_WIDTH) -> str:
    """A program whose lines are at most `width` characters long, where brackets let them end.

    >>> print(narrow("total = sum(first[0], second[1])", width=24))
    total = sum(first[0],
        second[1])
    """
    # Where a line may end, by its number: a place's rank and its column. Of those that fit, the outermost of
    # all brackets is taken, best before a `for`, and of several the last.
    ends: dict[int, list[tuple[int, int]]] = {}
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(code + "\n").readline):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.string, 0)
        if depth and token.string in _BREAKABLE:
            place = token.start if token.string == "for" else token.end
            ends.setdefault(place[0], []).append(((token.string == "for") - depth, place[1]))
    narrowed = []
    for number, line in enumerate(code.splitlines(), start=1):
        begin, prefix = 0, ""
        while len(prefix) + len(line) - begin > width:
            fitting = [end for _rank, end in sorted(ends.get(number, ()))
                       if begin < end <= begin + width - len(prefix)]  # fmt: skip
            if not fitting:
                break
            narrowed.append((prefix + line[begin : fitting[-1]]).rstrip())
            begin = fitting[-1] + (line[fitting[-1] :][:1] == " ")
            prefix = " " * (len(line) - len(line.lstrip()) + 4)
        narrowed.append(prefix + line[begin:])
    return "\n".join(narrowed)


def _import(module_name: str, name: str, value: Any) -> str:
    """The line of a program that defines `name` as the module `where` does; a long constant is imported
    too.
    """
    if isinstance(value, ModuleType):
        package, _dot, last = value.__name__.rpartition(".")
        if last == name:
            return _import_from(package, name) if package else f"import {name}"
        return f"import {value.__name__} as {name}" if value.__name__ != name else f"import {name}"
    # What remains are functions and classes, which know their module, and constants (numbers, texts, tuples),
    # which don't. A short constant is written out, so that the code panel shows its value.
    if not hasattr(value, "__module__"):
        assignment = f"{name} = {value!r}"
        return assignment if len(assignment) < 80 else _import_from(module_name, name)
    return _import_from(value.__module__, name)


def _import_from(module: str, name: str) -> str:
    line = f"from {module} import {name}"
    return line if len(line) <= CODE_WIDTH else f"from {module} \\\n    import {name}"


def _apply(function: Callable[..., Any], values: ControlValues) -> Any:
    """The function of those controls' values that it names."""
    return function(**{name: values[name] for name in inspect.signature(function).parameters})


_STEPS: dict[str, list[Step]] = {}


def step(
    title: str,
    formula: str | Callable[..., str],
    *,
    say: str,
    prompt: str | Question,
    covers: Sequence[int] = (),
    minutes: float = 0,
    minutes_of_90: float = 0,
    appendix: bool = False,
    prints: str = "",
    literals: Callable[..., Mapping[str, Any]] | None = None,
    room_question: Callable[..., LetterQuestion | None] | None = None,
    **widgets: Control,
) -> Callable[[Callable[..., StepPicture]], Callable[..., StepPicture]]:
    """Make a step of a function of its controls' values: see the module.

    literals         called with those values that it names, returns arrays by name: further arguments, which
                     the code panel writes out
    room_question    called with those values, returns the question for the class's phones, or None
    """
    controls = dict(widgets)
    if isinstance(prompt, Question):
        # 9 is beyond any question's options: question.js has letters for six, and a step's test allows four.
        controls[PICK] = Control(whole(OPEN, 9), OPEN)

    def register(draw_function: Callable[..., StepPicture]) -> Callable[..., StepPicture]:
        new_step = Step(
            draw_function,
            title,
            formula,
            say,
            prompt,
            covers,
            minutes,
            minutes_of_90,
            appendix,
            prints,
            literals,
            room_question,
            controls,
        )
        _STEPS.setdefault(draw_function.__module__, []).append(new_step)
        return draw_function

    return register


def module_steps(name: str) -> list[Step]:
    """The steps of an imported module, in the order of their definition."""
    return _STEPS.get(name, [])
