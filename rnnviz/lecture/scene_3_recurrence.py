"""Scene 3: with a hidden state; every number of a small network, one time step after another.

    H_t = φ(X_t W_xh + H_{t-1} W_hh + b_h)    O_t = H_t W_hq + b_q

The small network reads letters of "machine" as one-hot rows: d = q = 7 symbols, h = 4 units.
"""

from typing import Any

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.i18n import N_, _
from rnnviz.lecture.chain import chain, letter, state
from rnnviz.lecture.controls import again, slider, toggle
from rnnviz.lecture.machine import DEFAULT_SEED, NAMES, SYMBOLS, WORD, Machine, draw_weights, numbers
from rnnviz.lecture.number_format import fixed, in_full
from rnnviz.lecture.primitives import (
    Node,
    cells,
    column,
    graph,
    inline,
    line,
    matrix,
    plot,
    strip,
    table,
    tex,
    text,
)
from rnnviz.lecture.steps import Question, StepPicture, step

TITLE = N_("With a hidden state")

WITHOUT = r"\s{H_t} = \s{phi}(\s{X_t}\s{W_xh} + \s{b_h})"
STATE = r"\s{H_t} = \s{phi}(\s{X_t}\s{W_xh} + \s{H_t-1}\s{W_hh} + \s{b_h})"
OUTPUT = r"\s{O_t} = \s{H_t}\s{W_hq} + \s{b_q}"
BOTH = rf"{STATE},\quad {OUTPUT}"
WEIGHTS = r"\bigl[\begin{smallmatrix}\s{W_xh}\\ \s{W_hh}\end{smallmatrix}\bigr]"

ENDINGS = ("in the dark nig", "I was going")
"""Two texts with the same last character."""

LETTERS = "machinecinemamechanicchainniche"
"""The text of the minibatch: words with the letters of the small network."""

STEPS_OF_BATCH = 3  # time steps of each of the two batches


@step(
    N_("The same definition at every step"),
    lambda t, scores: (STATE if t > 1 else WITHOUT) + (rf",\quad {OUTPUT}" if scores else ""),
    say=N_(
        "The previous step's state, times W_hh, is added. Recurrent: the definition uses its own result. The "
        "output comes last."
    ),
    prompt=N_("Which row of W_xh does the letter pick? What would remain if W_hh were zero?"),
    covers=(8, 9, 10),
    minutes=2.5,
    minutes_of_90=4,
    prints="H[-1].round(2)",
    literals=lambda seed: vars(draw_weights(seed, len(SYMBOLS))),
    t=slider(1, 6, 1, 1, N_("time step t"), stands="t"),
    scores=toggle(N_("Show the output"), N_("Hide the output")),
    seed=again(DEFAULT_SEED, N_("New random numbers")),
)
def first(
    t: int, seed: int, scores: int, *, W_xh: Doubles, W_hh: Doubles, b_h: Doubles, W_hq: Doubles, b_q: Doubles
) -> StepPicture:
    X = np.eye(7)[:6]  # m a c h i n
    H = [np.zeros(4)]  # H_0
    for X_t in X[:t]:
        from_input = X_t @ W_xh
        from_state = H[-1] @ W_hh
        A_t = from_input + from_state + b_h
        H.append(np.tanh(A_t))
        O_t = H[-1] @ W_hq + b_q
    # show
    looks = {"HH": ["ngram"] * t + ["faded"] * (6 - t), "XH": ["model"] * t + ["faded"] * (6 - t)}
    states = [*H, *[np.full(4, np.nan)] * (6 - t)]
    parts = {
        f"H{k}": state(k, h, "pinned" if k == t else "ngram" if k < t else "") for k, h in enumerate(states)
    }
    parts |= {
        f"X{k}": letter(x, "model" if k <= t else "quiet", "") for k, x in enumerate(WORD[:-1], start=1)
    }
    word = chain(parts, "HX", looks, weights=True, look="")
    sums = matrix(
        [from_input, from_state, b_h, A_t, H[t]],
        rows=[
            r"\s{X_t}\s{W_xh}",
            r"+\ \s{H_t-1}\s{W_hh}",
            r"+\ \s{b_h}",
            r"=\ \s{A_t}",
            r"\s{phi}(\s{A_t}) = \s{H_t}",
        ],
        lit=[(4, j) for j in range(4)],
        faded=[(1, j) for j in range(4)] if t == 1 else [],
        look="plain tight",
    )
    weak = list(np.ndindex(4, 4)) if t == 1 else []
    weights: dict[str, Any] = {"digits": 1, "look": "tight beside"}
    step_t = [
        column(
            matrix(X[t - 1], "X_t", columns=SYMBOLS, digits=0, look="tight narrow"),
            matrix(H[t - 1], "H_t-1", faded=weak[:4], look="tight"),
        ),
        column(
            matrix(W_xh, "W_xh", rows=SYMBOLS, lit=[(t - 1, j) for j in range(4)], **weights),
            matrix(W_hh, "W_hh", faded=weak, **weights),
        ),
        sums,
    ]
    if scores:
        step_t.append(
            column(
                matrix(W_hq, "W_hq", **weights),
                matrix(b_q, "b_q", **weights),
                matrix(O_t, "O_t", columns=SYMBOLS, **weights),
            )
        )
    notices = {
        1: _(
            "The character picks the framed row of W_xh. H_0 is zero, so this is still scene 2's network; "
            "from t = 2 on there is one more term."
        ),
        2: _(
            "One more term than without a state: H_1 was kept, and is added after multiplication by new "
            "weights, W_hh."
        ),
    }
    return column(word, inline(*step_t)), notices.get(
        t,
        _(
            "A recurrent layer: every step uses the same definition, and the state that the previous step "
            "computed."
        ),
    )


