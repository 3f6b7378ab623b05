r"""The symbols of the lecture's formulas: their LaTeX, their meaning, and their shape in letters.

A formula names its symbols, and the browser gives each a handle: pointing at a symbol lights its part of the
picture, and pointing at the part lights the symbol.

    formula   r"\s{H_t} = \s{phi}(\s{X_t}\s{W_xh} + \s{H_t-1}\s{W_hh} + \s{b_h})"; outside of \s{…} there are
              only digits, operators and a few commands, so that every symbol is explained
    picture   primitives.py: stands="W_xh" of any part. A matrix shows its shape and numbers; `here` gives the
              value of any other part

Shapes: n rows of a batch, d inputs, h hidden units, q outputs.
"""

import re
from dataclasses import dataclass

from rnnviz.i18n import N_, _


@dataclass(frozen=True)
class Symbol:
    """A symbol: its LaTeX, or a word to translate; its meaning; its shape in letters, "" for a number."""

    latex: str
    means: str
    shape: str = ""
    word: bool = False

    def localised(self) -> str:
        """Its LaTeX in the session's language."""
        if not self.word:
            return self.latex
        word = _(self.latex)
        return rf"\text{{{word}}}"


_UNITS = "n × h"

SYMBOLS = {
    # a text and its positions
    "t": Symbol("t", N_("time step, from 1")),
    "T": Symbol("T", N_("length: the number of characters")),
    "n": Symbol("n", N_("characters taken together: the one that comes and those before it")),
    "m": Symbol("r", N_("number of characters that are read but not counted")),
    "n.text": Symbol("n", N_("length of the text, elsewhere T")),
    "x_t": Symbol("x_t", N_("the character at time step t")),
    "x_t+1": Symbol("x_{t+1}", N_("the next character")),
    "x_t-1": Symbol("x_{t-1}", N_("the character one step earlier")),
    "x_t-n+1": Symbol("x_{t-n+1}", N_("the earliest character that a table of n-grams sees")),
    "x_t-k": Symbol("x_{t-k}", N_("the earliest character that is read")),
    "temperature": Symbol(
        N_("temperature"), N_("below 1 likely characters become likelier, above 1 less likely"), word=True
    ),
    "x_1": Symbol("x_1", N_("the first character")),
    "x_T": Symbol("x_T", N_("the last character")),
    "x": Symbol("x", N_("any character that may come")),
    "V": Symbol(r"|\mathcal{V}|", N_("number of different symbols")),
    # probabilities and what they cost
    "P": Symbol("P", N_("probability")),
    "p": Symbol("p", N_("share of a character in the text")),
    "q": Symbol("q", N_("probability that a model gives to it")),
    "l_t": Symbol(r"\ell_t", N_("loss of one time step")),
    "l_T": Symbol(r"\ell_T", N_("loss of the last time step")),
    "L": Symbol("L", N_("loss: the mean of all time steps' losses")),
    "perplexity": Symbol(
        N_("perplexity"),
        N_("number of equally likely characters that would be as hard to predict"),
        word=True,
    ),
    "bits": Symbol(N_("bits"), N_("unit of a cost: logarithm to base 2"), word=True),
    "softmax": Symbol(r"\operatorname{softmax}", N_("turns scores into probabilities: positive, with sum 1")),
    "argmax": Symbol(r"\operatorname{argmax}", N_("the one with the highest value")),
    "q_i": Symbol("q_i", N_("share of the letters found at guess i")),
    "q_i+1": Symbol("q_{i+1}", N_("share of the letters found at the guess after that")),
    "i_guess": Symbol("i", N_("number of the guess")),
    "F": Symbol("F", N_("entropy of a letter, given all letters before it")),
    # the network
    "phi": Symbol(r"\phi", N_("activation function, tanh here")),
    "X_t": Symbol(r"\mathbf{X}_t", N_("input at time step t"), "n × d"),
    "H_t": Symbol(r"\mathbf{H}_t", N_("hidden state at time step t"), _UNITS),
    "H_t-1": Symbol(r"\mathbf{H}_{t-1}", N_("hidden state one step earlier"), _UNITS),
    "O_t": Symbol(r"\mathbf{O}_t", N_("output at time step t: a score for each symbol"), "n × q"),
    "W_xh": Symbol(r"\mathbf{W}_{xh}", N_("weights from the input to the hidden units"), "d × h"),
    "W_hh": Symbol(r"\mathbf{W}_{hh}", N_("weights from the hidden state to the next one"), "h × h"),
    "b_h": Symbol(r"\mathbf{b}_h", N_("bias of the hidden units"), "1 × h"),
    "W_hq": Symbol(r"\mathbf{W}_{hq}", N_("weights from the hidden state to the output"), "h × q"),
    "b_q": Symbol(r"\mathbf{b}_q", N_("bias of the output"), "1 × q"),
    "X": Symbol(r"\mathbf{X}", N_("input of a network without a state"), "n × d"),
    "H": Symbol(r"\mathbf{H}", N_("hidden layer's output, without a state"), _UNITS),
    "Z_t": Symbol(r"\mathbf{Z}_t", N_("update gate: the share of the old state that stays"), _UNITS),
    "H_t.new": Symbol(r"\tilde{\mathbf{H}}_t", N_("candidate state: what the cell would take in"), _UNITS),
    "C_t": Symbol(r"\mathbf{C}_t", N_("cell state of an LSTM at time step t"), _UNITS),
    "C_t-1": Symbol(r"\mathbf{C}_{t-1}", N_("cell state one step earlier"), _UNITS),
    "F_t": Symbol(r"\mathbf{F}_t", N_("forget gate: the share of the cell state that stays"), _UNITS),
    "I_t": Symbol(r"\mathbf{I}_t", N_("input gate: the share of the candidate that is taken in"), _UNITS),
    "C_t.new": Symbol(r"\tilde{\mathbf{C}}_t", N_("candidate: what the LSTM would take in"), _UNITS),
    "h_t-1": Symbol(r"\mathbf{h}_{t-1}", N_("hidden state: what was kept of all characters so far"), "h"),
    "h_t.state": Symbol(r"\mathbf{h}_t", N_("hidden state, or hidden variable: what is kept"), "h"),
    "f": Symbol("f", N_("the rule that makes the new state: any function")),
    # back through time
    "k": Symbol("k", N_("number of steps back")),
    "H_T": Symbol(r"\mathbf{H}_T", N_("hidden state at the last time step"), _UNITS),
    "H_T-1": Symbol(r"\mathbf{H}_{T-1}", N_("hidden state one step before the last"), _UNITS),
    "H_t+1": Symbol(r"\mathbf{H}_{t+1}", N_("hidden state one step later"), _UNITS),
    "rho": Symbol(r"\rho", N_("largest modulus of an eigenvalue of the recurrent weights")),
    "lambda_i": Symbol(r"\lambda_i", N_("an eigenvalue of the recurrent weights")),
    "i_eigenvalue": Symbol("i", N_("index of an eigenvalue")),
    "g": Symbol(r"\mathbf{g}", N_("gradient: all its numbers in one vector")),
    "theta": Symbol(r"\theta", N_("threshold: the norm that a gradient may have")),
    "h_t": Symbol("h_t", N_("hidden state at time step t, one number here")),
    "h_t-1.one": Symbol("h_{t-1}", N_("hidden state one step earlier, one number here")),
    "w": Symbol("w", N_("recurrent weight, one number here")),
    "f_t": Symbol("f_t", N_("what computes the hidden state of time step t")),
    "s": Symbol("s", N_("an earlier time step, or the same")),
    "A_t": Symbol(r"\mathbf{A}_t", N_("pre-activation at time step t"), _UNITS),
    "A_s": Symbol(r"\mathbf{A}_s", N_("pre-activation at time step s"), _UNITS),
    "H_s-1": Symbol(r"\mathbf{H}_{s-1}", N_("hidden state before time step s"), _UNITS),
    "delta_t": Symbol(
        r"\boldsymbol{\delta}_t", N_("gradient of the loss with respect to the pre-activation at t"), _UNITS
    ),
    "delta_t+1": Symbol(
        r"\boldsymbol{\delta}_{t+1}",
        N_("gradient of the loss with respect to the pre-activation one step later"),
        _UNITS,
    ),
    "delta_ts": Symbol(
        r"\boldsymbol{\delta}_{t,s}", N_("what the loss of step t alone hands back to step s"), _UNITS
    ),
    "z_t": Symbol("z_t", N_("estimate of the gradient, with random truncation")),
    "z_t-1": Symbol("z_{t-1}", N_("estimate one step earlier")),
    "xi_t": Symbol(r"\xi_t", N_("random weight: 0 for a cut, 1/π for going on")),
    "pi": Symbol(r"\pi", N_("probability of going on")),
    "E": Symbol("E", N_("expectation: the mean over many draws")),
}

NAMED = re.compile(r"\\s\{([^{}]*)\}")
"""A symbol of a formula, by its name."""


def typeset(formula: str) -> str:
    r"""A formula's LaTeX, every \s{NAME} with a handle: an element whose data-symbol is NAME.

    >>> typeset(r"\s{W_xh} + 1")
    '\\htmlData{symbol=W_xh}{\\mathbf{W}_{xh}} + 1'
    """
    return NAMED.sub(
        lambda match: rf"\htmlData{{symbol={match[1]}}}{{{SYMBOLS[match[1]].localised()}}}", formula
    )


def meanings() -> dict[str, dict[str, str]]:
    """Every symbol's meaning, and its shape in letters, in the session's language."""
    return {name: {"is": _(symbol.means), "shape": symbol.shape} for name, symbol in SYMBOLS.items()}


def letters() -> dict[str, str]:
    """Names of the letters in shapes, in the session's language."""
    return {
        "shape.n": _("rows"),
        "shape.d": _("inputs"),
        "shape.h": _("hidden units"),
        "shape.q": _("outputs"),
    }
