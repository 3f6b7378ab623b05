"""The same texts under other models, under baselines and under real compressors: bars, the best first; and a
second model whose reading of the text in view stands beside the chosen one's.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from rnnviz.figures.themes import DARK, LIGHT
from rnnviz.i18n import _, ngettext
from rnnviz.networks.cells import CELLS
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.scoring.perplexity import of_sum
from rnnviz.ui import model_cache
from rnnviz.ui.context import Context
from rnnviz.ui.error_messages import describe, plain
from rnnviz.ui.fields import Field
from rnnviz.ui.formatting import percent, rounded, title, titles
from rnnviz.ui.jobs import progress
from rnnviz.ui.jobs.pending import Pending, ask
from rnnviz.ui.jobs.worker import Jobs
from rnnviz.ui.pages.perplexity import work
from rnnviz.ui.pages.perplexity.texts import Text
from rnnviz.ui.pages.perplexity.work import Scored

COMPARED = Field("compared", "one")
SECOND = "second"  # the choice of the second model
AUTOMATIC = 300_000  # bytes or characters up to which the yardsticks are measured unasked
PATIENCE = 0.5
ROOM = 1.15  # how much longer than the full length a bar may be before it is cut off

Figures = tuple[float, float]  # perplexity, bits per character
Texts = Sequence[tuple[Text, Scored]]


@dataclass(frozen=True)
class Second:
    """The chosen second model, and what it found or the job that finds it."""

    info: ModelInfo
    found: Pending[Scored]

    @property
    def name(self) -> str:
        return title(self.info)


def _others(context: Context) -> dict[str, ModelInfo]:
    """The models beside the chosen one, by name."""
    return {i.path.stem: i for i in model_cache.listed()[0] if i.path != context.info.path}


def pick_second(context: Context) -> None:
    """The choice of the second model."""
    st.selectbox(
        _("Compare with a second model"),
        list(there := _others(context)),
        index=None,
        key=SECOND,
        persist_state="session",
        format_func=titles(there.values()).__getitem__,
        placeholder=_("No second model"),
        help=_("Its number then stands above. Colours and passages show where one model did better."),
        width=420,
    )


def second(context: Context, text: Text) -> Second | None:
    """What the chosen second model says of a text; starts to ask it."""
    info = _others(context).get(st.session_state.get(SECOND) or "")
    return None if info is None else Second(info, work.scored(info, text, info.path.stem))


@dataclass(frozen=True)
class Row:
    """One way to predict or store a text: a model's file, or a baseline beside the chosen model."""

    name: str
    about: str
    info: ModelInfo
    baseline: str = ""

    def ask(self, context: Context, text: Text, scored: Scored, pressed: bool | None) -> Pending[Any]:
        """Its report of a text, or those of all baselines; see `pending.ask`."""
        key, name = work.plain_key(self.info, text), f"{self.name}: {text.name}"
        make: Callable[..., Any] = partial(work.comparing, self.info, text)
        if self.baseline:
            key, name = text.key("baselines", model_cache.digest(self.info)), text.name
            make = partial(work.measuring, scored, context.model.vocabulary)
            pressed = pressed if scored.complete else False  # they are measured on its characters
        return ask(key, name, make, pressed=pressed, patience=0, shared=True, size=text.size)

    def figures(self, found: Pending[Any]) -> Figures | None:
        """Perplexity and bits per character, if known."""
        known = found.value and (found.value[self.baseline] if self.baseline else found.value)
        return known and (known.perplexity, known.bits_per_character)


Cells = Mapping[tuple[str, str], Pending[Any]]  # by the names of rows and texts