@step(
    N_("Parameters do not grow"),
    BOTH,
    say=N_("Count the weights once: they serve any number of steps."),
    prompt=Question(
        N_(
            "The text gets longer: ten times as many time steps. "
            "How many parameters does the network have then?"
        ),
        [N_("ten times as many"), N_("about twice as many"), N_("exactly as many")],
        right=2,
    ),
    covers=(11,),
    minutes=2,
    minutes_of_90=3,
    prints="shared[0], apart[0]",
    steps=slider(1, 30, 1, 6, N_("time steps T"), stands="T"),
)
def parameters(steps: int) -> StepPicture:
    net = Machine().net
    sizes = {name: getattr(net, name).size for name in NAMES}
    shared, apart, tables = [], [], []
    for T in (steps, 10 * steps):
        # each name once
        used = {name: sizes[name] for t in range(T) for name in NAMES}
        shared.append(sum(used.values()))
        apart.append(sum(sizes.values()) * T)
        tables.append(len(SYMBOLS) ** T)
    # show
    total = " + ".join(map(str, sizes.values()))
    weights = {name: matrix(getattr(net, name), name, digits=1, look="tight") for name in NAMES}
    rows = {
        _("this network"): shared,
        _("separate weights for every step"): apart,
        _("a table of all texts of T characters"): tables,
    }
    picture = column(
        inline(
            weights["W_xh"],
            column(weights["W_hh"], weights["b_h"], look="middle"),
            column(weights["W_hq"], weights["b_q"], look="middle"),
        ),
        text(f"{total} = {shared[0]}", "big centre"),
        table(
            [_("parameters"), f"T = {steps}", f"T = {10 * steps}"],
            [[name, *map(in_full, counts)] for name, counts in rows.items()],
            lit=[(0, 1), (0, 2)],
        ),
    )
    notice = _(
        "Every step uses the same {n} numbers, whatever T is. "
        "A table of all texts would have {table} entries at T = {steps}."
    )
    return picture, notice.format(n=shared[0], table=in_full(tables[0]), steps=steps)


def _named(latex: str, part: Node, colour: str) -> Node:
    """A part with its name at its left."""
    return inline(tex(latex), part, look=f"aside {colour}")


