"""Scene 5: a character model of one word: its labels, the loss of every step, and its training."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.i18n import N_, _
from rnnviz.lecture.chain import chain, letter
from rnnviz.lecture.controls import Control, again, line_of_text, slider, toggle
from rnnviz.lecture.machine import DEFAULT_SEED, SYMBOLS, WORD, Machine, draw_weights
from rnnviz.lecture.number_format import fixed
from rnnviz.lecture.prediction import likeliest, trace
from rnnviz.lecture.primitives import (
    Node,
    bars,
    button,
    cells,
    column,
    inline,
    line,
    matrix,
    plot,
    row,
    strip,
    table,
    tex,
    text,
)
from rnnviz.lecture.readers import load
from rnnviz.lecture.scene_3_recurrence import OUTPUT
from rnnviz.lecture.small_rnn import SmallRNN, Unrolled, unroll, weight_gradients
from rnnviz.lecture.steps import StepPicture, step
from rnnviz.text import corpora
from rnnviz.text.characters import visible

TITLE = N_("A character model")

TRACED_STEP = 3  # the time step whose output is traced back
TRAINING_STEPS = 100  # of training: enough to memorise a word

_WEIGHTS = again(DEFAULT_SEED, N_("Other weights"))


def _unrolled(
    *,
    labels: Sequence[Node],
    outputs: Sequence[Node],
    states: Iterable[Doubles],
    inputs: Sequence[Node],
    to: int = 0,
    links: Sequence[tuple[str, str, str]] = (),
) -> Node:
    """The word's chain, with titles of its rows.

    to      the step whose output has its path lit; 0: none
    links   further arrows
    """
    steps = range(1, len(labels) + 1)
    rows = {"y": labels, "O": outputs, "H": [strip(h, "H_t", look="ngram") for h in states], "X": inputs}
    parts = {row: inline(text(_(words), "quiet"), tex(symbol)) for row, (words, symbol) in _ROWS.items()}
    parts |= {f"{row}{t}": part for row, nodes in rows.items() for t, part in enumerate(nodes, start=1)}
    looks = {
        "XH": ["model" if not to or t <= to else "faded" for t in steps],
        "HH": ["ngram" if not to or t <= to else "faded" for t in steps],
        "HO": ["actual" if to in (0, t) else "faded" for t in steps],
    }
    return chain(parts, "".join(rows), looks, links=links)


_ROWS = {
    "y": (N_("label"), r"\s{x_t+1}"),
    "O": (N_("output"), r"\s{P}"),
    "H": (N_("state"), r"\s{H_t}"),
    "X": (N_("input"), r"\s{x_t}"),
}


def _distribution(p: Doubles, label: str) -> Node:
    """A softmax (V,) over the word's symbols, with the label's cell framed."""
    framed = [(v, 0) for v, symbol in enumerate(SYMBOLS) if symbol == label]
    picture = matrix(p[:, None], rows=SYMBOLS, lit=framed, scale="sequential", look="tight plain")
    return picture | {"stands": "softmax"}


@cache
def trained(seed: int, steps: int) -> SmallRNN:
    """The word's network after so many steps of training."""
    net, word = draw_weights(seed, len(SYMBOLS)), Machine()
    for _step in range(steps):
        net = descended(net, unroll(net, word.ids, word.targets))
    return net


