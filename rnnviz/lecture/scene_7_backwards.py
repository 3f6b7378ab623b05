"""Scene 7: gradients on their way back, first through one word; why they vanish, explode, or stop."""

import math
from functools import lru_cache

import numpy as np

from rnnviz import gradients
from rnnviz.i18n import N_, _
from rnnviz.lecture.chain import chain, letter, state
from rnnviz.lecture.controls import Control, again, choice, line_of_text, list_of, number, slider, toggle
from rnnviz.lecture.machine import Machine
from rnnviz.lecture.number_format import fixed, rough
from rnnviz.lecture.primitives import (
    Node,
    bars,
    column,
    inline,
    json_value,
    line,
    matrix,
    node,
    plane,
    plot,
    row,
    strip,
    table,
    tex,
    text,
)
from rnnviz.lecture.readers import load, recorded, unread
from rnnviz.lecture.steps import Question, StepPicture, step

TITLE = N_("Back through time")

_LOW = "₀₁₂₃₄₅₆"
_OF_W = r"\tfrac{\partial \s{L}}{\partial \s{W_hh}}"


# ---- the word's way back -----------------------------------------------------------------------------


@step(
    N_("Back through the word"),
    lambda stateless: (
        r"\tfrac{\partial \s{L}}{\partial \s{H_t}} = \tfrac{\partial \s{L}}{\partial \s{O_t}}\s{W_hq}^\top"
        + (
            ""
            if stateless
            else rf" + \s{{delta_t+1}}\s{{W_hh}}^\top,\quad {_OF_W} = "
            r"\textstyle\sum_{\s{t}=1}^{\s{T}} \s{H_t-1}^\top\s{delta_t}"
        )
    ),
    say=N_(
        "Go back one step at a time: the gradient of its loss, the gradient from the next step, their sum. "
        "Gradients are rows here, as states are; δ is the gradient with respect to tanh's argument."
    ),
    prompt=N_("Which losses send a gradient to the last step? And without a state?"),
    covers=(12, 13, 28),
    minutes=3.5,
    minutes_of_90=5,
    prints="dW_hh.round(2)",
    walked=slider(0, 3, 1, 0, N_("steps back")),
    stateless=toggle(N_("Without a state"), N_("With a state")),
)
def back(walked: int, stateless: int) -> StepPicture:
    word = Machine(steps=3, recurrent=not stateless)
    net, forward = word.net, word.forward
    T = word.steps
    dO = (forward.probabilities - np.eye(7)[word.targets]) / T
    dW_hh = np.zeros((4, 4))
    delta = np.zeros((T + 1, 4))  # none after T
    for t in reversed(range(T - walked, T)):
        from_loss = dO[t] @ net.W_hq.T
        from_later = delta[t + 1] @ net.W_hh.T
        slope = 1 - forward.state[t] ** 2
        delta[t] = (from_loss + from_later) * slope
        term = np.outer(forward.before[t], delta[t])
        dW_hh += term
    # show
    picture = _three_steps(word, walked)
    if not walked:
        return row(picture, _forward_pass(word), sizes=(1.3, 1)), _(
            "Every step caches the values that backpropagation through time will read: {numbers} "
            "numbers for {steps} steps. Now go back, step by step."
        ).format(numbers=sum(values.size for values in word.cached().values()), steps=T)
    last, pair = t + 1 == T, _("{name}: {value}")
    names = {
        _("from the loss ℓ{t}").format(t=_LOW[t + 1]): from_loss,
        _("no step after it") if last else _("from step {t}").format(t=t + 2): from_later,
        pair.format(name=_("their sum"), value="∂L/∂H"): from_loss + from_later,
        pair.format(name=_("slope of tanh"), value="φ′(A)"): slope,
        pair.format(name=_("their product"), value="δ"): delta[t],
    }
    if stateless:
        del names[list(names)[1]]
    sums = [(tex(r"\s{H_t-1}^\top\s{delta_t}"), term), (text(_("added up so far")), dW_hh)]
    way = [
        tex(r"\s{A_t} = \s{X_t}\s{W_xh}" + ("" if stateless else r" + \s{H_t-1}\s{W_hh}") + r" + \s{b_h}"),
        tex(
            r"\s{delta_t} = \tfrac{\partial \s{L}}{\partial \s{A_t}} = "
            r"\tfrac{\partial \s{L}}{\partial \s{H_t}} \odot \s{phi}'(\s{A_t})"
        ),
        matrix(list(names.values()), rows=list(names), full=1, look="plain said"),
        inline(*(column(name, matrix(numbers, full=1), look="middle") for name, numbers in sums)),
    ]
    if stateless:
        del way[3]  # W_hh is zero and stays so
        notice = _(
            "No gradient goes from step to step: only a sequence model with a hidden state needs "
            "backpropagation through time."
        )
    elif last:
        notice = _("Nothing comes after the last step: its state gets the gradient of its own loss only.")
    elif t:
        notice = _(
            "H changes the loss of its own step and, through the next state, every later loss. "
            "Both gradients add up."
        )
    else:
        notice = _(
            "The first term is zero, because H₀ = 0. The others add up to the gradient of the recurrent "
            "weights."
        )
    return row(picture, column(*way, look="middle"), sizes=(1.3, 1)), notice


