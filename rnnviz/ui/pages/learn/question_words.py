"""The words of scene 8."""

import math
from decimal import Decimal

from rnnviz.i18n import N_
from rnnviz.ui.pages.learn.question import Words
from rnnviz.ui.pages.learn.question_words_writing import WRITING


def setting(key: str, value: str | float) -> str:
    """A setting's button label."""
    if key == "forgets" and isinstance(value, str):
        return " / ".join(f"…{text[-3:]}".replace(" ", "·") for text in value.split("|"))
    if isinstance(value, str):
        name = value.removeprefix("timemachine-")
        return name.upper() if name != value or key in WRITING else value
    return f"10{_raised(round(math.log10(value)))}" if 0 < value < 1e-3 else f"{value:g}"


def said(value: float | int | str) -> str:
    """A value of the evidence, rounded to be read from the back row."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and abs(value) >= 10**12:
        return _scientific(Decimal(value))
    if isinstance(value, int):
        return f"{value:,}"
    if math.isinf(value):
        return "∞"
    if value == 0 or 1e-3 <= abs(value) < 1e4:
        return f"{value:.4g}".replace("-", "−")
    return _scientific(value)


def _scientific(value: float | Decimal) -> str:
    digits, ten = f"{value:.1e}".split("e")
    return f"{digits} × 10{_raised(int(ten))}".replace("-", "−")


def _raised(number: int) -> str:
    return str(number).translate(_SUPERSCRIPTS)


_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


WORDS = {
    "output": Words(
        question=N_(
            "A network predicts the next character. How many numbers must it put out at every time step?"
        ),
        formula=r"\s{O_t} = \s{H_t}\s{W_hq} + \s{b_q}",
        options={
            "one": N_("one: the character's number"),
            "units": N_("as many as there are hidden units"),
            "symbols": N_("as many as there are different characters"),
            "pairs": N_("one for every pair of characters"),
        },
        dial=N_("model"),
        rows={
            "symbols": N_("different symbols |V|"),
            "units": N_("hidden units"),
            "outputs": N_("numbers in the output"),
            "sum": N_("sum of softmax(output)"),
        },
        reason=N_("Softmax needs one score for every symbol that may come, so O has |V| columns."),
    ),
    "all_before": Words(
        question=N_(
            "How can one step's output depend on every character before it, when it sees only the last one?"
        ),
        formula=r"\s{P}(\s{x_t} \mid \s{x_t-1}, \ldots, \s{x_1}) \approx \s{P}(\s{x_t} \mid \s{h_t-1})",
        options={
            "table": N_("the network looks all of them up in a table"),
            "carried": N_("the state before already depends on them all"),
            "lost": N_("it can't: only the last few characters count"),
        },
        dial=N_("character to change, from the end"),
        rows={
            "text": N_("the text, with one character changed"),
            "mlp": N_("MLP: change of the prediction, 0 to 1"),
            "6gram": N_("6-gram: change of the prediction, 0 to 1"),
            "lstm": N_("LSTM: change of the prediction, 0 to 1"),
            "table": N_("entries of a table of all such texts"),
        },
        reason=N_(
            "Each state comes from the one before, back to the first character. "
            "A 6-gram sees five; a table of long texts can't be stored or filled."
        ),
        bars=frozenset({"mlp", "6gram", "lstm"}),
    ),
    "long_way": Words(
        question=N_("A gradient goes back through a long sequence. What happens to it in the long run?"),
        formula=(
            r"\textstyle\lim_{\s{k}\to\infty} \bigl\lVert (\s{W_hh})^{\s{k}} \bigr\rVert^{1/\s{k}} = \s{rho}"
        ),
        options={
            "same": N_("it keeps its size"),
            "vanishes": N_("it always vanishes"),
            "both": N_("it vanishes or explodes: the weights decide"),
        },
        dial=N_("steps back"),
        rows={
            "steps": N_("steps back"),
            "linear.0.8": N_("linear network, ρ = 0.8"),
            "linear.1": N_("linear network, ρ = 1"),
            "linear.1.2": N_("linear network, ρ = 1.2"),
            "tanh.1.2": N_("with tanh, ρ = 1.2"),
        },
        reason=N_(
            "A linear network's gradient follows ρᵏ in the long run: "
            "it vanishes for ρ < 1 and explodes for ρ > 1. The slopes of tanh, at most 1, mostly damp it."
        ),
    ),
    "greedy": Words(
        question=N_("What goes wrong with such a model? Let it write, always the most probable character:"),
        formula=r"\s{x_t+1} = \s{argmax}_{\s{x}}\ \s{P}(\s{x} \mid \s{x_t}, \ldots, \s{x_1})",
        options={
            "story": N_("nothing: it tells a story"),
            "loop": N_("it soon goes round in circles"),
            "noise": N_("it falls apart into noise"),
        },
        dial=N_("model"),
        rows={
            "written": N_("it writes"),
            "period": N_("length of this circle, characters"),
            "looped": N_("texts that end in a circle"),
            "own": N_("its perplexity of its own texts"),
            "book": N_("its perplexity of the book"),
        },
        reason=N_(
            "Nothing is drawn: where its state comes back, so does what it writes. "
            "It finds its circles less perplexing than the book."
        ),
    ),
    "parameters": Words(
        question=N_("The text gets longer: ten times as many time steps. The network then has"),
        formula=r"\s{W_xh},\ \s{W_hh},\ \s{b_h},\ \s{W_hq},\ \s{b_q}",
        options={
            "more": N_("ten times as many parameters"),
            "same": N_("exactly as many parameters"),
            "fewer": N_("fewer parameters"),
        },
        dial=N_("time steps"),
        rows={
            "steps": N_("time steps"),
            "parameters": N_("parameters of the RNN"),
            "longer": N_("parameters for ten times as many steps"),
            "table": N_("entries of a table of all such texts"),
        },
        reason=N_(
            "Every time step uses the same weights. "
            "A table of all texts of T characters has |V| to the T entries."
        ),
    ),
    "uniform": Words(
        question=N_(
            "A model knows nothing and gives all |V| characters the same probability. Its perplexity is"
        ),
        formula=r"\exp\Bigl(-\tfrac{1}{\s{T}}\textstyle\sum_{\s{t}} \log \tfrac{1}{\s{V}}\Bigr)",
        options={"one": "1", "log": "log |V|", "symbols": "|V|", "square": "|V|²"},
        dial="|V|",
        rows={"symbols": "|V|", "perplexity": N_("perplexity"), "bits": N_("bits per character")},
        reason=N_("exp(−log(1/|V|)) is |V|: perplexity counts how many equally likely choices are left."),
    ),
    "one_zero": Words(
        question=N_(
            "999 characters are predicted with certainty, and the one that comes last was held impossible:"
        ),
        formula=r"\exp\Bigl(-\tfrac{1}{\s{T}}\textstyle\sum_{\s{t}} \log \s{P}(\s{x_t} \mid \ldots)\Bigr)",
        options={
            "small": N_("the perplexity is a little above 1"),
            "two": N_("the perplexity is about 2"),
            "infinite": N_("the perplexity is infinite"),
        },
        dial=N_("probability of the last one"),
        rows={
            "p": N_("probability of the last one"),
            "perplexity": N_("perplexity"),
            "characters": N_("characters"),
        },
        reason=N_("−log 0 is infinite, and so is every mean with it: never hold anything impossible."),
    ),
    "twice": Words(
        question=N_("The same kind of text, twice as long. Which number changes a lot?"),
        formula=(
            r"\textstyle\prod_{\s{t}} \s{P}(\s{x_t} \mid \ldots),\quad "
            r"\exp\Bigl(-\tfrac{1}{\s{T}}\sum_{\s{t}} \log \s{P}(\s{x_t} \mid \ldots)\Bigr)"
        ),
        options={
            "both": N_("likelihood and perplexity"),
            "likelihood": N_("only the likelihood"),
            "perplexity": N_("only the perplexity"),
        },
        dial=N_("characters"),
        rows={
            "characters": N_("characters"),
            "log10.1": N_("log₁₀ of the likelihood"),
            "log10.2": N_("… for twice as many characters"),
            "perplexity.1": N_("perplexity"),
            "perplexity.2": N_("… for twice as many"),
        },
        reason=N_(
            "Every further character multiplies the likelihood by its probability; "
            "perplexity is a mean per character."
        ),
    ),
    "concatenated": Words(
        question=N_(
            "Input and state side by side, times both weight matrices one above the other. That gives"
        ),
        formula=(
            r"[\s{X_t},\ \s{H_t-1}]\ "
            r"\bigl[\begin{smallmatrix}\s{W_xh}\\ \s{W_hh}\end{smallmatrix}\bigr]"
        ),
        options={"sum": N_("the sum of the two separate products"), "other": N_("something else")},
        dial=N_("hidden units"),
        rows={
            "left": "[X, H]",
            "right": "[W_xh; W_hh]",
            "difference": N_("largest difference of the results"),
        },
        reason=N_("A row times a column adds up the input's part and the state's part: the same sum."),
    ),
    "forgets": Words(
        question=N_("Two texts end in the same character. Whose prediction is the same after both?"),
        formula=r"\s{H} = \s{phi}(\s{X}\s{W_xh} + \s{b_h})",
        options={
            "differ": N_("neither MLP nor RNN"),
            "same": N_("MLP and RNN"),
            "same.rnn": N_("the MLP, but not the RNN"),
        },
        dial=N_("texts"),
        rows={
            "one": N_("first text"),
            "other": N_("second text"),
            "mlp": N_("{cell}: difference of the predictions, 0 to 1"),
            "rnn": N_("{cell}: difference of the predictions, 0 to 1"),
            "lstm": N_("{cell}: difference of the predictions, 0 to 1"),
        },
        reason=N_("An MLP's only input is the last character. An RNN brings along what it has read."),
        bars=frozenset({"mlp", "rnn", "lstm"}),
    ),
    "hundredth": Words(
        question=N_(
            "Every step back multiplies the gradient by 0.9. After how many is it below a hundredth?"
        ),
        formula=r"\s{rho}^{\s{k}} < \tfrac{1}{100}",
        options={"10": N_("about 10"), "44": N_("about 44"), "200": N_("about 200")},
        dial=N_("factor of a step"),
        rows={
            "radius": N_("factor of a step"),
            "steps": N_("steps until it is below 0.01"),
            "power": N_("what is left then"),
        },
        reason=N_("0.9 to the 44th is 0.0097: what happened a sentence ago can hardly be learned."),
    ),
    "clipped": Words(
        question=N_("The gradient is (3, 4) and it is clipped to norm 1. What is left?"),
        formula=r"\s{g} \leftarrow \min\bigl(1, \tfrac{\s{theta}}{\lVert\s{g}\rVert}\bigr)\,\s{g}",
        options={"each": "(1, 1)", "direction": "(0.6, 0.8)", "zero": "(0, 0)"},
        dial=N_("threshold"),
        rows={"threshold": N_("threshold"), "clipped": N_("clipped gradient"), "norm": N_("its norm")},
        reason=N_("The whole arrow is shortened by one factor, 1/5 at θ = 1, so it points where it did."),
    ),
    "mean": Words(
        question=N_(
            "Truncation at random places, with weights that make up for it. On average the estimate is"
        ),
        formula=r"\s{E}[\s{xi_t}] = \s{pi} \cdot \tfrac{1}{\s{pi}} + (1 - \s{pi}) \cdot 0",
        options={
            "smaller": N_("smaller than the full gradient"),
            "equal": N_("equal to the full gradient"),
            "larger": N_("larger than the full gradient"),
        },
        dial=N_("probability of going on"),
        rows={
            "full": N_("full gradient"),
            "mean": N_("mean of 10,000 draws"),
            "error": N_("standard error"),
            "cut3": N_("regular cut after 3 steps"),
        },
        reason=N_("Going on has probability π and weight 1/π: each term counts once on average."),
    ),
    "print": Words(
        question=N_(
            "After 500 passes over 10,000 characters: which perplexity says what the model is worth?"
        ),
        formula=r"\exp\Bigl(-\tfrac{1}{\s{T}}\textstyle\sum_{\s{t}} \log \s{P}(\s{x_t} \mid \ldots)\Bigr)",
        options={
            "train": N_("that of the text it was trained on"),
            "held_out": N_("that of text it was not trained on"),
            "average": N_("the mean of both"),
        },
        dial=N_("passes"),
        rows={
            "passes": N_("passes"),
            "train": N_("training perplexity"),
            "held_out": N_("held-out perplexity"),
            "uniform": N_("a uniform guess"),
        },
        reason=N_(
            "Training perplexity only says that the text is known by heart. Held-out text is the test."
        ),
    ),
    **WRITING,
}
