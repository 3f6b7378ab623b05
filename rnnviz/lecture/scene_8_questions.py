"""Scene 8: questions to predict before trying. The first five answer the chapter's exercises.

`writing.json` records how shipped models of *The Time Machine* write, from many beginnings, beside the book
itself. The beginnings are from the book's last tenth, which the models were not trained on. Its `windows` are
the nats that a character costs more when only the last k characters are read, at places of Shakespeare's
held-out tenth. Each row has means with their standard errors; `docs/tools/writing.py` measures all.
"""

import numpy as np

import rnnviz
from rnnviz.i18n import N_, _
from rnnviz.lecture.controls import again, choice, slider
from rnnviz.lecture.number_format import fixed, percent, rough
from rnnviz.lecture.prediction import chances, likeliest, trace
from rnnviz.lecture.primitives import bars, cells, column, line, plane, plot, row, table, text
from rnnviz.lecture.readers import load, recorded
from rnnviz.lecture.scene_3_recurrence import OUTPUT
from rnnviz.lecture.steps import Question, StepPicture, step
from rnnviz.text.characters import visible

TITLE = N_("Check yourself")

_NETWORKS = {"rnn": "RNN", "gru": "GRU", "lstm": "LSTM"}
_TEXT = "It is a remarkable discover"
_GREEDY = r"\s{x_t+1} = \s{argmax}_{\s{x}}\ \s{P}(\s{x} \mid \s{x_t}, \ldots, \s{x_1})"


@step(
    N_("How many outputs?"),
    OUTPUT,
    say=N_("Exercise 1 of the chapter. Let everybody predict, by hand or by phone."),
    prompt=Question(
        N_("A network predicts the next character. How many numbers must it put out at every time step?"),
        [
            N_("one: the character's number"),
            N_("as many as there are hidden units"),
            N_("as many as there are different characters"),
            N_("one for every pair of characters"),
        ],
        right=2,
    ),
    covers=(29,),
    name=choice(
        {"timemachine-rnn": "RNN", "shakespeare-lstm": "LSTM", "python-gru": "GRU"},
        "timemachine-rnn",
        N_("model"),
    ),
)
def outputs(name: str) -> StepPicture:
    model = load(name)
    P = np.exp(trace(model, "machine").log_probs[-1])
    V, H = model.vocabulary.size, model.config.hidden_size
    # show
    sizes = [
        (_("hidden units"), f"{H:,}"),
        (_("different symbols |V|"), f"{V:,}"),
        (_("numbers in the output"), f"{len(P):,}"),
        (_("sum of softmax(output)"), rough(P.sum(), 6)),
    ]
    picture = row(
        table([], sizes, lit=[(1, 1), (2, 1)]),
        bars(
            chances(P, likeliest(P, 8), model.vocabulary),
            top=float(P.max()),
            title=_("what comes after “machine”: the first eight of {n}").format(n=len(P)),
        ),
    )
    return picture, _("Softmax needs one score for every symbol that may come, so O has |V| columns.")


@step(
    N_("How far back an output rests"),
    r"\s{P}(\s{x_t} \mid \s{x_t-1}, \ldots, \s{x_1}) \approx \s{P}(\s{x_t} \mid \s{h_t-1})",
    say=N_("Exercise 2. One letter is changed; how much does the prediction at the end change?"),
    prompt=Question(
        N_("How can one step's output depend on every character before it, when it sees only the last one?"),
        [
            N_("the network looks all of them up in a table"),
            N_("the state before already depends on them all"),
            N_("it can't: only the last few characters count"),
        ],
        right=1,
    ),
    covers=(2, 29),
    back=slider(1, 26, 1, 8, N_("character to change, from the end")),
)
def all_before(back: int) -> StepPicture:
    place = len(_TEXT) - back
    changed = _TEXT[:place] + "x" + _TEXT[place + 1 :]
    moved = {}
    for kind in ("mlp", "rnn", "gru", "lstm"):
        model = load(f"timemachine-{kind}")
        P, Q = (np.exp(trace(model, read).log_probs[-1]) for read in (_TEXT, changed))
        moved[kind] = np.abs(P - Q).sum() / 2
    # show
    rows = [(kind.upper(), float(share), fixed(share, 4)) for kind, share in moved.items()]
    title = _("change of the prediction at the end: 0 none, 1 another one altogether")
    entries = _("A table of all texts of this length would have {n} entries.")
    picture = column(
        cells([visible(c) for c in changed], framed=[place]),
        bars(rows, title=title),
        text(entries.format(n=rough(float(model.vocabulary.size) ** (back + 1))), "quiet"),
    )
    return (
        picture,
        _(
            "Each state is computed from the one before, back to the first character. The MLP has no "
            "state: only the last character changes its prediction."
        ),
    )