def _forward_pass(word: Machine) -> Node:
    """The forward pass: each step's input, label and loss, and the values it keeps."""
    losses = [
        [f"t = {i + 1}", word.inputs[i], word.labels[i], fixed(math.exp(-loss)), fixed(loss)]
        for i, loss in enumerate(word.forward.losses)
    ]
    cached = zip(("X", "H", "φ′(A)", "P"), word.cached().values(), strict=True)
    sizes = " + ".join(f"{name} {values.shape[1]}" for name, values in cached)
    return column(
        text(_("Forward: every step has its loss."), "strong"),
        table(["", _("input"), _("label"), "P", "ℓ"], losses),
        text(_("numbers cached at each step") + f": {sizes}"),
        look="middle",
    )


def _three_steps(word: Machine, walked: int) -> Node:
    """The chain of three steps with its losses; arrows point back where the gradient has passed."""
    forward, steps = word.forward, range(1, word.steps + 1)
    current = word.steps + 1 - walked
    parts = {
        "L0": text(_("← gradient") if walked else "", "pinned strong"),
        "L2": tex(rf"\s{{L}} = {forward.loss:.2f}", "box", "L", forward.loss),
    }
    parts |= {"H0": state(0, forward.before[0])} if word.recurrent else {}
    for t in steps:
        stands = {current: "H_t", current - 1: "H_t-1"}.get(t, "")
        parts |= {
            f"y{t}": tex(rf"\ell_{t}\,\texttt{{{word.labels[t - 1]}}}", "round"),
            f"O{t}": inline(
                tex(rf"\mathbf{{O}}_{t}"),
                strip(forward.output[t - 1], look="pinned" if t == current else "actual"),
                look="aside",
            ),
            f"H{t}": state(t, forward.state[t - 1], "pinned" if t == current else "ngram", stands),
            f"X{t}": letter(word.inputs[t - 1], stands=""),
        }
    looks = {
        "XH": ["model" for t in steps],
        "HH": ["back" if t > current else "ngram" for t in steps if word.recurrent],
        "HO": ["back" if t >= current else "actual" for t in steps],
        "Oy": ["back" if t >= current else "" for t in steps],
    }
    return chain(
        parts,
        "LyOHX",
        looks,
        links=[("L2", f"y{t}", "back") if t >= current else (f"y{t}", "L2", "") for t in steps],
        weights=True,
        look="small",
    )


TEXT = "The Time Traveller put his hand on the lever, and the room went dark before our eyes."
COLOURS = {"rnn": "model", "gru": "pinned", "lstm": "text"}

# The code panel imports `jacobian` by this name, without the cache.
jacobian = lru_cache(maxsize=32)(gradients.jacobian)


