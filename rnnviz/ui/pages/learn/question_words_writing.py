"""The words of scene 8's last questions: what goes wrong when a model writes."""

from rnnviz.i18n import N_
from rnnviz.ui.pages.learn.question import Words

WRITING = {
    "temperature": Words(
        question=N_("The LSTM draws its characters at a low, then at a high temperature. What goes wrong?"),
        formula=(
            r"\s{P}(\s{x_t+1} \mid \s{x_t}, \ldots, \s{x_1})^{1/\s{temperature}}\, /\, "
            r"\textstyle\sum_{\s{x}} \s{P}(\s{x} \mid \s{x_t}, \ldots, \s{x_1})^{1/\s{temperature}}"
        ),
        options={
            "invents": N_("low: makes up words; high: repeats itself"),
            "repeats": N_("low: repeats itself; high: makes up words"),
            "nothing": N_("nothing: both read like the book"),
        },
        dial=N_("temperature"),
        rows={"written": N_("it writes")},
        columns=N_("temperature"),
        table={
            "repeated": N_("ten characters that it wrote before"),
            "made_up": N_("words that its training text doesn't have"),
        },
        shares=frozenset({"repeated", "made_up"}),
        measured=N_("20 × 400 characters; book: a part not trained on; errors up to {error}"),
        reason=N_(
            "A low temperature sharpens the probabilities until one path is left. "
            "A high one gives every misspelling its chance."
        ),
    ),
    "beams": Words(
        question=N_(
            "Beam search keeps several texts and looks for the likeliest whole text. What it finds is"
        ),
        formula=(
            r"\s{argmax}_{\s{x_1}, \ldots, \s{x_T}}\ \textstyle\prod_{\s{t}} "
            r"\s{P}(\s{x_t} \mid \s{x_t-1}, \ldots, \s{x_1})"
        ),
        options={
            "better": N_("likelier, and closer to the book"),
            "dull": N_("likelier, and it repeats itself"),
            "less": N_("less likely than character by character"),
        },
        dial=N_("texts kept"),
        rows={"written": N_("it writes")},
        columns=N_("texts kept"),
        table={
            "nats": N_("log P of a character, nats"),
            "repeated": N_("ten characters that it wrote before"),
        },
        shares=frozenset({"repeated"}),
        measured=N_("20 beginnings, 150 characters each; standard errors up to {error}"),
        reason=N_(
            "Every wider search found likelier texts, all likelier than the book: "
            "what is most probable repeats itself."
        ),
    ),
    "own_input": Words(
        question=N_(
            "Reading the book, the LSTM guesses 6 of 10 next characters. "
            "Now it reads its own guesses. After the first ten, how many are still the book's?"
        ),
        formula=r"\s{x_t+1} = \s{argmax}_{\s{x}}\ \s{P}(\s{x} \mid \s{x_t}, \ldots, \s{x_1})",
        options={
            "six": N_("still about 6 of 10"),
            "three": N_("about 3 of 10"),
            "accident": N_("hardly more than by accident"),
        },
        dial=N_("model"),
        rows={},
        columns=N_("characters written"),
        table={
            "forced": N_("reads the book: guesses right"),
            "free": N_("reads its own guesses: still the book's"),
            "by_accident": N_("alike by accident"),
            "own": N_("another model's perplexity: what it draws"),
            "book": N_("another model's perplexity: the book"),
        },
        shares=frozenset({"forced", "free", "by_accident"}),
        measured=N_("100 beginnings; standard errors up to {error}"),
        reason=N_(
            "After a wrong character it reads another text than the book's, and nothing leads it back. "
            "What it draws doesn't get worse with length, though."
        ),
    ),
    "far": Words(
        question=N_(
            "The LSTM has read a thousand characters. How many of the last ones does its prediction need?"
        ),
        formula=r"\s{P}(\s{x_t} \mid \s{x_t-1}, \ldots, \s{x_t-k}) \approx \s{P}(\s{x_t} \mid \s{h_t-1})",
        options={
            "3": N_("about 3"),
            "10": N_("about 10"),
            "100": N_("about 100"),
        },
        dial=N_("model"),
        rows={},
        columns=N_("characters that are read"),
        table={
            "perplexity": N_("perplexity of the next character"),
            "lost": N_("more than with all"),
            "error": N_("standard error of that"),
        },
        shares=frozenset({"lost", "error"}),
        measured=N_("600 places of the book"),
        reason=N_(
            "To know what stands further back hardly lowers its perplexity. "
            "A thread over many sentences can't rest on so few characters."
        ),
    ),
}
