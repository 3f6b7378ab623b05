"""`python -m rnnviz sketch`: give an older model file the sketch of its training text."""

import argparse
from typing import Any

from rnnviz.cli.output import command
from rnnviz.errors import ConfigError


def add_parser(commands: Any) -> None:
    """Add the `sketch` command."""
    about = "Store in a model file which text it was trained on, as hashes that hold no text"
    parser = command(commands, "sketch", main, about)
    parser.add_argument("model", metavar="MODEL", help="a name that `rnnviz models` lists, or a file")
    parser.add_argument(
        "--corpus", required=True, help="the corpus's name, or the text file it was trained on"
    )


def main(args: argparse.Namespace) -> int:
    """Run `sketch`; returns the exit status. Raises ConfigError if the card names another text."""
    from rnnviz.networks import checkpoint, modelfile
    from rnnviz.reports import contamination
    from rnnviz.text import corpora

    path = checkpoint.find(args.model)
    card = checkpoint.read_info(path).card
    corpus = corpora.open_corpus(args.corpus)
    if card.get("sha256") != corpus.sha256:
        raise ConfigError(
            "{name} was trained on {title} (sha256 {expected}…), and {corpus} is another text "
            "(sha256 {sha256}…); give the text it was trained on",
            name=path.name,
            title=card.get("title") or card.get("corpus") or "an unnamed text",
            expected=str(card.get("sha256"))[:12],
            corpus=args.corpus,
            sha256=corpus.sha256[:12],
        )
    split = corpus.split()
    # A text too short to be split is all training, whatever the card calls it.
    text = split.train if card.get("trained_on") == "first 85 %" else split.train + split.validation
    sketch = contamination.sketch(text)
    modelfile.rewrite(path, path, sketch=sketch)
    print(
        f"Wrote {path} ({path.stat().st_size:,} bytes): {len(sketch.hashes):,} hashes, "
        f"one n-gram in {sketch.modulus:,}"
    )
    return 0