def show(context: Context, jobs: Jobs, scored: Texts, closer: Text) -> None:
    """Bars for the text that is looked at, or for all."""
    st.markdown(
        _(
            "Other models, simple baselines and file compressors on the same text. "
            "**Shorter bars are better**: fewer bits per character, so a lower perplexity."
        )
    )
    usual, more = rows(context, unknown=any(one.report.unknown for _text, one in scored))
    asked = st.session_state.setdefault("perplexity.asked", False)
    small = all(text.size <= AUTOMATIC for text, _s in scored)
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    names = [row.name for row in more]
    picked = left.multiselect(
        _("Other models"),
        names,
        key="rivals",
        persist_state="session",
        placeholder=_("All {n} of them").format(n=len(names)),
    )
    pressed = right.button(
        _("Compare"), icon=":material/leaderboard:", key="compare", type="primary", width="stretch"
    )
    if pressed:
        st.session_state["perplexity.asked"] = asked = True
    chosen = [*usual, *(row for row in more if asked and (row.name in picked or not picked))]

    def cells(pressed: bool | None) -> Cells:
        both = [(row, text, one) for text, one in scored for row in chosen]
        return {(row.name, text.name): row.ask(context, text, one, pressed) for row, text, one in both}

    started = cells(True if pressed else None if asked or small else False)
    keys = [one.job.key for one in started.values() if one.job is not None]
    jobs.wait(keys, PATIENCE)
    found = cells(False)
    if busy := list(dict.fromkeys(one.job.key for one in found.values() if one.job and one.waits)):
        progress.bar(jobs, busy, "against")
    elif any(one.job is not None and one.job.state == "cancelled" for one in found.values()):
        st.info(_("Cancelled: press **Compare** to go on."), icon=":material/cancel:")
    _picture(context, scored, closer, chosen, found)
    _digits([text for text, _s in scored], chosen, found)
    for (row, text), one in found.items():
        if one.job is not None and one.job.error is not None:
            st.error(f"**{plain(row)}**: {describe(one.job.error, text)}", icon=":material/error:")


def rows(context: Context, *, unknown: bool) -> tuple[list[Row], list[Row]]:
    """What every text is measured against, and the other models here. `unknown`: a uniform guess pays for
    characters that it can't spell, as every model does: another number than |V|, so another name.
    """
    own = context.info
    uniform = _("uniform guess, unknown characters spelled out") if unknown else _("uniform guess")
    guess = _("every one of {n} symbols equally likely").format(n=f"{context.model.vocabulary.size:,}")
    letters = _("this text's own character counts, known beforehand: a bound, not a prediction")
    usual = [
        Row(title(own), _("the chosen model"), own),
        Row(uniform, guess, own, "uniform"),
        Row(_("letter frequencies"), letters, own, "unigram"),
        Row("gzip", _("a common compressor, at its strongest setting"), own, "gzip"),
        Row("xz", _("a strong compressor, at its strongest setting"), own, "xz"),
    ]
    more = []
    for info in _others(context).values():
        row = Row(title(info), _about(info), info)
        if context.yardstick is not None and info.name == own.card.get("ngram"):
            usual.insert(1, row)
        else:
            more.append(row)
    return usual, more


def _about(info: ModelInfo) -> str:
    """What a model is and what it read, from its card."""
    kind = _("n-gram counts") if info.kind == "ngram" else CELLS[info.kind].label
    text = info.card.get("title") or info.card.get("corpus")
    return _("{kind}, trained on {title}").format(kind=kind, title=text) if text else kind


def _picture(context: Context, scored: Texts, closer: Text, chosen: Sequence[Row], found: Cells) -> None:
    """The bars, and what to notice in them."""
    compared = [one for one in scored if one[0] is closer]
    if len(scored) > 1:
        words = {"one": closer.name, "all": _("All {n} texts together").format(n=len(scored))}
        if COMPARED.choose(_("Text"), words, label_visibility="collapsed") == "all":
            compared = list(scored)
    bars = [_bar(context, row, compared, found) for row in chosen]
    # The full length is a uniform guess's, or the chosen model's if that is more.
    own = [
        bar for row, bar in zip(chosen, bars, strict=True) if bar.kind == "own" or row.baseline == "uniform"
    ]
    full = max((bar.bits for bar in own if bar.bits is not None), default=None)
    st.html(f"<style>{STYLE}</style>{html(bars, full)}")
    st.caption(_verdict(title(context.info), bars))