@step(
    N_("Always the likeliest"),
    _GREEDY,
    say=N_("Exercise 4. Nothing is drawn here: the same state always writes the same."),
    prompt=Question(
        N_("A character model writes its most probable character each time. What goes wrong?"),
        [
            N_("nothing: it tells a story"),
            N_("it soon goes round in circles"),
            N_("it falls apart into noise"),
        ],
        right=1,
    ),
    covers=(29,),
    cell=choice(_NETWORKS, "lstm", N_("model")),
)
def greedy(cell: str) -> StepPicture:
    model = load(f"timemachine-{cell}")
    written = rnnviz.sample(model, "The ", 160, temperature=0)
    # show
    measured = next(entry for entry in recorded("writing")["greedy"] if entry["cell"] == cell)
    facts = [
        (_("of 20 texts, those that end in a circle"), str(measured["looped"])),
        (_("its perplexity of its own texts"), fixed(np.exp(measured["own"][0]))),
        (_("its perplexity of the book"), fixed(np.exp(measured["book"][0]))),
    ]
    return (
        row(text("The " + written, "mono large"), table([], facts), sizes=(3, 2)),
        _(
            "Once a state comes back, the same text follows again. To the model its own circles have "
            "a lower perplexity than the book."
        ),
    )


@step(
    N_("Too cold and too hot"),
    r"\s{P}(\s{x_t+1} \mid \s{x_t}, \ldots, \s{x_1})^{1/\s{temperature}}\, /\, "
    r"\textstyle\sum_{\s{x}} \s{P}(\s{x} \mid \s{x_t}, \ldots, \s{x_1})^{1/\s{temperature}}",
    say=N_("Exercise 4 again: the model reads what it writes itself, and nothing leads it back to the book."),
    prompt=Question(
        N_("The LSTM draws its characters at a low, then at a high temperature. What goes wrong?"),
        [
            N_("low: makes up words; high: repeats itself"),
            N_("low: repeats itself; high: makes up words"),
            N_("nothing: both read like the book"),
        ],
        right=1,
    ),
    covers=(29,),
    temperature=choice(
        {"0.2": "0.2", "0.5": "0.5", "0.7": "0.7", "1.0": "1", "1.5": "1.5"}, "0.2", N_("temperature")
    ),
    seed=again(1, N_("Draw again")),
)
def temperature(temperature: str, seed: int) -> StepPicture:
    model = load("timemachine-lstm")
    start = "The Time Traveller"
    written = start + rnnviz.sample(model, start, 150, temperature=float(temperature), seed=seed)
    # show
    rows = recorded("writing")["temperatures"]
    columns = [
        "",
        *(_("book") if entry["temperature"] is None else f"{entry['temperature']:g}" for entry in rows),
    ]
    at = [entry["temperature"] for entry in rows].index(float(temperature)) + 1
    row_names = {
        "repeated": _("ten characters in a row that it has written before"),
        "made_up": _("words its training text lacks"),
    }
    shares = [[words, *(percent(entry[key][0]) for entry in rows)] for key, words in row_names.items()]
    read = next(entry for entry in recorded("writing")["own_input"] if entry["cell"] == "lstm")
    names = {"forced": _("reads the book"), "free": _("reads itself"), "by_accident": _("by accident")}
    looks = {"forced": "model", "free": "actual", "by_accident": "muted"}
    lines = [
        line([entry[0] for entry in read[key]], words, xs=_STAGES, colour=looks[key])
        for key, words in names.items()
    ]
    chart = plot(
        lines,
        log_x=True,
        ys=(0, 0.75),
        x=_("characters after the beginning"),
        y=_("share of guesses that are as in the book"),
    )
    picture = row(
        column(text(written, "mono"), table(columns, shares, lit=[(0, at), (1, at)])), chart, sizes=(3, 2)
    )
    return (
        picture,
        _(
            "Low: it takes the same few paths again and again. High: misspellings become likely. "
            "Reading its own guesses, it soon agrees with the book only by accident."
        ),
    )


_STAGES = (1, 2, 4, 8, 15, 35, 75, 150)
"""The middle of each stage of `own_input`, in characters after the beginning."""


