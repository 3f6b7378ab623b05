"""Scene 1's cells: the size of a table of n-grams, how much of it a text fills, what reading then costs."""

from __future__ import annotations

from collections import Counter

from rnnviz.lecture import counts
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


def book(ngram: NgramModel, rnn: NumpyModel) -> Cell:
    """The n-grams that occur in a book, beside a network's parameters."""
    V = ngram.vocabulary.size
    code = """
        import rnnviz

        ngram = rnnviz.load("$ngram")
        rnn = rnnviz.load("$rnn")

        V = ngram.vocabulary.size
        for n, seen in enumerate(ngram.seen, start=2):
            print(f"{n}: {seen:,} of {V**n:,}")

        print(f"{rnn.parameter_count:,} parameters")
    """
    printed = [f"{n}: {seen:,} of {V**n:,}" for n, seen in enumerate(ngram.seen, start=2)]
    printed.append(f"{rnn.parameter_count:,} parameters")
    return cell(code, printed, ngram=ngram.name, rnn=rnn.name)


def surprise(text: str, looks: int, models: dict[str, Model]) -> Cell:
    """Bits per character of several models on a text; the n-gram model's n is `looks`."""
    ngram = next(model for model in models.values() if isinstance(model, NgramModel))
    code = """
        import rnnviz

        text = $text
        ngram = rnnviz.load("$ngram")
        models = {
            "mlp": rnnviz.load("$mlp"),
            "$looks-gram": ngram.shortened($looks),
            "rnn": rnnviz.load("$rnn"),
            "gru": rnnviz.load("$gru"),
        }
        for name, model in models.items():
            found = rnnviz.perplexity(model, text=text)
            bits = found.bits_per_character
            print(f"{name}: {bits:.2f} bits")
    """
    said = {kind: f"{looks}-gram" if kind == "ngram" else kind for kind in models}
    printed = [f"{said[kind]}: {counts.bits(model, text).mean():.2f} bits" for kind, model in models.items()]
    names = {kind: model.name for kind, model in models.items()}
    return cell(code, printed, text=repr(text), looks=looks, **{**names, "ngram": ngram.name})