def _digits(texts: Sequence[Text], chosen: Sequence[Row], found: Cells) -> None:
    """All figures, for who asks for them: a row for each way to predict, columns for each text."""
    columns: dict[str, list[Any]] = {_("Predicted by"): [row.name for row in chosen]}
    for text in texts:
        for which, name in enumerate((_("Perplexity"), _("Bits per character"))):
            figures = [row.figures(found[row.name, text.name]) for row in chosen]
            head = name if len(texts) == 1 else f"{text.name}: {name}"
            columns[head] = [one and one[which] for one in figures]
    config: dict[str, Any] = dict.fromkeys(list(columns)[1:], st.column_config.NumberColumn(format="%.3f"))
    columns[_("What it is")] = [row.about for row in chosen]
    with st.expander(_("Exact figures"), icon=":material/table:"):
        st.dataframe(columns, hide_index=True, width="stretch", column_config=config, key="against")
        st.caption(
            _(
                "A compressor predicts too: the bits it writes are its bits per character. "
                "On short texts its fixed header weighs heavily."
            )
        )


def _verdict(own: str, bars: Sequence["Bar"]) -> str:
    """What to notice; `own` is the chosen model."""
    scored = {bar.name: bar.bits for bar in bars if bar.bits is not None}
    first = best(bars)
    if first is None or first.bits is None:
        return _("Press **Compare** to score this text with the others.")
    waiting, mine = len(bars) - len(scored), scored.get(own)
    rivals = sum(bar.rival for bar in bars if bar.bits is not None)
    if first.name == own or not mine:
        line = _("**{name}** predicts best among the {n} scored.").format(name=plain(first.name), n=rivals)
    else:
        line = _("**{name}** needs {share} fewer bits than {model}.").format(
            name=plain(first.name), share=percent(1 - first.bits / mine), model=plain(own)
        )
    if rivals < len(scored):
        line += " " + _("Letter frequencies stand last: counted on this very text, they predict nothing.")
    if waiting:
        line += " " + ngettext("{n} is not scored yet.", "{n} are not scored yet.", waiting).format(n=waiting)
    return line


# The bars.


@dataclass(frozen=True)
class Bar:
    """One way to predict a text; its `kind` is own, model or baseline. Without `bits` per character it isn't
    scored. Only a `rival` can win, not who was told the text beforehand.
    """

    name: str
    about: str
    kind: str
    bits: float | None
    rival: bool = True


def _bar(context: Context, row: Row, texts: Texts, found: Cells) -> Bar:
    """A row's figures for these texts as one: the average of its bits over all characters."""
    kind = "baseline" if row.baseline else "own" if row.info.path == context.info.path else "model"
    rival = row.baseline != "unigram"  # it was told the text beforehand
    known = [(row.figures(found[row.name, text.name]), one.report.characters) for text, one in texts]
    if None in [figures for figures, _n in known]:
        return Bar(row.name, row.about, kind, None, rival)
    bits = sum(figures[1] * n for figures, n in known if figures) / sum(n for _figures, n in known)
    return Bar(row.name, row.about, kind, bits, rival)


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
    if bar.bits is None:
        value, line, exact = _("not scored yet"), "", bar.about
    else:
        perplexity = of_sum(bar.bits * math.log(2), 1)
        value = rounded(perplexity)
        beyond = " class='beyond'" if bar.bits > longest else ""
        line = f"<i{beyond} style='width:{min(100.0, 100 * bar.bits / longest):.2f}%'></i>"
        exact = _("{about}: perplexity {perplexity}, {bits} bits per character").format(
            about=bar.about, perplexity=rounded(perplexity, 3), bits=f"{bar.bits:.3f}"
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
