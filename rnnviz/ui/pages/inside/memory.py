"""Connectivity: which earlier characters a prediction rests on, and how that fades."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from rnnviz import gradients
from rnnviz.figures import charts
from rnnviz.gradients.memory import Rows
from rnnviz.gradients.reaching import LAGS
from rnnviz.networks.cells import CELLS
from rnnviz.networks.progress import run
from rnnviz.text.characters import visible
from rnnviz.ui import dashboard
from rnnviz.ui.dashboard import Panel, Text
from rnnviz.ui.i18n import _, ngettext
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import Check, Step, Steps, as_steps
from rnnviz.ui.pages.inside import attribution, sources
from rnnviz.ui.pages.inside.common import (
    Networks,
    View,
    beside,
    cursor,
    done,
    done_on_request,
    fragment,
    kept,
    key_of,
    of_the_same_text,
)
from rnnviz.ui.trouble import plain as safe
from rnnviz.ui.words import title, together

if TYPE_CHECKING:
    import numpy.typing as npt

    from rnnviz.gradients import Connectivity, Reach, ReachProgress
    from rnnviz.reading.resampling import Resampled

    Floats = npt.NDArray[np.float32]
    Read = tuple[Connectivity, Rows]

KEY = "inside.memory"
SQUARE = 300  # characters of the whole picture: twice as many would take four times as long
AT_ONCE = 500  # characters behind a prediction that nobody waits for
REACHED = 5_000  # characters from which is gone back; an interval takes a thousand or so
FLOOR = 1e-6  # a smaller share is rounding


@fragment
def section(view: View) -> None:
    ask = dashboard.asked(KEY)
    beside_it = dashboard.asked(attribution.KEY)
    at = cursor(ask if ask.what else beside_it, view, None)
    if at is None or at == 0:
        at = min(len(view.text), SQUARE) * 2 // 3
    if len(view.text) < 2:
        st.info(_("Connectivity needs a text of at least two characters."), icon=":material/edit:")
        return
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    asked = left.text_input(
        _("Probability of which character"),
        key="inside.asked",
        persist_state="session",
        max_chars=1,
        placeholder=_("empty: the character in the text"),
    )
    target = asked or None
    with right:
        usual = of_the_same_text(view) if view.cell != "mlp" else []
        networks = beside(view, _("Compare with"), "beside", usual)
    read = _read(view, networks, target)
    shares = None if read is None else _rows_of(view, networks, read, at, target)
    if read is None or shares is None:
        return
    found = {name: square for name, (square, _rows) in read.items()}
    texts = [_text(view, name, row, at, target) for name, row in shares.items()]
    board = st.container()
    longer = _measured(view, networks)
    reached = longer or {name: r for name, square in found.items() if (r := _reach_of(square))}
    with board:
        st.markdown("  \n".join(_said(name, each) for name, each in reached.items()))
        far = {name: each for name, each in reached.items() if each.beyond.estimate[0] > FLOOR}
        _mount(at, texts, [*_squares(found), *([_panel(far)] if far else []), *_left(view)])
        attribution.section(view, at, target, shares[next(iter(networks))])


def _mount(at: int, texts: list[Text], panels: list[Panel]) -> None:
    dashboard.mount(
        KEY,
        texts=texts,
        panels=panels,
        at=at,
        scale=("sequential", _("0.01 % of all"), "100 %"),
    )


def _read(view: View, networks: Networks, target: str | None) -> dict[str, Read] | None:
    """What each network's gradients are, by a job for each; None while one is at work."""
    found = {}
    for name, (mark, model) in networks.items():
        read: Read | None = done(
            key_of(view.text, "square", mark, target),
            _("Following the gradient back in {model}").format(model=name),
            partial(_reading, view.text, model, target),
            f"square-{name}",
        )
        if read is None:
            return None
        found[name] = read
    return found


def _reading(text: str, model: Any, target: str | None, check: Check) -> Steps[Read]:
    yield Step(0.0)
    rows = Rows(model, text)
    yield Step(0.3)
    return gradients.connectivity(model, text[:SQUARE], target=target), rows