@step(
    N_("How far back it looks"),
    r"\s{P}(\s{x_t} \mid \s{x_t-1}, \ldots, \s{x_t-k}) \approx \s{P}(\s{x_t} \mid \s{h_t-1})",
    say=N_("Exercise 4, the last time: a thread over many sentences can't rest on so few characters."),
    prompt=Question(
        N_("The LSTM has read a thousand characters. How many of the last ones does its prediction need?"),
        [N_("about 3 characters"), N_("about 10 characters"), N_("about 100 characters")],
        right=1,
    ),
    covers=(29,),
)
def far() -> StepPicture:
    rows = {entry["cell"]: entry["lost"] for entry in recorded("writing")["contexts"]}
    reach = next(k for k, (nats, _error) in zip(_CONTEXTS, rows["lstm"], strict=True) if nats < 0.02)
    # show
    colours = {"rnn": "ngram", "gru": "pinned", "lstm": "model"}
    lines = [
        line([nats for nats, _error in lost], cell.upper(), xs=_CONTEXTS, colour=colours[cell], dots=True)
        for cell, lost in rows.items()
    ]
    return (
        plot(
            lines,
            log_x=True,
            ticks=_CONTEXTS,
            x=_("last characters that are read"),
            y=_("nats lost, a character"),
        ),
        _(
            "From the last {reach} characters alone the LSTM predicts almost as well as from a "
            "thousand: it loses less than 0.02 nats a character. Measured at 600 places that it was "
            "not trained on."
        ).format(reach=reach),
    )


_CONTEXTS = (1, 2, 3, 5, 10, 20, 50, 100, 200)


# ---- the appendix ---------------------------------------------------------------------------------------


@step(
    N_("A hundredth"),
    r"\s{rho}^{\s{k}} < \tfrac{1}{100}",
    say=N_("At 0.9 a step, what happened a sentence ago can hardly be learnt."),
    prompt=Question(
        N_("Every step back multiplies the gradient by 0.9. After how many is it below a hundredth?"),
        [N_("about 10"), N_("about 44"), N_("about 200")],
        right=1,
    ),
    covers=(28,),
    appendix=True,
    rho=slider(0.5, 0.99, 0.01, 0.9, N_("factor of a step"), stands="rho"),
)
def hundredth(rho: float) -> StepPicture:
    k = int(np.ceil(np.log(0.01) / np.log(rho)))
    left = rho ** np.arange(101)
    # show
    lines = [line(left, f"{rho:g}ᵏ"), line([0.01] * 101, "1/100", colour="actual", dash="dot")]
    return (
        plot(lines, log=True, mark=k if k <= 100 else None, x=_("steps back, k"), y=_("left")),
        _("With a factor of {rho} it takes {k} steps: then {left} is left.").format(
            rho=f"{rho:g}", k=k, left=rough(rho**k)
        ),
    )


@step(
    N_("A clipped arrow"),
    r"\s{g} \leftarrow \min\bigl(1, \tfrac{\s{theta}}{\lVert\s{g}\rVert}\bigr)\,\s{g}",
    say=N_("The whole arrow is shortened by one factor, so it points where it did."),
    prompt=Question(
        N_("The gradient is (3, 4) and it is clipped to norm 1. What is left?"),
        ["(1, 1)", "(0.6, 0.8)", "(0, 0)"],
        right=1,
    ),
    covers=(28,),
    appendix=True,
    theta=slider(0.5, 5.5, 0.5, 1, N_("threshold θ"), stands="theta"),
)
def clipped(theta: float) -> StepPicture:
    g = np.array([3.0, 4.0])
    left = min(1, theta / np.linalg.norm(g)) * g
    # show
    before = _("before") if theta < 4 else ""  # two labels at one place can't be read
    arrows = [(*g, before, "actual"), (*left, _("after"), "model")]
    return (
        plane(arrows=arrows, circles=[(theta, "θ")], reach=5.5),
        _("({x}, {y}) is left: its norm is {norm}, its direction is kept.").format(
            x=fixed(left[0]), y=fixed(left[1]), norm=fixed(float(np.linalg.norm(left)))
        ),
    )