@step(
    N_("Three steps side by side"),
    BOTH,
    say=N_("Each step: concatenate input and state, then one fully connected layer."),
    prompt=N_("Where does a step's state go? Name both places."),
    covers=(12,),
    minutes=2,
    minutes_of_90=3,
    prints="H[-1].round(2)",
    middle=slider(2, 5, 1, 3, N_("time step t"), stands="t"),
)
def adjacent(middle: int) -> StepPicture:
    word = Machine()
    net, H, joined, outputs = word.net, [np.zeros(4)], [], []
    W = np.concatenate([net.W_xh, net.W_hh], axis=0)  # (7 + 4, 4)
    for X_t in word.forward.x[: middle + 1]:
        joined.append(np.concatenate([X_t, H[-1]]))  # (i)
        H.append(np.tanh(joined[-1] @ W + net.b_h))  # (ii)
        outputs.append(H[-1] @ net.W_hq + net.b_q)
    # show
    parts = {
        "O": text(_("output"), "actual"),
        "H": text(_("hidden state"), "ngram"),
        "F": column(text(_("(ii) fully connected layer, φ")), text("11 × 4"), look="close narrow pinned"),
        "J": column(text(_("(i) concatenate")), text("1 × (7 + 4)"), look="close"),
        "X": text(_("input"), "model"),
        f"H{middle - 2}": _named(r"\mathbf{H}_{t-2}", strip(H[middle - 2], look="ngram"), "ngram"),
    }
    arrows = []
    for k, (at, stands) in enumerate({"t-1": "H_t-1", "t": "H_t", "t+1": ""}.items(), start=middle - 1):
        X, before = np.split(joined[k - 1], [len(SYMBOLS)])
        parts |= {
            f"O{k}": _named(rf"\mathbf{{O}}_{{{at}}}", strip(outputs[k - 1], look="actual"), "actual"),
            f"H{k}": _named(rf"\mathbf{{H}}_{{{at}}}", strip(H[k], stands, look="ngram"), "ngram"),
            f"F{k}": tex(r"\s{phi}(\,\cdot\, + \s{b_h})", "frame pinned"),
            f"J{k}": inline(strip(X, look="model"), strip(before, look="ngram"), look="joined"),
            f"X{k}": _named(rf"\mathbf{{X}}_{{{at}}}", letter(WORD[k - 1], stands=""), "model"),
        }
        arrows += [
            (f"X{k}", f"J{k}", "model"),
            (f"H{k - 1}", f"J{k}", "ngram"),
            (f"J{k}", f"F{k}", "", WEIGHTS),
            (f"F{k}", f"H{k}", "pinned"),
            (f"H{k}", f"O{k}", "actual", r"\s{W_hq}"),
        ]
    notice = _(
        "A recurrent layer does the same at every step: (i) concatenate X_t and H_t−1, (ii) one "
        "fully connected layer with φ. H_t goes to the next step and to O_t."
    )
    return chain(parts, "OHFJX", {}, links=arrows), notice


@step(
    N_("The next batch goes on"),
    STATE,
    say=N_(
        "Sequential partitioning: n places of a text are read side by side, and the next batch goes on where "
        "this one stopped. The state is kept and detached: its values go on, gradients don't."
    ),
    prompt=N_("What would the second batch know of the first, if every row began with zeros?"),
    covers=(8, 16, 19, 28),
    minutes_of_90=3,
    prints="H[-1].round(2)",
    n=slider(1, 4, 1, 3, N_("rows n")),
    at=slider(1, 6, 1, 4, N_("time step t"), stands="t"),
    zero=toggle(N_("Start each batch at zero"), N_("Keep the state")),
)
def minibatch(n: int, at: int, zero: int) -> StepPicture:
    net = Machine().net
    apart = len(LETTERS) // n
    places = [LETTERS[i * apart :][:7] for i in range(n)]
    H = [np.zeros((n, 4))]
    for k, x in enumerate(list(zip(*places, strict=True))[:at]):
        if zero and k == STEPS_OF_BATCH:
            H.append(np.zeros((n, 4)))
        # a character of each place
        X_t = np.eye(len(SYMBOLS))[numbers("".join(x))]  # (n, d)
        H.append(np.tanh(X_t @ net.W_xh + H[-1] @ net.W_hh + net.b_h))  # (n, h)
    # show
    read = [i * apart + at - 1 for i in range(n)]
    title = _("a text, read from {n} places at once; below each input its label").format(n=n)
    batches = []
    for first, words in (
        (0, _("first batch")),
        (STEPS_OF_BATCH, _("next batch")),
    ):
        rows = [
            cells(
                list(passage[first : first + STEPS_OF_BATCH]),
                below=list(passage[first + 1 :][:STEPS_OF_BATCH]),
                lit=[at - 1 - first] if first < at else [],
            )
            for passage in places
        ]
        batches.append(column(text(words, "quiet"), *rows))
    between = text(_("zeros") if zero else _("H goes on, detached") + " →", "strong ngram narrow")
    picture = column(
        cells(list(LETTERS), lit=read, title=title),
        inline(
            batches[0],
            between,
            batches[1],
            matrix(X_t, "X_t", columns=SYMBOLS, digits=0, look="tight narrow"),
            matrix(H[-2], "H_t-1", look="tight"),
            matrix(H[-1], "H_t", look="tight"),
        ),
    )
    if zero:
        return picture, _(
            "Random sampling: every batch is cut from random places, so each row starts at zero. Simpler, "
            "but no state reaches back beyond its batch."
        )
    return picture, _(
        "X_t is n × d, one row for the character at each of {n} places; rows share the weights, but each has "
        "its own state. The next batch starts from these states."
    ).format(n=n)