@step(
    N_("Labels are inputs, shifted"),
    OUTPUT + r",\quad \s{P} = \s{softmax}(\s{O_t})",
    say=N_(
        "In training, the network reads the text, whatever it predicts: teacher forcing. When it writes, it "
        "reads its own output: free running. After one wrong character, it goes on from its mistake."
    ),
    prompt=N_("What is the label of the third step? What changes when it reads itself?"),
    covers=(10, 15, 16),
    minutes=2.5,
    minutes_of_90=4,
    prints='"".join(output_text)',
    literals=lambda learnt: {name: w.round(2) for name, w in vars(trained(DEFAULT_SEED, 4 * learnt)).items()},
    itself=toggle(N_("Let it read itself"), N_("Let it read the text")),
    learnt=toggle(N_("Train it, 4 steps"), N_("Untrained")),
)
def labels(
    itself: int, learnt: int, *, W_xh: Doubles, W_hh: Doubles, b_h: Doubles, W_hq: Doubles, b_q: Doubles
) -> StepPicture:
    symbols = ["m", "a", "c", "h", "i", "n", "e"]
    x, H, states, output_text = "m", np.zeros(4), [], []
    read, P = [], []
    for label in "achine":
        read.append(x)
        i = symbols.index(x)
        H = np.tanh(W_xh[i] + H @ W_hh + b_h)
        O_t = H @ W_hq + b_q
        P.append(np.exp(O_t) / np.exp(O_t).sum())
        output_text.append(symbols[P[-1].argmax()])
        states.append(H)
        x = output_text[-1] if itself else label
    # show
    labels = WORD[1:]
    outputs = [
        column(
            text(
                f"{character} {fixed(p.max())}", "strong mono " + ("model" if character == label else "quiet")
            ),
            strip(p, "softmax", scale="sequential", look="actual"),
            look="middle close",
        )
        for character, p, label in zip(output_text, P, labels, strict=True)
    ]
    steps = range(1, len(labels))
    same = [(f"O{t}", f"X{t + 1}", "actual") if itself else (f"y{t}", f"X{t + 1}", "dashed") for t in steps]
    compared = [] if itself else [(f"O{t}", f"y{t}", "dashed") for t in (*steps, len(labels))]
    right = sum(character == label for character, label in zip(output_text, labels, strict=True))
    notice = _(
        "Teacher forcing: the next input is the text's character, which is the label too (dashed), whatever "
        "the output says. The label is the likeliest character in {right} of 6 outputs."
    )
    if itself:
        notice = _(
            "Free running: each output's likeliest character is the next input. From “m” it writes "
            "“{written}”, right in {right} of 6 places."
        )
    picture = _unrolled(
        labels=[letter(character, "quiet" if itself else "actual", "x_t+1") for character in labels],
        outputs=outputs,
        states=states,
        inputs=[letter(character, "actual" if itself and t else "model") for t, character in enumerate(read)],
        links=[*same, *compared],
    )
    return picture, notice.format(right=right, written="m" + "".join(output_text))


@step(
    N_("A loss at every step"),
    OUTPUT + r",\quad \s{l_t} = -\log\,\s{softmax}(\s{O_t})_{\s{x_t+1}}",
    say=N_(
        "Each column is a distribution: it adds up to 1. The frame marks the label; −log of it is the loss."
    ),
    prompt=N_("Which step is surprised most?"),
    covers=(17,),
    minutes=2,
    minutes_of_90=3,
    prints="np.round(losses, 2)",
    seed=_WEIGHTS,
)
def softmax(seed: int) -> StepPicture:
    net, ids = draw_weights(seed, len(SYMBOLS)), [SYMBOLS.index(c) for c in WORD]
    H, P, losses = [np.zeros(4)], [], []
    for x, label in pairwise(ids):
        H.append(np.tanh(net.W_xh[x] + H[-1] @ net.W_hh + net.b_h))
        O_t = H[-1] @ net.W_hq + net.b_q
        P.append(np.exp(O_t) / np.exp(O_t).sum())
        losses.append(-np.log(P[-1][label]))
    # show
    outputs = [
        column(tex(rf"\ell_{t} = {fixed(loss)}"), _distribution(p, label), look="middle")
        for t, (p, loss, label) in enumerate(zip(P, losses, WORD[1:], strict=True), start=1)
    ]
    picture = _unrolled(
        labels=[letter(label, "actual", "x_t+1") for label in WORD[1:]],
        outputs=outputs,
        states=H[1:],
        inputs=[letter(character) for character in WORD[:-1]],
    )
    notice = _(
        "Every column is one softmax. The loss is its cross-entropy against the label: −log of "
        "the framed cell, in nats. It is largest at step {t}: {loss}."
    ).format(t=int(np.argmax(losses)) + 1, loss=fixed(max(losses)))
    return picture, notice