@step(
    N_("Powers of a matrix"),
    r"\textstyle\lim_{\s{k}\to\infty} \bigl\lVert (\s{W_hh})^{\s{k}} \bigr\rVert^{1/\s{k}} = \s{rho},"
    r"\quad \s{rho} = \max_{\s{i_eigenvalue}} |\s{lambda_i}|",
    say=N_(
        "Six units, so that the matrix can be read. Move ρ past 1: in the long run ρ decides; the first "
        "steps may go the other way. tanh damps small states little, large ones much."
    ),
    prompt=Question(
        N_("Without φ, each step back multiplies a gradient by W_hh. When does it vanish in the long run?"),
        [
            N_("if every eigenvalue has a modulus below 1"),
            N_("if every weight lies between −1 and 1"),
            N_("always"),
        ],
        right=0,
    ),
    covers=(28, 29),
    minutes=3,
    minutes_of_90=4,
    prints="sizes[-1]",
    rho=slider(0.6, 1.4, 0.01, 1.25, N_("ρ, largest eigenvalue modulus"), stands="rho"),
    k=slider(1, 40, 1, 8, N_("power k"), stands="k"),
    seed=again(1, N_("Other matrix")),
)
def dial(rho: float, k: int, seed: int) -> StepPicture:
    generator = np.random.default_rng(seed)
    W = generator.standard_normal((6, 6))
    W *= rho / abs(np.linalg.eigvals(W)).max()
    # small, so that tanh is steep
    X = 0.02 * generator.standard_normal((40, 6))
    g = generator.standard_normal(6)
    H, slopes = np.zeros(6), []
    for x in X:
        H = np.tanh(x + H @ W)
        slopes.append(1 - H**2)
    linear = tanh = g / np.linalg.norm(g)
    sizes = [(1.0, 1.0)]
    for slope in reversed(slopes):
        linear, tanh = linear @ W.T, (tanh * slope) @ W.T
        sizes.append((float(np.linalg.norm(linear)), float(np.linalg.norm(tanh))))
    power, eigenvalues = np.linalg.matrix_power(W, k), np.linalg.eigvals(W)
    # show
    straight, bent = np.transpose(sizes)
    lags = np.arange(len(straight))
    # The same matrix with another ρ: k steps back multiply by its ratio to the power of k.
    colours = {0.8: "ngram", 1.0: "uniform", 1.25: "memoryless"}
    by_radius = {r: straight * (r / rho) ** lags for r in colours}
    curves = [line(norms, f"ρ = {r:g}", colour=colours[r]) for r, norms in by_radius.items()]
    if rho not in by_radius:
        curves.append(line(straight, f"ρ = {rho:g}", colour="text"))
    curves.append(line(bent, "tanh", width=5))
    curves.append(line(rho**lags, "ρᵏ", colour="muted", dash="dot"))
    tens = max(0, math.floor(math.log10(abs(power).max())))  # long numbers have their power of ten in front
    ahead = rf" = 10^{{{tens}}} \times" if tens else ""
    picture = row(
        plane(
            np.stack([eigenvalues.real, eigenvalues.imag], axis=1),
            circles=[(1, "1"), (rho, "")],
            x=_("eigenvalues λ; dashed: ρ"),
            stands="lambda_i i_eigenvalue",
        ),
        column(
            matrix(power / 10**tens, title=rf"(\s{{W_hh}})^{{{k}}}{ahead}", full=10.0**-tens),
            text(
                _(
                    "The tanh network reads small inputs, 0.02 × normal numbers. Its slopes are near 1 while "
                    "its state is small."
                ),
                "quiet",
            ),
            look="middle",
        )
        | {"stands": "W_hh", "here": json_value(W)},
        plot(curves, log=True, mark=k, ys=(1e-12, 1e8), x=_("steps back, k"), y=_("what is left of ∂L/∂H")),
        sizes=(1, 1.5, 2),
    )
    ends = [share[-1] for share in by_radius.values()]
    notice = _(
        "{n} steps back multiply the gradient by {small} at ρ = 0.8: it vanishes. At ρ = 1.25, by"
        " {large}: it explodes. With tanh at ρ = {rho}: by {tanh}."
    )
    small, large, tanh_left = rough(ends[0]), rough(ends[2]), rough(bent[-1])
    return picture, notice.format(n=len(X), small=small, large=large, tanh=tanh_left, rho=f"{rho:g}")