@step(
    N_("Hidden layer and hidden state"),
    BOTH,
    say=N_("The layer is hidden from view; the state is an input of the step."),
    prompt=N_("Move t: what changes? Which of the two does a network without recurrence have?"),
    covers=(4,),
    appendix=True,
    prints="H_t.round(2)",
    at=slider(1, 6, 1, 3, N_("time step t"), stands="t"),
)
def apart(at: int) -> StepPicture:
    word = Machine()
    net, X_t, before = word.net, word.forward.x[at - 1], word.forward.before[at - 1]
    H_t = np.tanh(X_t @ net.W_xh + before @ net.W_hh + net.b_h)
    # show
    small: dict[str, Any] = {"digits": 1, "look": "small"}
    beside = column(matrix(net.W_hh, "W_hh", **small), matrix(net.b_h, "b_h", **small), look="middle")
    parts = {
        "before": matrix(before, "H_t-1", look="small ngram"),
        "layer": column(inline(matrix(net.W_xh, "W_xh", **small), beside), look="frame pinned"),
        "after": matrix(H_t, "H_t", look="small pinned"),
        "input": _named(r"\s{X_t}", text(WORD[at - 1], "mono strong frame"), "model"),
        "output": tex(r"\s{O_t}", "actual"),
        "next": text(_("to the next step, as its state"), "ngram narrow"),
        "state": column(
            text(_("hidden state"), "large strong ngram"),
            text(
                _("an input of this step, computed from earlier steps only; different at every step"),
                "narrow",
            ),
            look="close",
        ),
        "hidden": column(
            text(_("hidden layer"), "large strong pinned"),
            text(_("hidden from view, between input and output; the same weights at every step")),
            look="close",
        ),
    }
    arrows = [
        ("before", "layer", "ngram"),
        ("input", "layer", "model"),
        ("layer", "after", "pinned"),
        ("after", "output", "actual"),
        ("after", "next", "ngram"),
    ]
    figure = graph(parts, arrows, rows=["state hidden output .", "before layer after next", ". input . ."])
    return figure, _(
        "A hidden layer lies between input and output. A hidden state is an input of the step. The same "
        "four numbers are both: the layer's output now, the state of the next step."
    )


@step(
    N_("Why tanh"),
    STATE,
    say=N_("The same weights, three activations: what stays between −1 and 1, what grows, what dies?"),
    prompt=N_("Without any φ: where does a state go after many steps?"),
    covers=(9,),
    appendix=True,
    prints="{name: h[-1] for name, h in size.items()}",
    rho=slider(0.8, 1.6, 0.05, 1.3, N_("ρ, largest eigenvalue modulus")),
    seed=again(1, N_("Other matrix")),
)
def tanh(rho: float, seed: int) -> StepPicture:
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((6, 6))
    W *= rho / abs(np.linalg.eigvals(W)).max()
    # X_t W_xh + b_h
    X = rng.standard_normal((10, 6))
    size = {"tanh": [0.0], "identity": [0.0], "ReLU": [0.0]}
    for name in size:
        H = np.zeros(6)
        for x in X:
            A = x + H @ W
            H = {"tanh": np.tanh(A), "identity": A, "ReLU": np.maximum(A, 0)}[name]
            size[name].append(round(abs(H).max(), 2))
    # show
    colours = {"tanh": "model", "identity": "actual", "ReLU": "ngram"}
    names = {"identity": _("no activation")}
    lines = [
        line(h, names.get(name, name), colour=colours[name], width=4, stands="phi H_t")
        for name, h in size.items()
    ]
    chart = plot(lines, x=_("time step t"), y=_("largest |h| of the state"))
    ends = {name: fixed(h[-1]) for name, h in size.items()}
    return chart, _(
        "After ten steps the largest number of the state is {tanh} with tanh, {identity} without an "
        "activation, {relu} with ReLU. tanh keeps every state between −1 and 1."
    ).format(tanh=ends["tanh"], identity=ends["identity"], relu=ends["ReLU"])
