"""Scene 1's cells: the size of a table of n-grams, how much of it a text fills, what reading then costs."""

from collections import Counter
from collections.abc import Sequence

from rnnviz.lecture import counts, states
from rnnviz.lecture.prediction import expected
from rnnviz.lecture.snippets.cell import Cell, cell
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import Model, NumpyModel


def grows(text: str, n: int, symbols: int) -> Cell:
    """The table's size beside the n-grams of a text.

    >>> print(grows("banana", n=2, symbols=69).printed, end="")
    4,761 entries in the table
    3 of them in this text
    [('an', 2), ('na', 2)]
    """
    grams = Counter(text[i : i + n] for i in range(len(text) - n + 1))
    code = """
        from collections import Counter

        text = $text
        V = $symbols  # symbols in the vocabulary
        n = $n

        places = range(len(text) - n + 1)
        grams = Counter(text[i : i + n] for i in places)

        print(f"{V**n:,} entries in the table")
        print(len(grams), "of them in this text")
        print(grams.most_common(2))
    """
    printed = [
        f"{counts.table_size(symbols, n):,} entries in the table",
        f"{len(grams)} of them in this text",
        str(grams.most_common(2)),
    ]
    return cell(code, printed, text=repr(text), symbols=symbols, n=n)


_READ = """
import rnnviz

book = rnnviz.corpora.read("$book").split()
read = book.train + book.validation
last = book.held_out
"""


def book(n: int, symbols: int) -> Cell:
    """How many contexts of the book's last tenth are new, `n` characters together.

    >>> print(book(3, symbols=69).printed, end="")
    328,509 entries in the table
    34 of 17,898 contexts are new
    """
    code = (
        _READ
        + """
V, n = $symbols, $n
places = range(len(read))
known = {read[i : i + n - 1] for i in places}

text, T = read + last, len(last)
new = sum(
    text[t - n + 1 : t] not in known
    for t in range(len(read), len(text))
)
print(f"{V**n:,} entries in the table")
print(f"{new:,} of {T:,} contexts are new")
"""
    )
    printed = [
        f"{counts.table_size(symbols, n):,} entries in the table",
        f"{counts.NEVER[n - 1]:,} of {counts.HELD_OUT:,} contexts are new",
    ]
    return cell(code, printed, book=counts.BOOK, symbols=symbols, n=n)


def seen(ngram: NgramModel, n: int) -> Cell:
    """How many n-grams of a book a model has counted, beside the table of all."""
    V = ngram.vocabulary.size
    code = """
        import rnnviz

        ngram = rnnviz.load("$model")
        V, n = ngram.vocabulary.size, $n
        seen = [V, *ngram.seen]  # by n, from 1

        print(f"{V**n:,} entries in the table")
        print(f"{seen[n - 1]:,} of them in the book")
    """
    printed = [
        f"{counts.table_size(V, n):,} entries in the table",
        f"{[V, *ngram.seen][n - 1]:,} of them in the book",
    ]
    return cell(code, printed, model=ngram.name, n=n)


def surprise(text: str, models: Sequence[Model]) -> Cell:
    """Bits per character of models on a text."""
    code = """
        import rnnviz

        text = $text
        models = {
        $models}
        for name, model in models.items():
            found = rnnviz.perplexity(model, text=text)
            bits = found.bits_per_character
            print(f"{name}: {bits:.2f} bits")
    """
    lines, printed = [], []
    for model in models:
        if isinstance(model, NgramModel):
            name, shorter = f"{model.order}-gram", f"\n    .shortened({model.order})"
        else:
            name, shorter = model.config.cell, ""
        lines.append(f"    {name!r}: rnnviz.load({model.name!r}){shorter},\n")
        printed.append(f"{name}: {counts.bits(model, text).mean():.2f} bits")
    return cell(code, printed, text=repr(text), models="".join(lines))


def rules(text: str, t: int, read: str) -> Cell:
    """The state by two rules f, and what follows it in a book."""
    code = (
        _READ
        + """
from collections import Counter

text, t = $text, $t
rules = {
    "store everything": lambda h, x: h + x,
    "the last character": lambda h, x: x,
}
for name, f in rules.items():
    h = ""
    for x in text[:t]:
        h = f(h, x)
    next = Counter(
        read[i + len(h)]
        for i in range(len(read) - len(h))
        if read.startswith(h, i)
    )
    print(f"{name}: {h!r}, {next.total()} times")
    print(next.most_common(3))
"""
    )
    printed = []
    for name, h in (("store everything", text[:t]), ("the last character", text[t - 1])):
        found = states.followers(h, read)
        printed += [f"{name}: {h!r}, {found.total()} times", str(found.most_common(3))]
    return cell(code, printed, book=counts.BOOK, text=repr(text), t=t)


def apart(model: NumpyModel, first: str, second: str, t: int) -> Cell:
    """How far apart a network's predictions after `t` characters of two texts are."""
    code = """
        import numpy as np
        import rnnviz

        model = rnnviz.load("$model")
        one = rnnviz.trace(model, $first)
        other = rnnviz.trace(model, $second)

        t = $t
        p = np.exp(one.log_probs[t])
        q = np.exp(other.log_probs[t])
        print(f"{50 * abs(p - q).sum():.1f} %")
    """
    P, Q = (expected(model, line[:t])[0] for line in (first, second))
    printed = [f"{100 * float(states.total_variation(P, Q)):.1f} %"]
    return cell(code, printed, model=model.name, first=repr(first[:t]), second=repr(second[:t]), t=t)