def _text(view: View, name: str, row: Floats, at: int, target: str | None) -> Text:
    before = np.arange(len(view.text)) < at
    label = _("{model}: each character's share of the gradient of log P(“{c}”), character {n}")
    return Text(
        view.text,
        np.where(before, charts.CONNECTED.levels(row), 0).astype(np.uint8),
        palette="sequential",
        label=label.format(model=name, c=visible(target or view.text[at]), n=f"{at + 1:,}"),
        values=np.where(before, 100 * 10.0**row, np.nan),
        said=f"{name}, %",
    )


def _rows_of(
    view: View, networks: Networks, read: dict[str, Read], at: int, target: str | None
) -> dict[str, Floats] | None:
    """Each network's row; None while that takes long."""
    steps = _each_row(view.text, read, at, target)
    if at <= AT_ONCE:
        return run(steps)
    marks = tuple(mark for mark, _model in networks.values())
    title = _("Following the gradient back from character {n}").format(n=f"{at + 1:,}")
    rows: dict[str, Floats] | None = done(
        key_of(view.text, "rows", marks, at, target), title, lambda check: steps, "rows"
    )
    return rows


def _each_row(text: str, read: dict[str, Read], at: int, target: str | None) -> Steps[dict[str, Floats]]:
    """(T,) log10 of each character's share in the prediction of character `at`, for each network."""
    found = {}
    for number, (name, (square, rows)) in enumerate(read.items()):
        yield Step(number / len(read))
        # The picture's last row is of no character in the text: none came.
        log10 = square.log10[at - 1, :at] if at < len(square) else rows.row(at, target=target).log10
        found[name] = np.full(len(text), -np.inf, np.float32)
        found[name][:at] = _shares(log10)
    return found


