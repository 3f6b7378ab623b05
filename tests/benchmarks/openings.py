"""The text that Explore opens with: the candidate that a corpus's networks read best beside counting.

    python tests/benchmarks/openings.py [--corpora FOLDER] [--card]

For each candidate: the n-gram model's perplexity over that of the network that is worst at it (above 1: all
read it better than counting); the perplexities, counting's first; and the longest stretch that stands in the
corpus too, which both may know by heart. Networks without a memory are left out.

The text that EXAMPLES in rnnviz/runs/card.py has now is kept if that is at least ENOUGH; else the best one
that fits the screen and has no stretch above LONGEST is named. `--card` writes EXAMPLES into the cards.
A chosen sentence says nothing of other texts: that is what the cards' held-out perplexities are for.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rnnviz.errors import RnnvizError
from rnnviz.networks import checkpoint
from rnnviz.networks.modelfile import add_to_card
from rnnviz.reading.scoring import perplexity
from rnnviz.runs.card import EXAMPLES
from rnnviz.text import corpora

ENOUGH = 1.03
FITS = 95  # characters: a column each on a screen of 1440 pixels
LONGEST = 30

CANDIDATES = {
    "timemachine": (
        "The Time Traveller drew his chair to the fire, and for a long while nobody in the room",
        "The Time Traveller put his hand upon the lever, and for a moment nobody in the room spoke.",
        '"I do not understand it," said the Medical Man, and he looked at the machine with astonishment.',
        'I looked at the Time Traveller. "There is something the matter with the machine," he said at last.',
        'I looked at the Time Traveller. "There is something the matter with the machine," he said.',
        'I looked at the Psychologist, and the Psychologist looked at the Time Traveller. "Well?" he said.',
        "In another moment we were standing in the darkness, and I heard the Time Traveller laughing.",
        "And so it came to me that the little people of the Upper-world were afraid of the darkness.",
        "I could see nothing but the darkness and the stars, and I was horribly afraid of the silence.",
        '"It is the future," said the Time Traveller, "and there is no one in it to remember the past."',
        "I had a strange feeling that the machine was moving, and that the whole world was falling away.",
        "It was the sun that had changed; it was larger and redder, and it stood still in the sky.",
        "Suddenly I remembered the matches in my pocket, and I struck one, and the Morlocks ran away.",
        "Presently I noticed that the sun had stopped, and that the sea was as still as a great mirror.",
    ),
    "tinyshakespeare": (
        "KING RICHARD:\nWhat is the night, my lord? The morning",
        (
            "GLOUCESTER:\nMy lord, the king is dead; and with his breath\n"
            "The peace of England went to the grave."
        ),
        "DUKE VINCENTIO:\nIt is too late, my lord; the man is dead,\nAnd I must answer for it to the duke.",
    ),
    "python-source": (
        "def average(self, values):\n    if not values:\n        raise ValueError(",
        "def average(self, values):\n    return sum(values) / len(values)",
    ),
    "xiyouji": (
        "行者笑道：“师父莫怕！那妖精就在前面山",
        "行者笑道：“师父莫怕！那妖精就在前面山里，待老孙去看看。”三藏道：“悟空，你须仔细。”",
    ),
}


def networks(corpus: str) -> list[checkpoint.ModelInfo]:
    """The shipped networks of a corpus that remember what they read."""
    return [
        info
        for info in checkpoint.available()[0]
        if info.card.get("corpus") == corpus and info.kind not in ("ngram", "mlp")
    ]


def lead(corpus: str, text: str) -> tuple[float, list[float]]:
    """Counting's perplexity on `text` over the worst network's; and all of them, counting's first."""
    infos = networks(corpus)
    counted = perplexity(checkpoint.load_numpy(infos[0].card["ngram"]), text=text).perplexity
    read = [perplexity(checkpoint.load(info.path), text=text).perplexity for info in infos]
    return counted / max(read), [counted, *read]


def shared(text: str, corpus: str) -> int:
    """Characters of the longest stretch of `text` that stands in `corpus`."""
    longest = 0
    for start in range(len(text)):
        while start + longest < len(text) and text[start : start + longest + 1] in corpus:
            longest += 1
    return longest


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", type=Path, help="a folder with corpora that are not fetched by name")
    parser.add_argument("--card", action="store_true", help="write EXAMPLES into the cards")
    options = parser.parse_args()
    for name, texts in CANDIDATES.items():
        file = options.corpora / f"{name}.txt" if options.corpora else None
        try:
            read = corpora.open_corpus(file if file and file.exists() else name).text
        except RnnvizError as error:
            print(f"{name}: {error}")
            continue
        rows = [(*lead(name, text), shared(text, read), text) for text in texts]
        for ahead, values, stretch, text in rows:
            figures = " ".join(f"{value:6.2f}" for value in values)
            print(f"{name:15} {ahead:.3f}  {figures}  shared {stretch:2}  {len(text):3}  {text!r}")
        fit = [row for row in rows if len(row[3]) <= FITS and row[2] <= LONGEST]
        best = max(fit, key=lambda row: row[0])
        kept = next((row for row in rows if row[3] == EXAMPLES[name] and row[0] >= ENOUGH), best)
        print(f"{name}: {kept[3]!r}")
        if options.card:
            for info in checkpoint.available()[0]:
                if info.card.get("corpus") == name and info.card.get("example") != EXAMPLES[name]:
                    add_to_card(info.path, {"example": EXAMPLES[name]})


if __name__ == "__main__":
    main()
