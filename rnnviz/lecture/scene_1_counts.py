"""Scene 1: a table of n-grams outgrows every memory; a state doesn't, but may forget."""

from functools import lru_cache

import numpy as np

from rnnviz.i18n import N_, _
from rnnviz.lecture.controls import line_of_text, slider
from rnnviz.lecture.number_format import fixed, in_full, rough
from rnnviz.lecture.prediction import chances, likeliest, nats, trace
from rnnviz.lecture.primitives import bars, cells, column, graph, line, plot, row, strip, tex, text
from rnnviz.lecture.readers import in_language, kinds, reader
from rnnviz.lecture.steps import StepPicture, step
from rnnviz.networks.ngram import NgramModel
from rnnviz.text.characters import normalise, visible

TITLE = N_("Why a state at all")

_TABLE = r"\s{P}(\s{x_t} \mid \s{x_t-1}, \ldots, \s{x_t-n+1})"
_ALL = r"\s{P}(\s{x_t} \mid \s{x_t-1}, \ldots, \s{x_1})"
_RULE = r"\s{h_t.state} = \s{f}(\s{x_t}, \s{h_t-1})"
_SENTENCES = {
    "en": "the Time Traveller switched his computer off",
    "zh": "行者笑道：“师父放心！老孙打个电话就来。”",
}
_FIRST = {"en": "the dark machine stood", "zh": "行者看见那妖精变做个女子提着饭罐往山前走来了"}
_SECOND = {"en": "the grey machine stood", "zh": "八戒看见那妖精变做个女子提着饭罐往山前走来了"}

HELD_OUT = {
    "en": (4.4398, 3.4943, 2.8378, 2.3718, 2.1721, 2.1241),
    "zh": (9.2423, 7.1051, 6.6771, 6.6298, 6.6223, 6.6207),
}
"""Bits a character of the book's last tenth, by counts of n = 1 … 6 characters. Recorded: the Chinese book
doesn't ship, and the English one takes half a second.
"""

_COLOURS = {"6gram": "ngram", "rnn": "model", "gru": "pinned"}


@lru_cache(maxsize=16)
def shortened(model: NgramModel, n: int) -> NgramModel:
    """`model` with shorter n-grams of n characters; cached, because it takes a second in Chinese."""
    return model.shortened(n)


def _size(n: int) -> str:
    return rf"{_TABLE},\qquad \s{{V}}^{{\s{{n}}}} = {reader('rnn').vocabulary.size}^{{{n}}}"


@step(
    N_("A table of all n-grams"),
    _size,
    say=N_(
        "An n-gram model needs a number for every sequence of n characters: |V| to the power of n. "
        "A book fills few of them, and what was not counted, the table cannot predict."
    ),
    prompt=N_("How large is the table for two characters? And for six?"),
    covers=(1,),
    minutes=2,
    n=slider(1, 6, 1, 5, "n", stands="n"),
)
def book(n: int) -> StepPicture:
    network, counted = reader("rnn"), reader("6gram")
    V = network.vocabulary.size
    n_grams = list(range(1, 7))
    table = [V**k for k in n_grams]
    different = [V, *counted.seen]  # different n-grams in the book
    # show
    flat = [network.parameter_count] * len(n_grams)
    name = kinds().get("rnn", "GRU")
    share = f"{rough(100 * different[n - 1] / table[n - 1])} %"
    lines = [
        line(table, _("table"), xs=n_grams, colour="ngram", dots=True, stands="V"),
        line(flat, name, xs=n_grams, colour="model"),
        line(different, _("in the book"), xs=n_grams, colour="actual", dash="dot"),
    ]
    weights = _("numbers in the {network}, for any n: weights and biases, the embedding included")
    numbers = column(
        column(
            text(in_full(table[n - 1]), "big ngram", stands="P"),
            text(_("|V|ⁿ entries in a table of {n}-grams").format(n=n)),
            look="close",
        ),
        column(
            text(in_full(different[n - 1]), "big actual"),
            text(_("different {n}-grams in the book: at most {share} of the table").format(n=n, share=share)),
            look="close",
        ),
        column(
            text(in_full(network.parameter_count), "big model"),
            text(weights.format(network=name)),
            look="close",
        ),
    )
    chart = plot(lines, x=_("n: characters taken together"), y=_("numbers to store"), log=True, mark=n)
    return row(chart, numbers, sizes=(3, 2)), _(
        "Each extra character makes the table {symbols} times larger. |V| = {symbols}: "
        "{characters} characters and one sign for all others."
    ).format(symbols=in_full(V), characters=in_full(V - 1))


