"""The lecture's number formats, legible from the back row."""

import math

from rnnviz.sentences import RAISED


def rough(value: float, digits: int = 2) -> str:
    """A number with at most so many significant digits.

    >>> rough(0.0314), rough(-2.96e-9), rough(70**11), rough(float("inf"))
    ('0.031', '−3 × 10⁻⁹', '2 × 10²⁰', '∞')
    """
    if math.isinf(value):
        return "−∞" if value < 0 else "∞"
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        return f"{float(f'{value:.{digits}g}'):,.12g}".replace("-", "−")
    mantissa, ten = f"{value:.{digits - 1}e}".split("e")
    return f"{float(mantissa):g} × 10{str(int(ten)).translate(RAISED)}".replace("-", "−")


def in_full(n: int) -> str:
    """A whole number, in full while it is legible.

    >>> in_full(70**5), in_full(70**11)
    ('1,680,700,000', '2 × 10²⁰')
    """
    return f"{n:,}" if n < 10**12 else rough(n)


def fixed(value: float, digits: int = 2) -> str:
    """A number with so many decimals.

    >>> fixed(-2.9648), fixed(12345.6, 0), fixed(float("inf"))
    ('−2.96', '12,346', '∞')
    """
    return "∞" if value == math.inf else f"{value:,.{digits}f}".replace("-", "−")


def percent(share: float) -> str:
    """A share in percent, with one decimal below ten percent.

    >>> percent(0.172), percent(0.0031)
    ('17 %', '0.3 %')
    """
    # From 9.95 % on, one decimal would make "10.0".
    digits = f"{100 * share:.0f}" if abs(share) >= 0.0995 else f"{100 * share:.1f}"
    return f"{digits} %".replace("-", "−")
