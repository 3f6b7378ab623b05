"""Scene 3: with a hidden state; every number of a small network, one time step after another.

    H_t = φ(X_t W_xh + H_{t-1} W_hh + b_h)    O_t = H_t W_hq + b_q

The small network reads letters of "machine" as one-hot rows: d = q = 7 symbols, h = 4 units.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rnnviz.i18n import N_, _
from rnnviz.lecture.controls import Control, again, choice, line_of_text, slider, whole
from rnnviz.lecture.machine import DEFAULT_SEED, NAMES, SYMBOLS, WORD, Machine, numbers
from rnnviz.lecture.number_format import fixed, in_full, percent
from rnnviz.lecture.prediction import chances, likeliest, trace
from rnnviz.lecture.primitives import (
    Node,
    bars,
    cells,
    column,
    graph,
    inline,
    matrix,
    row,
    strip,
    table,
    tex,
    text,
)
from rnnviz.lecture.readers import load, unread
from rnnviz.lecture.steps import Question, StepPicture, step
from rnnviz.scoring.trace import Trace
from rnnviz.text.characters import visible

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


def ending(
    read: Trace, best: Sequence[int], lit: Sequence[int], framed: str, layer: str, stands: str
) -> Node:
    """A traced text, the hidden `layer` after it, and the probability of each of `best` as the next
    character.
    """
    h = read.hidden[-1, -1]
    return column(
        cells([visible(c) for c in read.text], lit=lit, title=framed, look="tight"),
        text(layer.format(n=len(h)), "quiet"),
        strip(h, stands),
        bars(chances(np.exp(read.log_probs[-1]), best, read.vocabulary), title=_("next character")),
    )


@step(
    N_("With a state they differ"),
    r"\s{h_t.state} = \s{f}(\s{x_t}, \s{h_t-1})",
    say=N_("The same ending, two predictions: the past arrives through the state."),
    prompt=N_("Change the first letter. Does the prediction still notice?"),
    covers=(5,),
    minutes=1,
    left=line_of_text(30, ENDINGS[0], N_("One text")),
    right=line_of_text(30, ENDINGS[1], N_("Another")),
    cell=choice({"rnn": "RNN", "gru": "GRU", "lstm": "LSTM"}, "rnn", N_("Network")),
)
def differ(left: str, right: str, cell: str) -> StepPicture:
    model = load(f"timemachine-{cell}")
    ends = [trace(model, read) for read in (left, right)]
    P = [np.exp(end.log_probs[-1]) for end in ends]  # of the next character
    difference = abs(P[0] - P[1]).max()
    # show
    best = likeliest(np.maximum(*P), 6)
    framed, state = _("framed: all characters, as the state has read them"), _("hidden state, {n} units")
    sides = [ending(end, best, range(len(end.text)), framed, state, "h_t.state") for end in ends]
    largest = _("largest difference of a probability: {share}")
    picture = column(row(*sides), text(largest.format(share=percent(difference)), "large"))
    if strange := unread(model, left + right):
        return picture, strange
    if not difference:
        return picture, _("To this network both texts are the same: change one of them.")
    return picture, _(
        "A network with hidden states is a recurrent neural network, RNN; GRU and LSTM are "
        "recurrent too. The state carries what was read before the last character."
    )


@step(
    N_("The same definition at every step"),
    lambda t: rf"{STATE if t > 1 else WITHOUT},\quad {OUTPUT}",
    say=N_(
        "The state of the step before, times W_hh, is added. Recurrent: the definition uses its own result."
    ),
    prompt=N_("Which row of W_xh does the letter pick? What would remain if W_hh were zero?"),
    covers=(8, 9, 10),
    minutes=2.5,
    t=slider(1, 6, 1, 1, N_("time step t"), stands="t"),
    seed=again(DEFAULT_SEED, N_("New random numbers")),
)
def first(t: int, seed: int) -> StepPicture:
    word = Machine(seed)
    net, X = word.net, word.forward.x  # (6, 7), one-hot rows
    H = [np.zeros(4)]  # H_0
    for X_t in X[:t]:
        from_input, from_state = X_t @ net.W_xh, H[-1] @ net.W_hh
        A_t = from_input + from_state + net.b_h
        H.append(np.tanh(A_t))
        O_t = H[-1] @ net.W_hq + net.b_q
    # show
    states = [*H, *[np.full(4, np.nan)] * (6 - t)]
    parts = {
        f"H{k}": column(
            tex(rf"\mathbf{{H}}_{k}"), strip(h, look="pinned" if k == t else ""), look="middle close"
        )
        for k, h in enumerate(states)
    }
    arrows = []
    for k, letter in enumerate(word.inputs, start=1):
        parts[f"X{k}"] = text(letter, "mono strong frame model" if k <= t else "mono quiet frame")
        old, new = ("ngram", "model") if k <= t else ("faded", "faded")
        arrows += [(f"H{k - 1}", f"H{k}", old, r"\s{W_hh}"), (f"X{k}", f"H{k}", new, r"\s{W_xh}")]
    chain = graph(parts, arrows, rows=["H0 H1 H2 H3 H4 H5 H6", ". X1 X2 X3 X4 X5 X6"])
    sums = matrix(
        [from_input, from_state, net.b_h, A_t, H[t]],
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
    picked = [(word.ids[t - 1], j) for j in range(4)]
    weights: dict[str, Any] = {"digits": 1, "look": "tight beside"}
    step_t = inline(
        column(
            matrix(X[t - 1], "X_t", columns=SYMBOLS, digits=0, look="tight narrow"),
            matrix(H[t - 1], "H_t-1", faded=weak[:4], look="tight"),
        ),
        column(
            matrix(net.W_xh, "W_xh", lit=picked, **weights), matrix(net.W_hh, "W_hh", faded=weak, **weights)
        ),
        sums,
        column(
            matrix(O_t, "O_t", columns=SYMBOLS, **weights),
            matrix(net.b_q, "b_q", **weights),
            matrix(net.W_hq, "W_hq", **weights),
        ),
    )
    notices = {
        1: _(
            "The character picks the framed row of W_xh. H₀ is zero, so this is still scene 2's "
            "network; from t = 2 on there is one term more."
        ),
        2: _(
            "One term more than without a state: H₁ was kept, and is added after multiplication by "
            "new weights, W_hh."
        ),
    }
    return column(chain, step_t), notices.get(
        t,
        _(
            "A recurrent layer: every step uses the same definition, and takes the state that the "
            "step before computed."
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
        [N_("ten times as many"), N_("exactly as many"), N_("fewer")],
        right=1,
    ),
    covers=(11,),
    minutes=1.5,
    steps=slider(1, 30, 1, 6, N_("time steps T"), stands="T"),
)
def parameters(steps: int) -> StepPicture:
    net = Machine().net
    sizes = {name: getattr(net, name).size for name in NAMES}
    shared, apart, tables = [], [], []
    for T in (steps, 10 * steps):
        used = {name: sizes[name] for t in range(T) for name in NAMES}  # each name once
        shared.append(sum(used.values()))
        apart.append(sum(sizes.values()) * T)
        tables.append(len(SYMBOLS) ** T)
    # show
    total = " + ".join(map(str, sizes.values()))
    rows = {
        _("this network"): shared,
        _("weights of its own for every step"): apart,
        _("a table of all texts of T characters"): tables,
    }
    picture = column(
        inline(*[matrix(getattr(net, name), name, digits=1, look="tight") for name in NAMES]),
        text(f"{total} = {shared[0]}", "big centre"),
        table(
            [_("parameters"), f"T = {steps}", f"T = {10 * steps}"],
            [[name, *map(in_full, counts)] for name, counts in rows.items()],
            look="large",
            lit=[(0, 1), (0, 2)],
        ),
    )
    notice = _(
        "Every step uses the same {n} numbers, whatever T is. "
        "A table of all texts would have {table} entries at T = {steps}."
    )
    return picture, notice.format(n=shared[0], table=in_full(tables[0]), steps=steps)


@step(
    N_("Hidden layer and hidden state"),
    BOTH,
    say=N_("The layer is hidden from view; the state is an input of the step."),
    prompt=N_("Move t: what changes? Which of the two does a network without recurrence have?"),
    covers=(4,),
    minutes=1,
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
        "after": matrix(H_t, "H_t", look="small ngram"),
        "input": _named(r"\s{X_t}", text(WORD[at - 1], "mono strong frame"), "model"),
        "output": tex(r"\s{O_t}", "actual"),
        "next": text(_("to the next step"), "ngram"),
        "state": column(
            text(_("hidden state"), "large strong ngram"),
            text(
                _("an input of this step, computed from earlier steps only; another one at every step"),
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
        "A hidden layer lies between input and output. A hidden state is an input of the step, "
        "computed in the steps before."
    )


def _named(latex: str, part: Node, colour: str) -> Node:
    """A part with its name at its left."""
    return inline(tex(latex), part, look=f"aside {colour}")


@step(
    N_("Three steps side by side"),
    BOTH,
    say=N_("Each step: concatenate input and state, then one fully connected layer."),
    prompt=N_("Where does the state of a step go to? Name both places."),
    covers=(12,),
    minutes=1.5,
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
        "H0": _named(r"\mathbf{H}_{t-2}", strip(H[middle - 2], look="ngram"), "ngram"),
    }
    arrows = []
    for k, (at, stands) in enumerate({"t-1": "H_t-1", "t": "H_t", "t+1": ""}.items(), start=1):
        i = middle - 3 + k  # row of time step `at`
        X, before = np.split(joined[i], [len(SYMBOLS)])
        parts |= {
            f"O{k}": _named(rf"\mathbf{{O}}_{{{at}}}", strip(outputs[i], look="actual"), "actual"),
            f"H{k}": _named(rf"\mathbf{{H}}_{{{at}}}", strip(H[i + 1], stands, look="ngram"), "ngram"),
            f"F{k}": tex(r"\s{phi}(\,\cdot\, + \s{b_h})", "frame pinned"),
            f"J{k}": inline(strip(X, look="model"), strip(before, look="ngram"), look="joined"),
            f"X{k}": _named(rf"\mathbf{{X}}_{{{at}}}", text(WORD[i], "mono strong frame"), "model"),
        }
        arrows += [
            (f"X{k}", f"J{k}", "model"),
            (f"H{k - 1}", f"J{k}", "ngram"),
            (f"J{k}", f"F{k}", "", WEIGHTS),
            (f"F{k}", f"H{k}", "pinned"),
            (f"H{k}", f"O{k}", "actual", r"\s{W_hq}"),
        ]
    rows = ["O . O1 O2 O3", "H H0 H1 H2 H3", "F . F1 F2 F3", "J . J1 J2 J3", "X . X1 X2 X3"]
    notice = _(
        "A recurrent layer does the same at every step: (i) concatenate Xₜ and Hₜ₋₁, (ii) one "
        "fully connected layer with φ. Hₜ goes to the next step and to Oₜ."
    )
    return graph(parts, arrows, rows=rows, look="close"), notice


@step(
    N_("Several sequences at once"),
    STATE,
    say=N_(
        "n places of a text are read side by side. Rows share the weights and never see each other's states."
    ),
    prompt=N_("What would go wrong if the rows were swapped between two steps?"),
    covers=(8, 16, 19),
    n=slider(1, 5, 1, 3, N_("rows n")),
    at=slider(1, 6, 1, 3, N_("time step t"), stands="t"),
)
def minibatch(n: int, at: int) -> StepPicture:
    net = Machine().net
    apart = len(LETTERS) // n
    places = [LETTERS[i * apart :][:7] for i in range(n)]
    H = [np.zeros((n, 4))]
    for x in list(zip(*places, strict=True))[:at]:  # a character of each place
        X_t = np.eye(len(SYMBOLS))[numbers("".join(x))]  # (n, d)
        H.append(np.tanh(X_t @ net.W_xh + H[-1] @ net.W_hh + net.b_h))  # (n, h)
    # show
    read = [i * apart + at - 1 for i in range(n)]
    title = _("a text, read from {n} places at once").format(n=n) if n > 1 else _("a text")
    rows = [cells(list(passage[:6]), below=list(passage[1:]), lit=[at - 1]) for passage in places]
    read_together = column(text(_("inputs; below each its label"), "quiet"), *rows)
    picture = column(
        cells(list(LETTERS), lit=read, title=title),
        inline(
            read_together,
            matrix(X_t, "X_t", columns=SYMBOLS, digits=0),
            matrix(H[-2], "H_t-1"),
            matrix(H[-1], "H_t"),
        ),
    )
    if n == 1:
        return picture, _(
            "A batch of one: Xₜ is one row of d = 7 numbers, a vector for the character, as in the "
            "steps before. Move n."
        )
    return picture, _(
        "In practice n > 1: Xₜ is n × d, a row of d numbers for the character at each of {n} "
        "places. Rows share the weights, but each has its own state."
    ).format(n=n)


@step(
    N_("One unit of a real network"),
    r"\s{h_tj} = \s{phi}\bigl((\s{X_t}\s{W_xh})_{\s{j}} "
    r"+ \textstyle\sum_{\s{i}} \s{h_t-1i}\,\s{w_ij} + \s{b_j}\bigr)",
    say=N_("Input, state and bias add up, tanh bends the sum. Click another character."),
    prompt=N_("Which part is largest here?"),
    covers=(9,),
    appendix=True,
    line=line_of_text(24, "the Time Traveller", N_("Text"), resets=("read",)),
    j=slider(0, 255, 1, 38, N_("unit j"), stands="j"),
    read=Control(whole(1, 24), 18),
)
def unit(line: str, j: int, read: int) -> StepPicture:
    model = load("timemachine-rnn")
    layer: Any = model.weights.layers[0]
    t = min(read, len(line))
    H = [np.zeros(layer.units)]
    for i in [model.vocabulary.start, *model.vocabulary.encode(line)]:
        from_input = layer.table[i] - layer.b  # X_t W_xh, of all units
        H.append(np.tanh(from_input + H[-1] @ layer.W_h.T + layer.b))
        if len(H) == t + 2:  # the start symbol was read before the text
            terms = H[t] * layer.W_h[j]  # h_i w_ij
            parts = [from_input[j], terms.sum(), layer.b[j]]
    h_j = [H_t[j] for H_t in H[2:]]
    # show
    marks = [visible(character) for character in line]
    unit_over_text = cells(
        marks,
        h_j,
        scale="diverging",
        full=1,
        below=[fixed(h, 1) for h in h_j],
        lit=[t - 1],
        pick="read",
        title=_("unit {n} after each character").format(n=j),
    )
    sums = matrix(
        np.transpose([[*parts, sum(parts), h_j[t - 1]]]),
        rows=[
            _("input {character}").format(character=marks[t - 1]),
            _("state before"),
            _("bias"),
            _("sum"),
            r"\s{phi}(\Sigma) = \s{h_tj}",
        ],
        lit=[(4, 0)],
        look="plain large",
    )
    added = text(_("what each of the {n} units of the state before adds").format(n=layer.units), "quiet")
    picture = row(column(unit_over_text, added, strip(terms, "h_t-1i w_ij i")), sums, sizes=[1.8, 1])
    return picture, _("One unit of a real network: its parts add up, and φ brings the sum between −1 and 1.")
