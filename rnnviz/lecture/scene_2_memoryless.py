"""Scene 2: without a hidden state two texts with the same last character are the same; every number of the
layers.
"""

import numpy as np

from rnnviz.i18n import N_, _
from rnnviz.lecture.controls import again, line_of_text
from rnnviz.lecture.machine import SYMBOLS, WORD, Machine, numbers
from rnnviz.lecture.number_format import percent
from rnnviz.lecture.prediction import chances, likeliest, trace
from rnnviz.lecture.primitives import bars, cells, column, inline, matrix, row, tex, text
from rnnviz.lecture.readers import load, unread
from rnnviz.lecture.scene_3_recurrence import ENDINGS, WITHOUT
from rnnviz.lecture.steps import Question, StepPicture, step
from rnnviz.text.characters import visible

TITLE = N_("Without a hidden state")


@step(
    N_("Same ending, same prediction"),
    WITHOUT,
    say=N_(
        "Without a state the network sees the last character only. The hidden layer is between input and "
        "output; it is not a memory."
    ),
    prompt=Question(
        N_("Two texts end in the same character. Which network predicts the same after both?"),
        ["MLP", "RNN", N_("both of them"), N_("neither")],
        right=0,
    ),
    covers=(4, 5),
    minutes=2.5,
    minutes_of_90=3,
    left=line_of_text(30, ENDINGS[0], N_("One text")),
    right=line_of_text(30, ENDINGS[1], N_("Another")),
    prints="difference",
)
def prediction(left: str, right: str) -> StepPicture:
    P = {}
    for cell in ("mlp", "rnn"):
        ends = [trace(load(f"timemachine-{cell}"), read) for read in (left, right)]
        P[cell] = [np.exp(end.log_probs[-1]) for end in ends]
    # float32 may round the same rows differently
    difference = {cell: round(float(abs(first - second).max()), 6) for cell, (first, second) in P.items()}
    # show
    vocabulary = load("timemachine-mlp").vocabulary
    marks = [cells([visible(c) for c in read], lit=[len(read) - 1], look="tight") for read in (left, right)]
    looks = {
        "mlp": ("actual", _("MLP: no state, the framed character is all it sees")),
        "rnn": ("model", _("RNN: its state has read the whole text")),
    }
    parts = []
    for cell, (look, words) in looks.items():
        best = likeliest(np.maximum(*P[cell]), 4)
        largest = _("largest difference: {share}").format(share=percent(difference[cell]))
        parts.append(column(text(words, f"strong {look}"), text(largest, "large"), look="close"))
        parts += [bars(chances(of_text, best, vocabulary), colours=[look] * 4) for of_text in P[cell]]
    sizes = (3, 4, 4)
    head = row(text(_("probability of the next character"), "quiet"), *marks, sizes=sizes)
    picture = column(head, row(*parts, sizes=sizes))
    if strange := unread(load("timemachine-mlp"), left + right):
        return picture, strange
    if left == right:
        return picture, _("The same text twice: change one of them, but keep its last character.")
    if difference["mlp"]:
        return picture, _(
            "The two texts end differently, so even a network without a state can tell them apart."
        )
    return picture, _(
        "The MLP predicts exactly the same after both: it has a hidden layer, but no hidden state. A network "
        "with hidden states is a recurrent neural network, RNN."
    )


@step(
    N_("A layer without a state"),
    r"\s{H} = \s{phi}(\s{X}\s{W_xh} + \s{b_h})",
    say=N_("Each row is one pair. The bias is one row and is added to every row: broadcasting."),
    prompt=N_("Which shapes do X, W and H have?"),
    covers=(6, 7),
    minutes=1.5,
    minutes_of_90=3,
    prints="H.round(2)",
    pairs=again(0, N_("Draw other pairs")),
)
def hidden(pairs: int) -> StepPicture:
    net = Machine().net
    rng = np.random.default_rng(pairs)
    # three places in the word, in any order
    at = rng.permutation(len(WORD) - 1)[:3]
    inputs, labels = [WORD[i] for i in at], [WORD[i + 1] for i in at]
    X = np.eye(len(SYMBOLS))[numbers("".join(inputs))]
    H = np.tanh(X @ net.W_xh + net.b_h)
    # show
    names = [f"{character}→{label}" for character, label in zip(inputs, labels, strict=True)]
    picked = [(numbers(character)[0], j) for character in inputs for j in range(len(net.b_h))]
    layer = inline(
        matrix(X, "X", title=_shaped("X", "n", "d"), rows=names, columns=SYMBOLS, digits=0, look="narrow"),
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
        "One pair per row, and the same bias is added to every row. No row depends on another, so pairs may "
        "come in any order. φ is tanh here."
    )


def _shaped(name: str, rows: str, columns: str) -> str:
    """A matrix's name with its shape in letters, in LaTeX."""
    return rf"\s{{{name}}} \in \mathbb{{R}}^{{{rows} \times {columns}}}"