def _letters(value: object) -> str | None:
    """A validator of words of WORD's length and letters."""
    fits = isinstance(value, str) and len(value) == len(WORD) and set(value) <= set(SYMBOLS)
    return str(value) if fits else None


@step(
    N_("What output 3 depends on"),
    r"\s{P}(\s{x_t+1} \mid \s{x_t}, \ldots, \s{x_1}) = \s{softmax}(\s{O_t})",
    say=N_("Output 3 depends on m, a and c; its loss on the label h too."),
    prompt=N_("Before I change this letter: will output 3 change?"),
    covers=(18,),
    appendix=True,
    prints="change.round(2), losses",
    seed=_WEIGHTS,
    letters=Control(_letters, WORD),
)
def path(seed: int, letters: str) -> StepPicture:
    usual, other = Machine(seed).forward, Machine(seed, text=letters).forward
    change = abs(other.output[TRACED_STEP - 1] - usual.output[TRACED_STEP - 1]).max()
    losses = [usual.losses[TRACED_STEP - 1], other.losses[TRACED_STEP - 1]]
    # show
    inputs = []
    for t, old in enumerate(letters[:-1]):
        new = SYMBOLS[(SYMBOLS.index(old) + 1) % len(SYMBOLS)]
        changed = letters[:t] + new + letters[t + 1 :]
        inputs.append(button(old, {"letters": changed}, "mono strong" if old == WORD[t] else "mono actual"))
    labels = [
        letter(character, "actual" if t == TRACED_STEP else "quiet", "x_t+1")
        for t, character in enumerate(letters[1:], 1)
    ]
    outputs = [text("·", "quiet")] * len(labels)
    outputs[TRACED_STEP - 1] = _distribution(other.probabilities[TRACED_STEP - 1], letters[TRACED_STEP])
    word = _unrolled(labels=labels, outputs=outputs, states=other.state, inputs=inputs, to=TRACED_STEP)
    first = next((t for t in range(len(WORD)) if letters[t] != WORD[t]), len(WORD))  # first change
    noticed = {
        TRACED_STEP: _("Output 3 has changed: it is computed from a character that was changed."),
        TRACED_STEP + 1: _("Output 3 is as before. Its loss has changed: character 4 is its label."),
        len(WORD): _("Output 3 and its loss are as before: later characters change neither."),
        len(WORD) + 1: _(
            "Output 3 is determined by “m”, “a” and “c”; its loss by that distribution and the label "
            "“h”. Change a letter."
        ),
    }
    effect = column(
        text(_("largest change of output 3")),
        text(
            fixed(change),
            "big " + ("actual" if change else "model"),
            "O_t",
            here=other.output[TRACED_STEP - 1 : TRACED_STEP],
        ),
        table(
            [_("its loss, nats"), ""],
            [[_("with “{word}”").format(word=WORD), fixed(losses[0])], [_("now"), fixed(losses[1])]],
            lit=[(1, 1)] if losses[0] != losses[1] else [],
        ),
        button(_("“{word}” again").format(word=WORD), {"letters": WORD}),
        look="start",
    )
    return row(word, effect, sizes=(3.4, 1)), next(
        words for before, words in noticed.items() if first < before
    )


@cache
def book() -> str:
    """The letters and spaces of *The Time Machine*, as the textbook reads it."""
    return re.sub("[^a-z]+", " ", corpora.read("timemachine").text.lower()).strip()