def _shares(log10: Floats) -> Floats:
    """log10 of the shares of each row, (…, s)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        largest = np.max(log10, axis=-1, keepdims=True)
        largest = np.where(np.isfinite(largest), largest, 0)
        total = np.log10(np.maximum(np.sum(10.0 ** (log10 - largest), axis=-1, keepdims=True), 1e-30))
        return np.asarray(log10 - largest - total, np.float32)


def _predicted(square: Connectivity) -> Floats:
    """(T, T) the same for the picture: row t is the prediction of character t, row 0 empty."""
    shares = _shares(square.log10)
    return np.concatenate([np.full((1, len(square)), -np.inf, np.float32), shares[:-1]])


def _squares(found: dict[str, Connectivity]) -> list[Panel]:
    return [
        _triangle(
            f"square-{name}",
            _("{model}, the first {n} characters").format(model=name, n=f"{len(square):,}"),
            _predicted(square),
            _("character predicted"),
            _(
                "A wide band below the diagonal: the gradient reaches far back. A vertical line: a "
                "character with a share in many later predictions."
            ),
            _(
                "what causes a prediction: where the network is saturated, even the character that "
                "decides it has a gradient near 0."
            ),
            width=3 if len(found) == 1 else 6 // len(found),
        )
        for name, square in found.items()
    ]


def _left(view: View) -> list[Panel]:
    """How much of each character is still in the state, where the recurrence is linear."""
    if view.cell not in CELLS or not CELLS[view.cell].linear:
        return []
    shares = kept(
        view.key("left", view.layer),
        lambda: gradients.remaining(view.model, view.text[:SQUARE], layer=view.layer).shares()[1:, 1:],
    )
    with np.errstate(divide="ignore"):
        log10 = np.log10(shares).astype(np.float32)
    return [
        _triangle(
            "left",
            _("{model}: what is left in the state of layer {n}").format(
                model=title(view.context.info), n=view.layer
            ),
            log10,
            _("state after character"),
            _(
                "A row is a state: the exact sum, over all characters so far, of what each wrote times the "
                "share that is left. A vertical line: a character that stays for long."
            ),
            _(
                "whether a prediction makes use of what is left. Above layer 0, what is written at a "
                "character rests on earlier ones too."
            ),
        )
    ]


def _triangle(
    name: str, title: str, log10: Floats, rows: str, notice: str, hides: str, width: int = 3
) -> Panel:
    """Shares of each row, as decimal logarithms: what each character read has in it."""
    words = ("10⁻⁴", "10⁻²", "1")
    picture = partial(charts.square, log10, x=_("character read"), y=rows, words=words)
    return Panel(name, title, picture, notice, hides, height=380, width=width, link="xy", pick="at")


def _reach_of(square: Connectivity) -> Reach | None:
    # The picture is kept with it, so that its id() isn't reused.
    lags = min(LAGS, len(square) // 3)
    if lags < 2:
        return None
    return kept(Key("reach", rest=(id(square), lags)), lambda: (square, gradients.reach_of(square, lags)))[1]


def _measured(view: View, networks: Networks) -> dict[str, Reach] | None:
    """The reach of each network on a longer text, by a job; None until there is one."""
    st.subheader(_("How far back, on a longer text"), anchor=False)
    source = sources.pick(view, "inside.memory.source")
    if source is None:
        return None
    found: dict[str, Reach] | None = done_on_request(
        source.key(view, "reach", *(mark for mark, _model in networks.values())),
        _("Following the gradient back from each character"),
        lambda check: _reaching(view, source, networks),
        "reach",
        label=_("Measure it on a longer text"),
        icon=":material/straighten:",
        said=_("Follows the gradient back from up to {n} characters: some seconds for each network.").format(
            n=f"{REACHED:,}"
        ),
    )
    if found is not None:
        st.caption(
            _(
                "Measured. The sentences at the top of the page and the picture “How far back the gradient "
                "reaches” are now about this text."
            )
        )
    return found


def _reaching(view: View, source: sources.Source, networks: Networks) -> Steps[dict[str, Reach]]:
    text = source.read(view, REACHED)
    found = {}
    for number, (name, (_mark, model)) in enumerate(networks.items()):
        lags = min(LAGS, len(text) // 3)
        steps = gradients.reach(model, text, lags=lags)
        found[name] = yield from as_steps(steps, partial(_of_all, number, len(networks)))
    return found


def _of_all(number: int, count: int, now: ReachProgress) -> Step:
    return Step((number + now.fraction) / count)


def _said(name: str, found: Reach) -> str:
    """What may be said of one network, in Markdown."""
    if found.beyond.estimate[0] <= FLOOR:
        return _("**{model}**: all of the influence on a prediction comes from the last character.").format(
            model=safe(name)
        )
    lags = [lag for lag in (10, 20, 50) if lag < found.lags]
    values = {
        "model": safe(name),
        "lags": found.lags,
        "half": f"{float(found.half.estimate):.1f}",
        "n": f"{found.predictions:,}",
        "shares": _(", ").join(
            _("{share} beyond {lag} characters").format(share=_percent(found.beyond, lag), lag=lag)
            for lag in lags
        ),
    }
    last = max(round(float(found.half.estimate)), 1)
    said = [
        ngettext(
            "**{model}**: about half of the influence on a prediction comes from the last character.",
            "**{model}**: about half of the influence on a prediction comes from the last {last} characters.",
            last,
        )
    ]
    if not found.half.enough:
        said.append(
            _("By the gradient over {lags} characters; {n} predictions are too few to say how sure that is.")
        )
    else:
        values["low"], values["high"] = f"{float(found.half.low):.1f}", f"{float(found.half.high):.1f}"
        said.append(
            _(
                "By the gradient over {lags} characters, the mean of {n} predictions: {half}, 95 % interval "
                "{low} to {high}."
            )
        )
        said += [_("Further back: {shares}.")] if lags else []
    return together(said).format(last=last, **values)


def _percent(beyond: Resampled, lag: int) -> str:
    low, high = 100 * beyond.low[lag], 100 * beyond.high[lag]
    return f"{100 * beyond.estimate[lag]:.1f} % ({low:.1f}–{high:.1f})"


def _panel(found: dict[str, Reach]) -> Panel:
    curves = {
        name: np.where(r.beyond.estimate > FLOOR, r.beyond.estimate, np.nan) for name, r in found.items()
    }
    return Panel(
        "reach",
        _("How far back the gradient reaches"),
        partial(
            charts.lines,
            curves,
            x=_("lag, characters"),
            y=_("share of the gradient beyond the lag"),
            log=True,
        ),
        _(
            "The lower a line starts, the more of the gradient is at the last character. The slower it "
            "falls, the further back the gradient reaches."
        ),
        _(
            "single characters, such as a quotation mark that may count for longer; shares below 10⁻⁶, which "
            "are rounding. Lags from {n} on are left out, so lines drop at the end."
        ).format(n=max(each.lags for each in found.values())),
        height=380 if len(found) == 1 else 320,
        width=3 if len(found) == 1 else 6,
    )
