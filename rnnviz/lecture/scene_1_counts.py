"""Scene 1: what counting can't carry over, a state can; but it may forget."""

from functools import lru_cache

import numpy as np

import rnnviz
from rnnviz.i18n import N_, _
from rnnviz.lecture.controls import line_of_text, slider
from rnnviz.lecture.number_format import fixed, in_full, percent, rough
from rnnviz.lecture.prediction import chances, likeliest, next_chances, trace
from rnnviz.lecture.primitives import (
    Node,
    bars,
    cells,
    column,
    graph,
    line,
    plot,
    row,
    strip,
    table,
    tex,
    text,
)
from rnnviz.lecture.readers import in_language, kinds, load, reader
from rnnviz.lecture.steps import Question, StepPicture, step
from rnnviz.text.characters import visible

TITLE = N_("Why a state at all")

_TABLE = r"\s{P}(\s{x_t} \mid \s{x_t-1}, \ldots, \s{x_t-n+1})"
_ALL = r"\s{P}(\s{x_t+1} \mid \s{x_t}, \ldots, \s{x_1})"
_RULE = r"\s{h_t.state} = \s{f}(\s{x_t}, \s{h_t-1})"
_FIRST = {"en": "the dark machine stood", "zh": "行者见妖精变作女子，提着饭罐"}
_SECOND = {"en": "the grey machine stood", "zh": "八戒见妖精变作女子，提着饭罐"}
_SPOKEN = '"I have seen the man who lives in the house,'
SHOWN_UNITS = 16  # of a state, so that each can be seen from the last row

WRITERS = ("holmes-6gram", "holmes-lstm", "python-lstm", "names-lstm")
"""Who wrote the first stop's texts; of the counts three characters at a time are used."""
TEMPERATURE, NAMES = 0.6, 8


@lru_cache(maxsize=1)
def written_texts() -> list[str]:
    """What each of WRITERS writes: every character drawn from its prediction, at TEMPERATURE; of the
    counts as they are. Names end by themselves: NAMES of them, one a line.
    """
    beginnings = ("The ", '"', "def ")
    texts = []
    for name, start in zip(WRITERS, beginnings, strict=False):
        counts = name.endswith("gram")
        model = load(name).shortened(3) if counts else load(name)
        sampled = rnnviz.sample(model, start, 115, temperature=1 if counts else TEMPERATURE, seed=1)
        texts.append(start + sampled)
    network = load(WRITERS[-1])
    names = (rnnviz.sample(network, "", 40, temperature=TEMPERATURE, seed=k + 1) for k in range(NAMES))
    return [*texts, "\n".join(names)]


def _texts() -> Node:
    return row(*(text(written, "mono pre") for written in written_texts()), sizes=(5, 5, 5, 2))


@step(
    N_("Who wrote this?"),
    _ALL,
    say=N_(
        "All four write one character after another: predict, draw, read what was drawn. "
        "They differ in what they were trained on and in what they carry from step to step. "
        "The last one draws a name's end, too, as one more symbol. (The networks draw at temperature 0.6.)"
    ),
    prompt=Question(
        N_("Four programs wrote these texts. Which of them looks at the last two characters only?"),
        [N_("the first"), N_("the second"), N_("the third"), N_("the fourth")],
        right=0,
        shows=_texts,
    ),
    covers=(1, 27),
    minutes=2.5,
    minutes_of_90=3,
    prints='[h["perplexity"] for h in held_out]',
)
def written() -> StepPicture:
    models = [load(name) for name in WRITERS]
    held_out = [model.card["held_out"] for model in models]
    # show
    rows = [
        [_("a 3-gram model: it counted the Holmes stories"), _("the last 2 characters"), "–"],
        [_("an LSTM, trained on the Holmes stories"), "", ""],
        [_("an LSTM, trained on Python's library"), "", ""],
        [_("an LSTM, trained on first names, which end"), "", ""],
    ]
    for line_of, model, measured in zip(rows[1:], models[1:], held_out[1:], strict=True):
        read = trace(model, "a")
        parts = (read.hidden, read.cell) if read.cell is not None else (read.hidden,)  # an LSTM's: H with C
        line_of[1] = _("{n} numbers, its state").format(n=sum(part.shape[-1] for part in parts))
        line_of[2] = fixed(measured["perplexity"])
    heads = ["", _("carried from step to step"), _("perplexity on unread text")]
    return column(_texts(), table(heads, rows, lit=[(0, 1)])), _(
        "The four programs plan nothing. Each predicts one character, draws it, and reads it: what it "
        "carries along decides how far a thread can run."
    )