@step(
    N_("Right on average"),
    r"\s{E}[\s{xi_t}] = \s{pi} \cdot \tfrac{1}{\s{pi}} + (1 - \s{pi}) \cdot 0",
    say=N_("Going on has probability π and weight 1/π: each term counts once on average."),
    prompt=Question(
        N_("Truncation at random places, with weights that make up for it. On average the estimate is"),
        [
            N_("smaller than the full gradient"),
            N_("equal to the full gradient"),
            N_("larger than the full gradient"),
        ],
        right=1,
    ),
    covers=(28,),
    appendix=True,
    pi=slider(0.5, 0.95, 0.05, 0.7, N_("probability of going on, π"), stands="pi"),
    seed=again(1, N_("Draw again")),
)
def mean(pi: float, seed: int) -> StepPicture:
    terms = 0.9 ** np.arange(12)
    full = terms.sum()
    xi = (np.random.default_rng(seed).random((10_000, 11)) < pi) / pi
    weights = np.cumprod(np.column_stack([np.ones(10_000), xi]), axis=1)
    draws = weights @ terms
    # show
    error = draws.std() / 100
    rows = [
        (_("full gradient"), full, fixed(full)),
        (_("mean of 10,000 draws"), draws.mean(), f"{fixed(draws.mean())} ± {fixed(error)}"),
        (_("regular cut after 3 steps"), terms[:3].sum(), fixed(terms[:3].sum())),
    ]
    return (
        bars(rows, top=float(1.2 * full), lit=[1]),
        _(
            "The exact mean is the full gradient. The price is scatter: one draw has a standard deviation of "
            "{spread}."
        ).format(spread=fixed(draws.std())),
    )


@step(
    N_("A search for the likeliest text"),
    r"\s{argmax}_{\s{x_1}, \ldots, \s{x_T}}\ \textstyle\prod_{\s{t}} "
    r"\s{P}(\s{x_t} \mid \s{x_t-1}, \ldots, \s{x_1})",
    say=N_("Beam search keeps the likeliest texts so far. It finds likelier ones, and duller ones."),
    prompt=Question(
        N_("Beam search keeps several texts and looks for the likeliest whole text. What it finds is"),
        [
            N_("likelier, and closer to the book"),
            N_("likelier, and it repeats itself"),
            N_("less likely than character by character"),
        ],
        right=1,
    ),
    covers=(29,),
    appendix=True,
    width=choice({"1": "1", "2": "2", "4": "4", "8": "8", "16": "16"}, "16", N_("texts kept")),
)
def beams(width: str) -> StepPicture:
    rows = recorded("writing")["beams"]
    # show
    named = {0: _("drawn"), None: _("book")}
    columns = ["", *(named.get(entry["width"], str(entry["width"])) for entry in rows)]
    at = [entry["width"] for entry in rows].index(int(width)) + 1
    shares = [
        [_("log P of a character, nats"), *(fixed(entry["nats"][0]) for entry in rows)],
        [
            _("ten characters in a row that it has written before"),
            *(percent(entry["repeated"][0]) for entry in rows),
        ],
    ]
    picture = column(
        text(rows[at - 1]["example"], "mono large"), table(columns, shares, lit=[(0, at), (1, at)])
    )
    return (
        picture,
        _(
            "Every wider search found likelier texts, all likelier than the book: "
            "what is most probable repeats itself."
        ),
    )


@step(
    N_("Gates that look at the input alone"),
    r"\s{Z_t} = \s{sigma}(\s{X_t}\s{W_xz} + \s{b_z}),\quad "
    r"\s{H_t} = \s{Z_t} \odot \s{H_t-1} + (1 - \s{Z_t}) \odot \s{H_t.new}",
    say=N_(
        "A minGRU's gates don't look at the state, so training computes all steps at once. ParaRNN (2025) "
        "does so with gates that look at it, by solving for all states together."
    ),
    prompt=Question(
        N_(
            "A text is cut into windows, each read from an empty state. Which network misses what is cut off?"
        ),
        [
            N_("both, for as long as the window lasts"),
            N_("the minGRU, long after the LSTM has stopped"),
            N_("the LSTM, long after the minGRU has stopped"),
        ],
        right=1,
    ),
    covers=(28,),
    appendix=True,
)
def windows() -> StepPicture:
    measured = recorded("writing")["windows"]
    late = measured["read"].index(256)
    lost = {cell: measured[cell][late] for cell in ("mingru", "lstm")}
    # show
    looks = (("mingru", "minGRU", "actual"), ("lstm", "LSTM", "model"))
    lines = [
        line([mean for mean, _e in measured[cell]], name, xs=measured["read"], colour=hue, dots=True)
        for cell, name, hue in looks
    ]
    x, y = _("last characters that are read"), _("nats lost, a character")
    return (
        plot(lines, log_x=True, ticks=measured["read"], x=x, y=y),
        _(
            "With 256 characters read, the minGRU still pays {mingru} ± {error} nats a character "
            "more, the LSTM {lstm}. Measured at {places} places of Shakespeare that neither was trained "
            "on."
        ).format(
            mingru=fixed(lost["mingru"][0]),
            error=fixed(lost["mingru"][1]),
            lstm=fixed(lost["lstm"][0]),
            places=measured["places"],
        ),
    )
