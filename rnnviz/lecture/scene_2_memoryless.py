"""Scene 2: without a hidden state two texts with the same last character are the same; every number of the
layers.
"""

import numpy as np

from rnnviz.i18n import N_, _
from rnnviz.lecture.controls import again, line_of_text
from rnnviz.lecture.machine import SYMBOLS, WORD, Machine, numbers
from rnnviz.lecture.number_format import fixed, rough
from rnnviz.lecture.prediction import likeliest, trace
from rnnviz.lecture.primitives import column, inline, matrix, row, table, tex, text
from rnnviz.lecture.readers import load, unread
from rnnviz.lecture.scene_3_recurrence import ENDINGS, WITHOUT, ending
from rnnviz.lecture.steps import Question, StepPicture, step

TITLE = N_("Without a hidden state")


@step(
    N_("Same ending, same prediction"),
    WITHOUT,
    say=N_(
        "Without a state the network sees the last character only. "
        "The hidden layer stands between input and output; it is no memory."
    ),
    prompt=Question(
        N_(
            "Two texts end in the same character. Which network predicts the same after both: the "
            "MLP, which has no state, or the RNN, which has one?"
        ),
        [N_("neither MLP nor RNN"), N_("MLP and RNN"), N_("the MLP, but not the RNN")],
        right=2,
    ),
    minutes=2,
    left=line_of_text(30, ENDINGS[0], N_("One text")),
    right=line_of_text(30, ENDINGS[1], N_("Another")),
)
def prediction(left: str, right: str) -> StepPicture:
    ends, P = {}, {}
    for cell in ("mlp", "rnn"):
        ends[cell] = [trace(load(f"timemachine-{cell}"), read) for read in (left, right)]
        P[cell] = [np.exp(end.log_probs[-1]) for end in ends[cell]]
    # Where the same rows stand at different places of a product, float32 may round them differently.
    difference = {cell: round(float(abs(first - second).max()), 6) for cell, (first, second) in P.items()}
    # show
    best = likeliest(np.maximum(*P["mlp"]), 5)
    framed, layer = _("framed: all that the MLP sees"), _("hidden layer, {n} units")
    before, after = (ending(end, best, [len(end.text) - 1], framed, layer, "H_t") for end in ends["mlp"])
    between = column(
        text("=" if difference["mlp"] == 0 else "≠", "big model"),
        text(_("largest difference of a probability"), "quiet centre"),
        table([], [(cell.upper(), f"{rough(100 * change)} %") for cell, change in difference.items()]),
        look="middle",
    )
    picture = row(before, between, after, sizes=(5, 3, 5))
    if strange := unread(load("timemachine-mlp"), left + right):
        return picture, strange
    if left == right:
        return picture, _("The same text twice: change one of them, but keep its last character.")
    if difference["mlp"]:
        return picture, _(
            "The two texts end differently, so even a network without a state can tell them apart."
        )
    return picture, _(
        "The MLP has no state and sees the last character only: hidden layer and prediction agree"
        " exactly. The RNN has also read what came before."
    )


@step(
    N_("A minibatch, number by number"),
    r"\s{H} = \s{phi}(\s{X}\s{W_xh} + \s{b_h})",
    say=N_("Each row is one pair. The bias is one row and is added to every row: broadcasting."),
    prompt=N_("Which shapes do X, W and H have?"),
    covers=(6, 7),
    minutes=1.5,
    pairs=again(0, N_("Draw other pairs")),
)
def hidden(pairs: int) -> StepPicture:
    net = Machine().net
    rng = np.random.default_rng(pairs)
    at = rng.permutation(len(WORD) - 1)[:3]  # three places in the word, in any order
    inputs, labels = [WORD[i] for i in at], [WORD[i + 1] for i in at]
    X = np.eye(len(SYMBOLS))[numbers("".join(inputs))]
    H = np.tanh(X @ net.W_xh + net.b_h)
    # show
    names = [f"{character}→{label}" for character, label in zip(inputs, labels, strict=True)]
    picked = [(numbers(character)[0], j) for character in inputs for j in range(len(net.b_h))]
    layer = inline(
        matrix(X, "X", title=_shaped("X", "n", "d"), rows=names, columns=SYMBOLS, digits=0),
        matrix(net.W_xh, "W_xh", title=_shaped("W_xh", "d", "h"), rows=SYMBOLS, lit=picked, digits=1),
        text("+", "large"),
        column(
            matrix(net.b_h, "b_h", title=_shaped("b_h", "1", "h"), digits=1),
            text(_("the same row for all: broadcast"), "quiet"),
            look="middle",
        ),
        tex(r"\xrightarrow{\;\s{phi}\;}"),
        matrix(H, "H", title=_shaped("H", "n", "h")),
    )
    origin = text(_("pairs drawn at random from “{word}”; random weights").format(word=WORD), "quiet centre")
    return column(layer, origin), _(
        "One pair a row, and the same bias is added to every row. No row depends on another, so "
        "pairs may come in any order. φ is tanh here."
    )


@step(
    N_("From the layer to probabilities"),
    r"\s{O} = \s{H}\s{W_hq} + \s{b_q},\qquad \s{softmax}(\s{O})",
    say=N_("Another product gives a score for each symbol; softmax makes the scores probabilities."),
    prompt=N_("Which row pays most? Read it from the framed cells."),
    covers=(7,),
    minutes=1.5,
    pairs=again(0, N_("Draw other pairs")),
)
def output(pairs: int) -> StepPicture:
    net = Machine().net
    rng = np.random.default_rng(pairs)
    at = rng.permutation(len(WORD) - 1)[:3]
    inputs, labels = numbers("".join(WORD[i] for i in at)), numbers("".join(WORD[i + 1] for i in at))
    H = np.tanh(np.eye(len(SYMBOLS))[inputs] @ net.W_xh + net.b_h)
    O = H @ net.W_hq + net.b_q
    P = np.exp(O) / np.exp(O).sum(axis=1, keepdims=True)
    losses = -np.log(P[range(len(P)), labels])
    # show
    names = [f"{SYMBOLS[symbol]}→{SYMBOLS[label]}" for symbol, label in zip(inputs, labels, strict=True)]
    framed = list(enumerate(labels))
    layer = inline(
        matrix(H, "H", title=_shaped("H", "n", "h"), rows=names),
        matrix(net.W_hq, "W_hq", title=_shaped("W_hq", "h", "q"), digits=1),
        text("+", "large"),
        matrix(net.b_q, "b_q", title=_shaped("b_q", "1", "q"), digits=1),
    )
    scores = inline(
        text("=", "large"),
        matrix(O, "O", title=_shaped("O", "n", "q"), columns=SYMBOLS),
        tex(r"\xrightarrow{\;\s{softmax}\;}"),
        matrix(P, "softmax", title=r"\s{softmax}(\s{O})", columns=SYMBOLS, lit=framed, scale="sequential"),
        matrix(losses[:, None], title=r"-\log P", scale="surprisal", full=4),
    )
    return column(layer, scores), _(
        "Softmax makes every row of O the probabilities of q classes, here the 7 symbols. Framed:"
        " the label, the next character. The loss is the mean of −log P, {loss} nats."
    ).format(loss=fixed(losses.mean()))


def _shaped(name: str, rows: str, columns: str) -> str:
    """A matrix's name with its shape in letters, in LaTeX."""
    return rf"\s{{{name}}} \in \mathbb{{R}}^{{{rows} \times {columns}}}"
