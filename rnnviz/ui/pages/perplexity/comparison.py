"""The comparison as bars: who needs the fewest bits, the best first; exact figures on pointing at a bar."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from rnnviz.figures.themes import DARK, LIGHT
from rnnviz.i18n import _
from rnnviz.ui.words import rounded

Kind = Literal["own", "model", "baseline"]

ROOM = 1.15  # how much longer than the full length a bar may be before it is cut off


@dataclass(frozen=True)
class Bar:
    """One way to predict a text. Without `bits` per character it isn't scored. Only a `rival` can win, not
    who was told the text beforehand.
    """

    name: str
    about: str
    kind: Kind
    bits: float | None
    perplexity: float | None
    rival: bool = True


def ordered(bars: Sequence[Bar]) -> list[Bar]:
    """The fewest bits first; then who was told the text, then what is not scored."""
    return sorted(bars, key=lambda bar: (bar.bits is None, not bar.rival, bar.bits or 0.0))


def best(bars: Sequence[Bar]) -> Bar | None:
    """Who needs the fewest bits among those scored; None where fewer than two can be compared."""
    scored = [bar for bar in ordered(bars) if bar.bits is not None and bar.rival]
    return scored[0] if len(scored) > 1 else None


def html(bars: Sequence[Bar], full: float | None = None) -> str:
    """The bars, as long as the bits per character, each with its perplexity. What is much longer than
    `full` is cut off, with an arrow: a model of another language would press the others together.
    """
    shown, first = ordered(bars), best(bars)
    longest = max((bar.bits for bar in shown if bar.bits is not None), default=0.0) or 1.0
    longest = min(longest, ROOM * full) if full else longest
    label = _("Nothing to compare yet.")
    if first is not None:
        label = _("{name} predicts this text best: {bits} bits per character.").format(
            name=first.name, bits=f"{first.bits:.3f}"
        )
    return (
        f"<ol class='rv-bars' aria-label='{escape(label, quote=True)}'>"
        + "".join(_row(bar, longest, bar is first) for bar in shown)
        + "</ol>"
    )


def _row(bar: Bar, longest: float, wins: bool) -> str:
    wording = escape(_("best"))
    name = escape(bar.name) + (f" <b>★ {wording}</b>" if wins else "")
    if bar.bits is None or bar.perplexity is None:
        value, line, exact = _("not scored yet"), "", bar.about
    else:
        value = rounded(bar.perplexity)
        beyond = " class='beyond'" if bar.bits > longest else ""
        line = f"<i{beyond} style='width:{min(100.0, 100 * bar.bits / longest):.2f}%'></i>"
        exact = _("{about}: perplexity {perplexity}, {bits} bits per character").format(
            about=bar.about, perplexity=f"{bar.perplexity:,.3f}", bits=f"{bar.bits:.3f}"
        )
    return (
        f"<li class='{bar.kind}{' best' if wins else ''}' title='{escape(exact, quote=True)}'>"
        f"<span class='name'>{name}</span><span class='bar'>{line}</span>"
        f"<span class='value'>{escape(value)}</span></li>"
    )


STYLE = f"""
.rv-bars.rv-bars {{ list-style: none; margin: 0.2rem 0; padding: 0; }}
.rv-bars li {{ display: grid; grid-template-columns: minmax(9rem, 15rem) minmax(0, 1fr) 6.5rem;
  gap: 0 0.8rem; align-items: center; min-height: 1.9rem; margin: 0; }}
.rv-bars li:hover {{ background: color-mix(in srgb, currentColor 6%, transparent); }}
.rv-bars .name {{ overflow-wrap: anywhere; line-height: 1.2; }}
.rv-bars .name b {{ white-space: nowrap; font-weight: 650; }}
.rv-bars .bar i {{ display: block; height: 0.95rem; border-radius: 0 3px 3px 0;
  background: light-dark({LIGHT.bar}, {DARK.bar}); }}
.rv-bars .own .bar i {{ background: light-dark({LIGHT.model}, {DARK.model}); }}
.rv-bars .baseline .bar i {{ background: light-dark({LIGHT.axis}, {DARK.axis}); }}
.rv-bars .bar i.beyond {{
  clip-path: polygon(0 0, calc(100% - 0.6rem) 0, 100% 50%, calc(100% - 0.6rem) 100%, 0 100%); }}
.rv-bars .value {{ text-align: right; font-variant-numeric: tabular-nums; }}
.rv-bars .best .value, .rv-bars .own .name {{ font-weight: 650; }}
@media (max-width: 700px) {{
  .rv-bars li {{ grid-template-columns: minmax(0, 1fr) auto; margin-bottom: 0.4rem; }}
  .rv-bars .bar {{ grid-row: 2; grid-column: 1 / -1; }}
}}
"""
