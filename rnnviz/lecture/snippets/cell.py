"""A cell of code and what it prints; tensors as torch writes and prints them."""

from collections.abc import Iterable
from dataclasses import dataclass
from string import Template
from textwrap import dedent

import numpy as np
import numpy.typing as npt

WIDTH = 50
"""Characters of a line of code: more aren't seen beside a picture."""


@dataclass(frozen=True)
class Cell:
    """Python that runs by itself, and what it prints."""

    code: str
    printed: str


def cell(code: str, printed: Iterable[str], **values: object) -> Cell:
    """A cell of `code`, in which $name stands for a value, and of the lines that it prints.

    >>> cell("print($n)", ["3"], n=3)
    Cell(code='print(3)\\n', printed='3\\n')
    """
    return Cell(
        Template(dedent(code)).substitute(values).strip() + "\n", "".join(f"{line}\n" for line in printed)
    )


def literal(values: npt.ArrayLike) -> str:
    """A vector or matrix as it is written in code, a row on each line.

    >>> print(literal([[1.5, 2.0], [-0.5, 0.0]]))
    torch.tensor([
        [ 1.5, 2.0],
        [-0.5, 0.0],
    ])
    """
    array = np.asarray(values)
    said = np.array([str(v) for v in array.ravel().tolist()]).reshape(array.shape)
    if array.ndim == 1:
        row = f"[{', '.join(said)}]"
        short = len("W_hq = torch.tensor()") + len(row) <= WIDTH
        return f"torch.tensor({row})" if short else f"torch.tensor(\n    {row}\n)"
    widths = [max(map(len, column)) for column in said.T]
    padded = [[number.rjust(width) for number, width in zip(row, widths, strict=True)] for row in said]
    rows = "".join(f"    [{', '.join(row)}],\n" for row in padded)
    return f"torch.tensor([\n{rows}])"


def tensor(values: npt.ArrayLike, digits: int = 2) -> list[str]:
    """The lines in which torch prints a float tensor of one or two dimensions.

    As after `torch.set_printoptions(precision=digits, sci_mode=False)`; for rows that fit into 80 characters.

    >>> tensor([[0.5, -1.25], [10, 0]])
    ['tensor([[ 0.50, -1.25],', '        [10.00,  0.00]])']
    """
    array = np.asarray(values, np.float64)
    whole = bool(np.all(array == np.ceil(array)))
    said = np.array([f"{v:.0f}." if whole else f"{v:.{digits}f}" for v in array.ravel().tolist()])
    width = max((len(number) for number in said[array.ravel() != 0]), default=1)
    rows = [", ".join(number.rjust(width) for number in row) for row in said.reshape(-1, array.shape[-1])]
    if array.ndim == 1:
        return [f"tensor([{rows[0]}])"]
    return ("tensor([[" + "],\n        [".join(rows) + "]])").split("\n")