@step(
    N_("Clipping: against exploding only"),
    r"\s{g} \leftarrow \min\bigl(1, \tfrac{\s{theta}}{\lVert\s{g}\rVert}\bigr)\,\s{g}",
    say=N_(
        "One exploding gradient would throw the weights far away. A gradient longer than θ is shortened by "
        "one factor: its direction stays. One that has vanished stays small."
    ),
    prompt=N_("What does it help against: vanishing or exploding?"),
    covers=(28,),
    minutes_of_90=2,
    prints="norm, factor",
    theta=slider(0.1, 5, 0.1, 1, N_("threshold θ"), stands="theta"),
    g=Control(list_of(number(-5, 5), number(-5, 5)), [3.0, 2.0], in_address=False),
)
def clip(theta: float, g: list[float]) -> StepPicture:
    shorter = theta / max(theta, math.hypot(*g)) * np.array(g)
    # by the weights' names
    by_weight = Machine(steps=3).gradients()
    norms = {name: float(np.linalg.norm(gradient)) for name, gradient in by_weight.items()}
    # all of them are one vector
    norm = math.hypot(*norms.values())
    factor = theta / max(theta, norm)
    # show
    long = math.hypot(*g)
    before = _("gradient g") if long > theta + 1 else ""  # two labels at one place can't be read
    arrows = [(*g, before, "actual"), (*shorter, _("clipped") if long > theta else _("gradient g"), "model")]
    rows = []
    for name, gradient in [*norms.items(), (_("all"), norm)]:
        rows.append((name, gradient, fixed(gradient)))
        rows.append(("", factor * gradient, fixed(factor * gradient)))
    count = sum(gradient.size for gradient in by_weight.values())
    picture = row(
        column(
            plane(arrows=arrows, circles=[(theta, "θ")], reach=5, drag="g", stands="g"),
            text(_("Drag the arrow: two numbers of a gradient."), "quiet"),
        ),
        column(
            text(_("“{inputs}”: {count} derivatives are one gradient g").format(inputs="mac", count=count)),
            bars(
                rows,
                top=norm,
                colours=["actual", "model"] * (len(rows) // 2),
                title=_("length of each part, before and after"),
            ),
        ),
    )
    if factor == 1:
        return picture, _(
            "Clipping keeps an exploding gradient from throwing the weights far away; it does nothing "
            "against vanishing. The word's gradient is short enough: it stays."
        )
    notice = _(
        "Clipping keeps an exploding gradient from throwing the weights far away; it does nothing against "
        "vanishing. The word's gradient is multiplied by {factor}; its direction stays."
    )
    return picture, notice.format(factor=fixed(factor))


GAPS = (2, 5, 10, 20, 40, 80)


@step(
    N_("Why gates: a factor near 1"),
    r"\s{H_t} = \s{Z_t} \odot \s{H_t-1} + (1 - \s{Z_t}) \odot \s{H_t.new},\quad "
    r"\s{C_t} = \s{F_t} \odot \s{C_t-1} + \s{I_t} \odot \s{C_t.new}",
    say=N_(
        "One letter must be kept for k steps. Back through a gate, a gradient is multiplied by the gate: "
        "near 1, state and gradient pass. With orthogonal weights they pass too."
    ),
    prompt=N_("At which gap does the RNN fail? And what if the gates begin open?"),
    covers=(28,),
    minutes_of_90=4,
    prints="{name: ends[name, k] for name in cells}",
    gap=choice({str(gap): str(gap) for gap in GAPS}, "80", N_("gap k")),
    gates=choice({".open": N_("open for k"), "": N_("at 0.73")}, ".open", N_("gates begin")),
)
def gap(gap: str, gates: str) -> StepPicture:
    cells = {
        "RNN": "rnn",
        "RNN\N{NO-BREAK SPACE}⊥": "orthogonal",
        "GRU": f"gru{gates}",
        "LSTM": f"lstm{gates}",
        "MLP": "mlp",
    }
    # Five networks of each cell at each gap
    runs = [run for run in recorded("long_gap")["runs"] if run["clipped"]]
    right, arrives = {}, {}
    for name, cell in cells.items():
        for run in runs:
            if run["cell"] == cell:
                # (S, R), every 50 training steps
                right[name, run["gap"]] = 100 * np.array(run["accuracy"])
                before = np.array(run["gradient"])[:, 0]
                # geometric mean
                arrives[name, run["gap"]] = np.prod(before) ** (1 / len(before))
    k = int(gap)
    ends = {}
    for key, accuracy in right.items():
        last = sorted(accuracy[:, -1])
        ends[key] = "–".join(f"{a:.3g}" for a in sorted({last[0], last[-1]}))
    # show
    at = [50 * i for i in range(right["RNN", k].shape[1])]
    curves = [
        line(right[name, k].mean(axis=0), name, xs=at, colour=colour)
        for name, colour in zip(cells, ["model", "ngram", "pinned", "text", "uniform"], strict=True)
    ]
    lines = [[name, *(ends[name, length] for length in GAPS), rough(arrives[name, k], 1)] for name in cells]
    grid = table(
        [_("gap k"), *map(str, GAPS), _("gradient")], lines, lit=[(i, GAPS.index(k) + 1) for i in range(5)]
    )
    legend = _(
        "right in %, lowest and highest of {n} networks; gradient: the share left after k = {k} steps back, "
        "before training"
    ).format(n=len(right["RNN", k]), k=k)
    cells_note = _(
        "Open for k: units begin by keeping what they read for 1 to k steps. "
        "RNN ⊥: its recurrent weights begin orthogonal. An MLP has no state."
    )
    picture = column(
        text(_("Read a letter, then {k} others. At the ? say the letter.").format(k=k)),
        text("d" + "".join(np.random.default_rng(k).choice([*"wxyz"], k)) + "?", "mono quiet"),
        row(
            plot(curves, x=_("training steps"), y=_("right, %"), ys=(0, 104)),
            column(text(legend, "quiet"), grid),
            sizes=(1, 1.5),
        ),
        text(cells_note, "quiet"),
    )
    notice = _(
        "A gate at 0.73 leaves {left} of a gradient after k = {k} steps; one near 1 leaves most. RNN "
        "{rnn} % right, GRU {gru} %, LSTM {lstm} %, an RNN with orthogonal weights {orthogonal} %."
    )
    compared = {"rnn": "RNN", "gru": "GRU", "lstm": "LSTM", "orthogonal": "RNN\N{NO-BREAK SPACE}⊥"}
    return picture, notice.format(
        left=rough(0.73**k), k=k, **{name: ends[network, k] for name, network in compared.items()}
    )


@step(
    N_("A cut through the word"),
    rf"{_OF_W} = \textstyle\sum_{{\s{{t}}=1}}^{{\s{{T}}}}\sum_{{\s{{s}}=1}}^{{\s{{t}}}}"
    r"\s{H_s-1}^\top\s{delta_ts},"
    r"\quad \s{delta_ts} = \tfrac{1}{\s{T}}\tfrac{\partial \s{l_t}}{\partial \s{A_s}}",
    say=N_(
        "The cut is detach: values cross it, gradients don't. It makes a step cheaper and training stable: a "
        "gradient can't explode over more steps than τ."
    ),
    prompt=N_("Which terms are lost, near ones or far ones?"),
    covers=(28,),
    minutes_of_90=3,
    prints="np.linalg.norm(full), np.linalg.norm(part)",
    T=slider(2, 6, 1, 6, N_("time steps T"), stands="T"),
    tau=slider(1, 6, 1, 2, N_("cut after τ steps")),
)
def cut(T: int, tau: int) -> StepPicture:
    word = Machine(steps=T)
    tau = min(tau, T)
    # [t, s] is H_{s-1}ᵀ δ_{t,s}
    terms = word.pairs()
    # [t, s]: no cut between s and t
    uncut = word.uncut_pairs(tau)
    size = np.linalg.norm(terms, axis=(2, 3))
    full, part = terms.sum(axis=(0, 1)), terms[uncut].sum(axis=0)
    all_cached = sum(values.size for values in word.cached().values())
    cached = all_cached * tau // T
    # show
    names = [str(t + 1) for t in range(T)]
    parts = {f"y{t}": tex(rf"\ell_{t}", "round") for t in names} | {
        f"H{t}": state(t, h) for t, h in enumerate(word.forward.state, start=1)
    }
    back = [(f"y{t}", f"H{t}", "back") for t in names]
    back += [(f"H{s + 1}", f"H{s}", "back" if uncut[s, s - 1] else "cut") for s in range(1, T)]
    states = chain(parts, "yH", {"HH": ["ngram"] * T}, links=back, look="small")
    later = np.triu(np.ones((T, T), bool), 1)
    out = int((size[~uncut] > 0).sum())  # terms at s = 1 are 0, as H_0 is
    sizes = column(
        matrix(
            np.where(later, np.nan, size),
            title=r"\lVert\s{H_s-1}^\top\s{delta_ts}\rVert",
            rows=[f"ℓ{_LOW[int(t)]}" for t in names],
            columns=[f"{t} {character}" for t, character in zip(names, word.inputs, strict=True)],
            faded=[(int(t), int(s)) for t, s in np.argwhere(~uncut & ~later)],
            scale="sequential",
            full=1.25 * size.max(),
            look="plain tight",
        ),
        text(_("size of each term: loss t (row), step s (column)"), "quiet"),
        look="middle",
    )
    sums = []
    for kind, words, look in [
        (full, _("full gradient"), "strong"),
        (part, _("with the cut"), "strong pinned"),
    ]:
        norm = tex(rf"\lVert{_OF_W}\rVert = {fixed(float(np.linalg.norm(kind)))}")
        sums += [text(words, look), inline(matrix(kind, full=1), norm)]
    ways = inline(
        text(_("states go on") + " →", "ngram strong"), text("← " + _("gradients go back"), "pinned strong")
    )
    memory = _("cached at one time: {left} of {all} numbers").format(left=cached, all=all_cached)
    picture = row(
        column(ways, states, sizes),
        column(*sums, text(memory, "strong model"), look="middle"),
        sizes=(1.5, 1),
    )
    if not out:
        return picture, _(
            "Without truncation the gradient of each loss reaches every step before it: nothing is left out."
        )
    return picture, _(
        "Regular truncation: the cut is detach. States cross it, gradients don't: {out} of {count} terms "
        "that aren't zero are left out. So a step costs less, and nothing explodes over more than τ steps."
    ).format(out=out, count=int((size > 0).sum()))


@step(
    N_("Gradients in real networks"),
    r"\tfrac{\partial \s{l_T}}{\partial \s{H_t}} = \tfrac{\partial \s{l_T}}{\partial \s{H_T}}\,"
    r"\tfrac{\partial \s{H_T}}{\partial \s{H_T-1}} \cdots \tfrac{\partial \s{H_t+1}}{\partial \s{H_t}}",
    say=N_("Compare the slopes of RNN, GRU and LSTM, near the end and far from it."),
    prompt=N_("After how many characters is nothing left of the RNN's gradient?"),
    covers=(28, 29),
    appendix=True,
    prints="{cell: share[-1] for cell, share in left.items()}",
    text=line_of_text(100, TEXT, N_("text"), least=2),
)
def flow(text: str) -> StepPicture:
    left = {}
    for cell in ("rnn", "gru", "lstm"):
        back = jacobian(load(f"timemachine-{cell}"), text, at=len(text) - 1, of="loss")
        # by the state k steps earlier
        size = back.hidden[:-1, -1]
        if back.cell is not None:
            # an LSTM's state is H with C
            size = np.hypot(size, back.cell[:-1, -1])
        left[cell] = size / (size[0] or np.nan)
    # show
    curves = [
        line(share, f"{cell.upper()} {rough(share[-1])}", colour=COLOURS[cell], width=4, stands="l_T H_t")
        for cell, share in left.items()
    ]
    picture = column(
        plot(curves, log=True, x=_("steps back, k"), y=_("what is left of ∂ℓ/∂H")),
        node(
            "text",
            words=_(
                "GRU and LSTM have gates, which can pass a state on almost unchanged. "
                "An LSTM's state is H with C."
            ),
            look="quiet",
        ),
    )
    if strange := unread(load("timemachine-rnn"), text):
        return picture, strange
    if len(text) < 3 or not all(np.isfinite(share).all() for share in left.values()):
        return picture, _("There is no step to go back to yet: type a longer text.")
    k = min(10, len(text) - 2)  # where an LSTM may do no better than an RNN
    return picture, _(
        "At a curve's end: the share left at k = {n}. At k = {k} it is {early} for the RNN, {gated} for the "
        "LSTM. This is what could pass; “How far back it looks” measures what these networks use."
    ).format(n=len(text) - 2, k=k, early=rough(left["rnn"][k]), gated=rough(left["lstm"][k]))


TRUNCATION_DRAWS = 10_000
"""Draws of a randomly truncated gradient."""

MIN_FAR_DRAWS = 5
"""Draws that reach the farthest term, on average, below which the picture doesn't trust the mean."""


@step(
    N_("Cut at random"),
    r"\s{z_t} = \tfrac{\partial \s{f_t}}{\partial \s{w}} + "
    r"\s{xi_t}\,\tfrac{\partial \s{f_t}}{\partial \s{h_t-1.one}}\,\s{z_t-1},"
    r"\quad \s{P}(\s{xi_t} = \tfrac{1}{\s{pi}}) = \s{pi}"
    r"\ \Rightarrow\ \s{E}[\s{z_t}] = \tfrac{\partial \s{h_t}}{\partial \s{w}}",
    say=N_(
        "The gradient rarely goes far back, but then counts more: the mean is the full gradient. In practice "
        "regular truncation is used: the scatter costs more than the bias."
    ),
    prompt=N_("What is the price of being right on average?"),
    covers=(28,),
    appendix=True,
    prints="terms.sum(), mean[-1], spread",
    pi=slider(0.3, 1, 0.01, 0.7, N_("probability of going on, π"), stands="pi"),
    after=slider(1, 12, 1, 4, N_("regular cut after")),
    seed=again(1, N_("New random numbers")),
)
def random(pi: float, after: int, seed: int) -> StepPicture:
    T, w = 12, 1.1
    x = 0.3 * np.random.default_rng(1).standard_normal(T)
    h = np.zeros(T + 1)
    for t in range(T):
        h[t + 1] = np.tanh(x[t] + w * h[t])
    steps = w * (1 - h[1:] ** 2)  # dh_t/dh_{t-1}
    terms = np.array([h[T - k - 1] * np.prod(steps[T - k - 1 :]) / w for k in range(T)])
    going = np.random.default_rng(seed).random((TRUNCATION_DRAWS, T - 1)) < pi
    weights = np.cumprod(np.hstack([np.ones((TRUNCATION_DRAWS, 1)), going / pi]), axis=1)
    z = weights @ terms
    mean = np.cumsum(z) / np.arange(1, TRUNCATION_DRAWS + 1)
    # E of two weights' product: π ** -(lower lag)
    product = pi ** -np.minimum.outer(np.arange(T), np.arange(T)).astype(float)
    spread = math.sqrt(max(0, terms @ (product - 1) @ terms))
    # show
    full, regular = terms.sum(), terms[:after].sum()
    ways = {_("full"): np.ones(T), _("regular cut"): np.arange(T) < after}
    ways |= {_("random {n}").format(n=n + 1): weights[n] for n in range(3)}
    ways |= {_("mean of 10,000"): weights.mean(axis=0)}
    weighed = matrix(
        list(ways.values()),
        rows=list(ways),
        columns=[str(k) for k in range(T)],
        digits=1,
        scale="sequential",
        full=6,
        look="plain small said",
    )
    at = sorted({round(10 ** (n / 12)) for n in range(6, 49)})
    band = np.array([2 * spread / math.sqrt(n) for n in at])
    lines = [line(full + edge, xs=at, colour="bar", dash="dot", width=2) for edge in (band, -band)]
    lines += [
        line([full] * len(at), _("full"), xs=at, colour="text", width=2),
        line([regular] * len(at), _("regular cut"), xs=at, colour="actual", dash="dash"),
        line(mean[np.array(at) - 1], _("random"), xs=at, width=4, stands="E z_t"),
    ]
    net = f"hₜ = f(xₜ, hₜ₋₁, w) = tanh(xₜ + w hₜ₋₁), w = {w:g}"
    picture = row(
        column(
            text(_("One unit, twelve steps: {net}; z estimates ∂h/∂w.").format(net=net), stands="w f_t h_t"),
            text(_("what each term is multiplied by, 0 to {n} steps back").format(n=T - 1), "quiet", "xi_t"),
            weighed,
            text(_("Neither truncation cures vanishing gradients: a small term stays small."), "strong"),
        ),
        column(
            plot(lines, log_x=True, x=_("draws"), y=_("mean of z")),
            text(_("dotted: ± 2 standard errors"), "quiet"),
        ),
        sizes=(1.3, 1),
    )
    if pi == 1:
        return picture, _("At π = 1 nothing is cut: every draw is the full gradient.")
    if TRUNCATION_DRAWS * pi ** (T - 1) < MIN_FAR_DRAWS:
        return picture, _(
            "On average random truncation gives the full gradient. But so few draws go far that the "
            "mean of 10,000 may miss it."
        )
    if after == T:
        notice = _(
            "A cut after all {n} steps cuts nothing. Random truncation is right on average; "
            "its standard deviation is {spread}."
        )
        return picture, notice.format(n=T, spread=rough(spread))
    notice = _(
        "Regular truncation is always off by {bias}. Random truncation is right on average; its standard "
        "deviation is {spread}. So regular truncation is used in practice."
    )
    return picture, notice.format(bias=rough(abs(full - regular)), spread=rough(spread))