def _size(n: int) -> str:
    V = load("holmes-6gram").vocabulary.size
    return rf"{_TABLE},\qquad \s{{V}}^{{\s{{n}}}} = {V}^{{{n}}}"


@step(
    N_("Counting can't look far back"),
    _size,
    say=N_(
        "A table of n-grams needs |V| to the power of n entries. What it never counted, it can't predict. "
        "The opening quotation mark is 43 characters back."
    ),
    prompt=N_("How large must n be, so that the table can tell the two texts apart?"),
    covers=(1,),
    minutes=2,
    minutes_of_90=4,
    prints="apart",
    n=slider(1, 44, 1, 6, "n", stands="n"),
    first=line_of_text(46, _SPOKEN, N_("Text"), least=2),
    second=line_of_text(46, _SPOKEN[1:], N_("Another"), least=2),
)
def book(n: int, first: str, second: str) -> StepPicture:
    counted, network = load("holmes-6gram"), load("holmes-lstm")
    V = counted.vocabulary.size
    length = counted.card["characters"]
    n_grams = np.arange(1, 45)
    table = float(V) ** n_grams
    at_most = np.minimum(table, length)
    P = {}
    for model in (counted, network):
        P[model.name] = [next_chances(model, read) for read in (first, second)]
    apart = {name: abs(a - b).max() for name, (a, b) in P.items()}
    # show
    best = likeliest(abs(np.subtract(*P[network.name])), 2)
    chart = plot(
        [
            line(table, _("table"), xs=n_grams, colour="ngram", stands="V"),
            line(at_most, _("in the book, at most"), xs=n_grams, colour="actual"),
        ],
        x=_("n: characters taken together"),
        y=_("entries"),
        log=True,
        mark=n,
    )
    texts = _("text 1"), _("text 2")
    called = {counted.name: _("6-gram"), network.name: "LSTM"}
    sides = [
        column(
            *(
                bars(
                    chances(P[name][side], best, network.vocabulary),
                    title=_("{name}: {value}").format(name=words, value=texts[side]),
                    stands="P",
                )
                for name, words in called.items()
            )
        )
        for side in (0, 1)
    ]
    read = [
        cells([visible(c) for c in words], framed=range(max(0, len(words) - n + 1), len(words)), look="tight")
        for words in (first, second)
    ]
    notice = _(
        "Framed: what a table of {n}-grams sees. The 6-gram's two predictions differ by {counts}, the LSTM's "
        "by {state}: its state still carries what came at the beginning."
    ).format(n=n, counts=percent(apart[counted.name]), state=percent(apart[network.name]))
    sums = column(
        chart,
        text(_("{entries} entries").format(entries=in_full(V**n)), "big ngram"),
        text(_("the book: {characters} characters").format(characters=in_full(length)), "actual"),
        look="close",
    )
    return column(*read, row(sums, *sides, sizes=(2.2, 1, 1))), notice


@step(
    N_("One h for the whole past"),
    rf"{_ALL} \approx \s{{P}}(\s{{x_t+1}} \mid \s{{h_t.state}}),\qquad {_RULE}",
    say=N_("A rule f makes the new state from the one before and the new character. It may be any function."),
    prompt=N_("What must h keep so that nothing is lost?"),
    covers=(2,),
    minutes=2,
    minutes_of_90=3,
    prints="P.max().round(2)",
    first=line_of_text(22, lambda: in_language(_FIRST), N_("Text"), least=2),
    t=slider(2, 22, 1, 10, "t", stands="x_t"),
)
def state(first: str, t: int) -> StepPicture:
    network = reader("rnn")
    t = min(t, len(first))
    read = trace(network, first[:t])
    before, after = read.hidden[t - 2, -1], read.hidden[t - 1, -1]
    P = np.exp(read.log_probs[t])
    # show
    rows = chances(P, likeliest(P, 4), network.vocabulary)
    units = _("the first {n} of {all} numbers").format(n=SHOWN_UNITS, all=len(after))
    parts = {
        "before": (tex(r"\s{h_t-1}"), strip(before[:SHOWN_UNITS], "h_t-1"), text(units, "quiet")),
        "f": (tex(r"\s{f}"), text(kinds().get("rnn", "GRU"), "quiet")),
        "after": (tex(r"\s{h_t.state}"), strip(after[:SHOWN_UNITS], "h_t.state"), text(units, "quiet")),
        "next": (tex(r"\s{P}(\s{x_t+1} \mid \s{h_t.state})"), bars(rows)),
        "x": (tex(r"\s{x_t}"), text(visible(first[t - 1]), "big mono pinned", "x_t", visible(first[t - 1]))),
    }
    picture = graph(
        {name: column(*nodes, look="middle") for name, nodes in parts.items()},
        [("before", "f", "lit"), ("x", "f", ""), ("f", "after", "lit"), ("after", "next", "")],
        rows=("before f after next", ". x . ."),
    )
    line_read = cells([visible(c) for c in first], lit=[t - 1], pick="t")
    return column(line_read, picture), _(
        "A latent variable model: one h, {units} numbers, sums up all {t} characters. It is called hidden "
        "state or hidden variable. The formula has ≈, not =, because h may forget."
    ).format(units=len(after), t=t)


