"""`python -m rnnviz dev COMMAND`: commands for maintainers of the shipped models and pages."""

from pathlib import Path
from typing import Annotated

from rnnviz.cli.bind import Help
from rnnviz.cli.output import complain
from rnnviz.errors import ConfigError
from rnnviz.networks import checkpoint, modelfile


def check_models(
    *,
    corpora: Annotated[
        Path | None, Help("text files beside the corpora known by name", metavar="DIR")
    ] = None,
) -> int:
    """Compute the figures of the models' cards again; exit status 1 if one differs."""
    from rnnviz.lab.run import card_check

    infos, damaged = checkpoint.available()
    differs = False
    for result in card_check.check(infos, corpora):
        if isinstance(result, str):
            complain(result)
            continue
        differs = differs or not result.same
        computed = "" if result.same else f" in the card, computed {result.computed}"
        print(f"{result.model} {result.name}: {result.recorded}{computed}")
    for file in damaged:
        complain(file.reason)
    return int(differs)


def sketch(
    model: Annotated[
        str, Help("a name that `rnnviz models` lists, or a file", metavar="MODEL", positional=True)
    ],
    *,
    corpus: Annotated[str, "the corpus's name, or the text file it was trained on"],
) -> None:
    """Store in a model file which text it was trained on, as hashes that hold no text."""
    from rnnviz.networks import contamination
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
    # A text too short to be split is training text throughout, whatever the card says.
    read = split.train if card.get("trained_on") == "first 85 %" else split.train + split.validation
    sketch_hashes = contamination.sketch(read)
    modelfile.rewrite(path, path, sketch=sketch_hashes)
    print(
        f"Wrote {path} ({path.stat().st_size:,} bytes): {len(sketch_hashes.hashes):,} hashes, "
        f"one n-gram in {sketch_hashes.modulus:,}"
    )
