"""`python -m rnnviz sketch`: give an older model file the sketch of its training text."""

from typing import Annotated

from rnnviz.cli.bind import Help
from rnnviz.errors import ConfigError


def sketch(
    model: Annotated[
        str, Help("a name that `rnnviz models` lists, or a file", metavar="MODEL", positional=True)
    ],
    *,
    corpus: Annotated[str, "the corpus's name, or the text file it was trained on"],
) -> None:
    """Store in a model file which text it was trained on, as hashes that hold no text."""
    from rnnviz.networks import checkpoint, modelfile
    from rnnviz.scoring import contamination
    from rnnviz.text import corpora

    path = checkpoint.find(model)
    card = checkpoint.read_info(path).card
    text = corpora.named_or_file(corpus)
    if card.get("sha256") != text.sha256:
        raise ConfigError(
            "{name} was trained on {title} (sha256 {expected}…), and {corpus} is another text "
            "(sha256 {sha256}…); give the text it was trained on",
            name=path.name,
            title=card.get("title") or card.get("corpus") or "an unnamed text",
            expected=str(card.get("sha256"))[:12],
            corpus=corpus,
            sha256=text.sha256[:12],
        )
    split = text.split()
    # A text too short to be split is all training, whatever the card calls it.
    read = split.train if card.get("trained_on") == "first 85 %" else split.train + split.validation
    made = contamination.sketch(read)
    modelfile.rewrite(path, path, sketch=made)
    print(
        f"Wrote {path} ({path.stat().st_size:,} bytes): {len(made.hashes):,} hashes, "
        f"one n-gram in {made.modulus:,}"
    )
