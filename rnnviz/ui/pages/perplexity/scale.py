"""The perplexity on a line from 1, always right, to uniform guessing."""

import math
from dataclasses import dataclass
from html import escape
from typing import Any

from rnnviz.figures.themes import DARK, LIGHT
from rnnviz.i18n import _
from rnnviz.ui.words import rounded


@dataclass(frozen=True)
class Mark:
    """A value on the line and what is said of it; `kind` is its class in the style sheet."""

    value: float
    said: str
    kind: str


def usual(card: Any) -> float | None:
    """A model's perplexity on held-out text of its own corpus, if its card gives one."""
    held_out = card.get("held_out")
    found = held_out.get("perplexity") if isinstance(held_out, dict) else None
    return float(found) if isinstance(found, int | float) and found > 0 else None


def html(value: float, guess: float, typical: float | None, second: tuple[str, float] | None = None) -> str:
    """The line: this text's `value`, a uniform `guess`, the `typical` value, a second model's by its name.

    Every label has a row of its own, so that none is printed over another at any width.
    """
    marks = []
    if typical is not None:
        said = _("{n}: usual for this model").format(n=rounded(typical))
        marks.append(Mark(typical, said, "typical"))
    if second is not None:
        marks.append(Mark(second[1], f"{rounded(second[1])}: {second[0]}", "second"))
    finite = [one for one in (value, guess, *(mark.value for mark in marks)) if math.isfinite(one)]
    end = max(*finite, 2.0)
    guessed = _("{n}: uniform guess").format(n=rounded(guess, 0))
    if guess < end:
        marks.append(Mark(guess, guessed, "guess"))

    def place(at: float) -> str:
        return f"{100 * min(math.log(max(at, 1.0)) / math.log(end), 1.0):.2f}%"

    def row(mark: Mark, arrow: str) -> str:
        # An arrow at its place, and what is said on the side where there is room: it never leaves the line.
        at = float(place(mark.value)[:-1])
        if at < 50:
            style, said = f"left:{at:.2f}%;max-width:{100 - at:.2f}%", f"{arrow} {mark.said}"
        else:
            style, said = f"right:{100 - at:.2f}%;max-width:{at:.2f}%", f"{mark.said} {arrow}"
        side = "after" if at < 50 else "before"
        return (
            f"<div class='row'><span class='{mark.kind} {side}' style='{style}'>{escape(said)}</span></div>"
        )

    here = Mark(value, _("this text"), "here")
    ticks = "".join(
        f"<i class='{mark.kind}' style='left:{place(mark.value)}'></i>" for mark in (*marks, here)
    )
    first, last = escape(_("1: always right")), "" if guess < end else escape(guessed)
    label = _("On a line from 1, always right, to {guess}, a uniform guess, this text stands at {n}.").format(
        n=rounded(value), guess=rounded(guess, 0)
    )
    return (
        f"<div class='rv-scale' role='img' aria-label='{escape(label, quote=True)}'>{row(here, '▼')}"
        f"<div class='line'><b style='width:{place(value)}'></b>{ticks}</div>"
        f"{''.join(row(mark, '▲') for mark in marks)}"
        f"<div class='ends'><span>{first}</span><span>{last}</span></div>"
        "</div>"
    )


STYLE = f"""
.rv-scale {{ font-size: 0.85rem; line-height: 1.3rem; }}
.rv-scale .line {{ position: relative; height: 0.6rem; border-radius: 0.3rem;
  background: color-mix(in srgb, currentColor 12%, transparent); }}
.rv-scale .line b {{ position: absolute; inset: 0 auto 0 0; border-radius: 0.3rem;
  background: light-dark({LIGHT.model}, {DARK.model}); }}
.rv-scale .line i {{ position: absolute; top: -0.15rem; bottom: -0.3rem; width: 2px; margin-left: -1px;
  background: light-dark({LIGHT.muted}, {DARK.muted}); }}
.rv-scale .line i.here {{ top: -0.3rem; width: 3px; background: currentColor; }}
.rv-scale .line i.second {{ background: light-dark({LIGHT.ngram}, {DARK.ngram}); width: 3px; }}
.rv-scale .row {{ position: relative; height: 1.3rem; }}
.rv-scale .row span {{ position: absolute; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }}
.rv-scale .row .after {{ margin-left: -0.45em; }}
.rv-scale .row .before {{ margin-right: -0.45em; }}
.rv-scale .here {{ font-weight: 650; }}
.rv-scale .row .second {{ color: light-dark({LIGHT.ngram}, {DARK.ngram}); font-weight: 600; }}
.rv-scale .line {{ margin-bottom: 0.3rem; }}
.rv-scale .ends {{ display: flex; justify-content: space-between; }}
.rv-scale .ends, .rv-scale .typical, .rv-scale .guess {{ color: light-dark({LIGHT.muted}, {DARK.muted}); }}
.rv-scale .line .typical, .rv-scale .line .guess {{ color: inherit; }}
"""