@step(
    N_("Exact, or of a fixed size"),
    _RULE,
    say=N_(
        "An f that stores everything is exact, but its state grows with the text. A network's state keeps "
        "its size, and forgets."
    ),
    prompt=N_("From which character on can the last-character rule no longer tell the texts apart?"),
    covers=(2, 3),
    appendix=True,
    prints='share_left["network"].round(2)',
    first=line_of_text(22, lambda: in_language(_FIRST), N_("Text"), least=2),
    second=line_of_text(22, lambda: in_language(_SECOND), N_("Another"), least=2),
    t=slider(2, 22, 1, 10, "t"),
)
def any(first: str, second: str, t: int) -> StepPicture:
    network = reader("rnn")
    T = min(len(first), len(second))
    t = min(t, T)
    differ = network.vocabulary.encode(first[:T]) != network.vocabulary.encode(second[:T])
    h, h_second = (trace(network, read[:T]).hidden[:, -1] for read in (first, second))  # (T, H)
    apart = {
        "everything": np.cumsum(differ),
        "last": differ.astype(float),
        "network": np.linalg.norm(h - h_second, axis=1),
    }
    share_left = {}  # of the largest distance
    for rule, distance in apart.items():
        largest = np.maximum.accumulate(distance)
        share_left[rule] = np.divide(distance, largest, out=np.ones(T), where=largest > 0)
    # show
    name = kinds().get("rnn", "GRU")
    rules = [
        ("everything", "ngram", _("store everything"), r"= (\s{h_t-1},\ \s{x_t})", _("{n} characters")),
        ("last", "actual", _("the last character"), r"= \s{x_t}", _("1 character")),
        ("network", "model", name, r"\in \mathbb{R}^{" + str(h.shape[1]) + "}", _("{units} numbers")),
    ]
    costs = [text(_("the rule f"), "quiet"), text(_("what is in h after t characters"), "quiet")]
    for _rule, look, called, formula, size in rules:
        strong = f"large strong {look}"
        costs += [
            column(text(called, strong), tex(rf"\s{{h_t.state}} {formula}"), look="close"),
            text(size.format(n=t, units=h.shape[1]), strong),
        ]
    marks = [
        f"{visible(upper)}\n{visible(lower)}" for upper, lower in zip(first[:T], second[:T], strict=True)
    ]
    chart = plot(
        [
            line(share_left[rule], xs=list(range(1, T + 1)), colour=look, dots=True)
            for rule, look, *_rest in rules
        ],
        y=_("share of the difference that is left"),
        ys=(-0.05, 1.05),
        levels={0: _("forgets"), 1: _("exact")},
        ticks=dict(enumerate(marks, 1)),
        mark=t,
    )
    picture = row(chart, row(*costs, sizes=(5, 4)), sizes=(3, 2))
    if not differ[:t].sum():
        return picture, _("So far both texts are the same. Move t on.")
    notice = _(
        "A powerful enough f stores everything: ≈ becomes =. That is exact, but h grows with the text, and "
        "so does a step's work. Of the difference between the texts, the last character alone has {last} "
        "left, the {network} {kept}."
    )
    last_share, network_share = (f"{rough(100 * share_left[rule][t - 1])} %" for rule in ("last", "network"))
    return picture, notice.format(last=last_share, network=name, kept=network_share)