@step(
    N_("Counts and networks"),
    rf"{_TABLE},\qquad {_ALL}",
    say=N_(
        "Strong colours are surprises. Framed: the table never counted the characters before, so it looks at "
        "fewer."
    ),
    prompt=N_("Does a longer n help the table any further?"),
    minutes=2,
    sentence=line_of_text(46, lambda: in_language(_SENTENCES), N_("Text")),
    n=slider(1, 6, 1, 5, "n"),
)
def memory(sentence: str, n: int) -> StepPicture:
    counted = reader("6gram")
    networks = [kind for kind in kinds() if kind in ("rnn", "gru")]
    surprisal = {"6gram": nats(shortened(counted, n), sentence)}
    surprisal |= {kind: nats(reader(kind), sentence) for kind in networks}
    bits = {kind: costs / np.log(2) for kind, costs in surprisal.items()}

    ids = counted.vocabulary.encode(normalise(sentence, counted.normaliser))
    before = [ids[max(0, t - n + 1) : t] for t in range(len(ids))]
    new = [t for t, different in enumerate(before) if len(different) and not counted.occurs(different)]
    # show
    held_out = {kind: reader(kind).card["held_out"]["bits_per_character"] for kind in networks}
    held_out["6gram"] = in_language(HELD_OUT)[n - 1]
    names = kinds() | {"6gram": _("{n}-gram").format(n=n)}
    legend = _(
        "the stronger the colour, the more bits (−log₂ P); framed: {count} of {all} contexts were"
        " never counted"
    )
    legend = legend.format(count=len(new), all=len(ids))
    heads = [text(words, "quiet") for words in ("", legend, _("bits here"), _("last tenth"))]
    parts = []
    for kind, costs in bits.items():
        look = f"large strong {_COLOURS[kind]}"
        counting = kind == "6gram"
        marks = [visible(c) for c in sentence]
        parts += [
            text(names[kind], look, stands="x_t-n+1" if counting else "x_1"),
            cells(marks, costs, framed=new if counting else (), look="tight tall", stands="P x_t"),
            text(fixed(costs.mean()), look),
            text(fixed(held_out[kind]), look),
        ]
    if "rnn" not in held_out:
        notice = _(
            "On the book's last tenth, which neither was trained on, the {n}-gram pays {ngram} bits a"
            " character, the GRU {gru}. A GRU is an RNN with gates; its state has no fixed reach."
        )
    elif held_out["6gram"] < held_out["rnn"]:
        notice = _(
            "On the book's last tenth, which no model was trained on, counts beat the plain RNN. But "
            "a state looks back further and needs no table; with gates, as a GRU, it wins."
        )
    else:
        notice = _("On the book's last tenth the RNN beats the {n}-gram. Move n up.")
    notice = notice.format(n=n, ngram=fixed(held_out["6gram"]), gru=fixed(held_out["gru"]))
    sizes = (3.6, 28.6, 3, 3)
    return column(row(*heads, sizes=sizes), row(*parts, sizes=sizes)), notice


@step(
    N_("One h for the whole past"),
    rf"{_ALL} \approx \s{{P}}(\s{{x_t}} \mid \s{{h_t-1}}),\qquad {_RULE}",
    say=N_("A rule f makes the new state from the one before and the new character. It may be any function."),
    prompt=N_("What must h keep so that nothing is lost?"),
    covers=(2,),
    minutes=1.5,
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
    units = _("{n} numbers").format(n=len(after))
    parts = {
        "before": (tex(r"\s{h_t-1}"), strip(before, "h_t-1"), text(units, "quiet")),
        "f": (tex(r"\s{f}"), text(kinds().get("rnn", "GRU"), "quiet")),
        "after": (tex(r"\s{h_t.state}"), strip(after, "h_t.state"), text(units, "quiet")),
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
        "A latent variable model: one h, {units} numbers, stands for all {t} characters. It is "
        "called hidden state or hidden variable. The formula has ≈, not =, because h may forget."
    ).format(units=len(after), t=t)


@step(
    N_("Exact, or cheap"),
    _RULE,
    say=N_(
        "An f that stores everything is exact, but costs too much. A network always stores the same number "
        "of values, and forgets."
    ),
    prompt=N_("From which character on can the last-character rule no longer tell the texts apart?"),
    covers=(2, 3),
    minutes=2,
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
    share_left = {}  # the share of the largest distance so far
    for rule, distance in apart.items():
        largest = np.maximum.accumulate(distance)
        share_left[rule] = np.divide(distance, largest, out=np.ones(T), where=largest > 0)
    V = network.vocabulary.size
    numbers = {"everything": V ** (t + 1), "last": V**2, "network": network.parameter_count}
    # show
    name = kinds().get("rnn", "GRU")
    rules = [
        ("everything", "ngram", _("store everything"), r"= (\s{h_t-1},\ \s{x_t})", _("|V|ᵗ⁺¹ entries")),
        ("last", "actual", _("the last character"), r"= \s{x_t}", _("|V|² entries")),
        ("network", "model", name, rf"\in \mathbb{{R}}^{{{h.shape[1]}}}", _("parameters")),
    ]
    costs = [text(_("the rule f"), "quiet"), text(_("storage: numbers to predict with"), "quiet")]
    for rule, look, called, formula, unit in rules:
        strong = f"large strong {look}"
        costs += [
            column(text(called, strong), tex(rf"\s{{h_t.state}} {formula}"), look="close"),
            column(text(in_full(numbers[rule]), strong), text(unit), look="close"),
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
        "A powerful enough f stores everything: ≈ becomes =, but {size} numbers are computed and stored. "
        "Of the difference, the last character keeps {last}, and the {network} keeps {kept}."
    )
    last_share, network_share = (f"{rough(100 * share_left[rule][t - 1])} %" for rule in ("last", "network"))
    return picture, notice.format(
        size=in_full(numbers["everything"]), last=last_share, network=name, kept=network_share
    )