@step(
    N_("Why characters"),
    OUTPUT,
    say=N_("Few symbols, and every word can be written, at the price of more time steps."),
    prompt=N_("Where would words be the better choice?"),
    covers=(15, 16),
    appendix=True,
    prints="V, T",
)
def why() -> StepPicture:
    counters = [Counter(tokens) for tokens in (book(), book().split())]
    # with one for unknown tokens
    V = [len(counts) + 1 for counts in counters]
    T = [counts.total() for counts in counters]
    once = [sum(n == 1 for n in counts.values()) for counts in counters]
    # show
    rows = {
        _("different symbols, with one for unknown ones"): V,
        _("weights from {n} units to the output").format(n=256): [256 * v for v in V],
        _("time steps for the whole book"): T,
        _("symbols found only once"): once,
    }
    listed = [[name, *(f"{n:,}" for n in values)] for name, values in rows.items()]
    smaller = [(i, 1 + int(np.argmin(values))) for i, values in enumerate(rows.values())]
    notice = _(
        "Characters keep it simple: few symbols, and every word can be written, but in {times} times as many "
        "time steps. (The textbook counts 170,580 characters: it joins lines without a space.)"
    )
    return column(
        text(_("H. G. Wells, The Time Machine, its letters and spaces"), "quiet"),
        table(["", _("characters"), _("words")], listed, lit=smaller, look="large"),
        text(_("An early neural language model, of Bengio et al. (2003), predicted words.")),
    ), notice.format(times=fixed(T[0] / T[1], 1))


def descended(net: SmallRNN, forward: Unrolled) -> SmallRNN:
    """The net after one step of gradient descent: rate 1, all gradients clipped together to norm 1."""
    back = weight_gradients(net, forward)  # through time: scene 7
    norm = np.sqrt(sum((g**2).sum() for g in back.values()))
    rate = 1 / max(1.0, norm)
    return SmallRNN(**{name: getattr(net, name) - rate * g for name, g in back.items()})


@step(
    N_("Training it"),
    (
        r"\s{L} = \tfrac{1}{\s{T}}\textstyle\sum_{\s{t}=1}^{\s{T}} \s{l_t},"
        r"\quad \s{perplexity} = \exp(\s{L}),"
        r"\quad \s{x_t+1} = \s{argmax}_{\s{x}}\ \s{P}(\s{x} \mid \s{x_t}, \ldots, \s{x_1})"
    ),
    say=N_(
        "Press Train. Watch the framed cells and the perplexity. Then the network writes: this word is all "
        "it knows."
    ),
    prompt=N_("Where will the perplexity end? And where does it begin?"),
    covers=(27,),
    minutes=2.5,
    minutes_of_90=4,
    prints="perplexity[-1], written",
    word=line_of_text(12, WORD, N_("word"), least=2, resets=("at",)),
    seed=again(DEFAULT_SEED, N_("Other weights"), resets=("at",)),
    at=slider(0, TRAINING_STEPS, 1, 0, N_("training step"), play=N_("Train")),
)
def train(word: str, seed: int, at: int) -> StepPicture:
    symbols = list(dict.fromkeys(word))
    ids = [symbols.index(c) for c in word]
    net, perplexity = draw_weights(seed, len(symbols)), []
    for n in range(at + 1):
        forward = unroll(net, ids[:-1], ids[1:])
        perplexity.append(forward.perplexity)
        if n < at:
            net = descended(net, forward)
    # Then the net reads its own output.
    H, x, written = np.zeros(4), ids[0], word[0]
    while len(written) < len(word):
        H = np.tanh(net.W_xh[x] + H @ net.W_hh + net.b_h)
        x = int(np.argmax(H @ net.W_hq + net.b_q))
        written += symbols[x]
    # show
    steps, V = range(len(word) - 1), len(symbols)
    marks = [visible(c) for c in symbols]
    P = matrix(
        forward.probabilities.T,
        "P",
        rows=marks,
        columns=[visible(c) for c in word[:-1]],
        lit=[(ids[t + 1], t) for t in steps],
        scale="sequential",
        look="plain",
    )
    loss = matrix([forward.losses], "l_t", rows=[" "], scale="surprisal", full=8, look="plain")
    curve = plot(
        [
            line(
                [V, V],
                _("uniform guess {n}").format(n=V),
                xs=[0, TRAINING_STEPS],
                colour="uniform",
                dash="dash",
            ),
            line(perplexity, stands="perplexity"),
        ],
        x=_("training step"),
        y=_("perplexity"),
        log=True,
        mark=at,
        xs=(0, TRAINING_STEPS),
        ys=(1, max(10, 1.6 * V, 1.2 * perplexity[0])),
    )
    beside = column(
        curve,
        text(
            _("perplexity {p}").format(p=fixed(perplexity[-1])), "big model", "perplexity L", perplexity[-1]
        ),
        text(
            _("it writes “{written}”").format(written="".join(map(visible, written))), "large mono", "argmax"
        ),
    )
    notice = _("Untrained, its perplexity is {now}; a uniform guess has {uniform}. Press Train.")
    wrote = _("Given “{first}” and then its own output, it writes “{written}”, not “{word}”.")
    if written == word:
        wrote = _(
            "Given “{first}” and then its own output, it writes the word: "
            "it has memorised one word; we asked for no more."
        )
    if at:
        notice = (
            _("After training step {at} its perplexity is {now}; untrained it was {before}.") + " " + wrote
        )
    notice = notice.format(
        at=at,
        now=fixed(perplexity[-1]),
        before=fixed(perplexity[0]),
        uniform=V,
        first=word[0],
        written=written,
        word=word,
    )
    return row(column(P, loss, look="middle"), beside), notice


@step(
    N_("Draw one"),
    r"\s{x_t+1} \sim \s{P}(\s{x} \mid \s{x_t}, \ldots, \s{x_1})",
    say=N_(
        "The beginning is only read: a warm-up of the state. Then a number drawn uniformly from 0 to 1 falls "
        "into one character's share. So likely characters come often, unlikely ones rarely, and the text is "
        "different each time."
    ),
    prompt=N_("Why not always take the likeliest?"),
    covers=(29,),
    minutes_of_90=3,
    prints="written",
    n=slider(1, 30, 1, 1, N_("characters drawn"), play=N_("Write")),
    seed=again(1, N_("Other random numbers")),
)
def draw(n: int, seed: int) -> StepPicture:
    model = load("timemachine-lstm")
    written = start = "The Time Traveller "
    rng = np.random.default_rng(seed)
    for _n in range(n):
        P = np.exp(trace(model, written).log_probs[-1])
        edges = np.cumsum(P) / P.sum()
        u = rng.random()
        symbol = int(np.searchsorted(edges, u))
        written += model.vocabulary.symbol(symbol)
    # show
    best = likeliest(P, 6)
    shown_symbols = best if symbol in best else [*best[:-1], symbol]
    rows = [
        (visible(model.vocabulary.symbol(i)), P[i], f"{fixed(edges[i] - P[i])}–{fixed(edges[i])}")
        for i in sorted(shown_symbols)
    ]
    shares = bars(
        rows,
        lit=[sorted(shown_symbols).index(symbol)],
        title=_("probability, and its share of 0 to 1; the likeliest of {n}").format(n=len(P)),
        stands="P x",
    )
    picture = column(
        cells([visible(c) for c in written], lit=[len(written) - 1], look="tight", stands="x_t+1"),
        row(shares, text(_("drawn: {u}").format(u=fixed(u, 3)), "big actual"), sizes=(2, 1)),
    )
    return picture, _(
        "{u} lies in the share of “{character}”, so that is written, and read next. Written so far: "
        "“{written}”."
    ).format(u=fixed(u, 3), character=visible(written[-1]), written=written[len(start) :])
