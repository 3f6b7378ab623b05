"""Scene 6's last step: Shannon's game. Its sentences are English in every language: 27 symbols can be guessed
by a class, thousands of Chinese characters can't.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

from rnnviz.i18n import _
from rnnviz.lecture import shannon
from rnnviz.lecture import votes as class_votes
from rnnviz.lecture.controls import Control, Controls, State, text, whole
from rnnviz.ui.pages.learn import examples, models
from rnnviz.ui.room.room import Counts, Question

KEYS = "abcdefghijklmnopqrstuvwxyz "
"""What a phone can answer, in this order."""

PLAYERS = ("6gram", "gru", "lstm")
GUESSES = 330
"""Characters of a game's history: the address must hold them."""


def _sentence(value: object) -> int | None:
    """A sentence's number: addresses count from 1."""
    count = len(shannon.SENTENCES)
    first = 1 if isinstance(value, str) else 0
    found: int | None = whole(first, first + count - 1)(value)
    return None if found is None else found - first


def controls(step: int) -> Controls:
    """The controls of the step that bears this number."""
    return (
        Control("sentence", _sentence, 0, steps=[step], written=lambda n: str(n + 1), resets=("history",)),
        Control("history", text(GUESSES), "", address="guesses", steps=[step]),
    )


def picture(state: State) -> dict[str, Any]:
    """The game so far, and the models at the same game."""
    game = shannon.play(state["sentence"], state["history"])
    found = len(game.ranks)
    begin = len(shannon.SENTENCES[state["sentence"]][0])
    players = []
    for kind in PLAYERS if found else ():
        played = shannon.played(_expected(kind, state["sentence"]), state["sentence"], found)
        players.append({"kind": kind, "bits": played.bits, "bounds": _bounded(played.ranks)})
    return {
        "sentence": state["sentence"],
        "sentences": len(shannon.SENTENCES),
        "given": game.shown[:begin],
        "shown": game.shown[begin:],
        "left": game.left,
        "tried": game.tried,
        "history": state["history"],
        "limit": GUESSES,
        "ranks": [sum(r == n for r in game.ranks) for n in range(1, 6)] + [sum(r > 5 for r in game.ranks)],
        "found": found,
        "class": _bounded(game.ranks),
        "least": shannon.LEAST,
        "models": players,
        "uniform": shannon.UNIFORM_BITS,
        "words": {
            **examples.kind_names(),
            "guess": _("next letter"),
            "space": _("space"),
            "pass": _("Give up"),
            "other": _("Another sentence"),
            "ranks": _("letters found at guess i"),
            "share": _("share of the letters"),
            "class": _("the class"),
            "blind": _("uniform guess"),
            "bits": _("bits per character"),
            "few": _(
                "Bounds of F, a letter's entropy given all before, appear after {least} letters; {n} so far."
            ),
            "begin": _("Say the next letter. Guess until it is right."),
            "room.prompt": _("Which letter comes next? Answer on your phone."),
            "room.letter": _("this letter"),
            "room.mean": _("mean of {n}"),
            "room.note": _(
                "Class: the share of {n} votes and one more, split evenly. A vote names one letter, "
                "not how likely it is: where all agree, the class looks surer than it may be."
            ),
            "exact": _(
                "After {n} letters. Bar: bounds of F, a letter's entropy given all before; "
                "line: 95 % interval; dot: what the model pays here."
            ),
        },
    }


def asked(state: State) -> Question | None:
    """Which letter comes next, for the room; None where the sentence is over."""
    sentence = state["sentence"]
    game = shannon.play(sentence, state["history"])
    if not game.left:
        return None
    at = len(game.ranks)
    return Question(
        f"shannon.{sentence}.{at}",
        _("Which letter comes next? “{text}_”").format(text=game.shown),
        tuple(KEYS),
        letters=True,
        right=KEYS.index(shannon.SENTENCES[sentence][1][at]),
        told=lambda counts: told(sentence, at, counts),
    )


def told(sentence: int, at: int, counts: Counts) -> dict[str, Any]:
    """What a revealed letter shows: the class's distribution beside the models', in the order of KEYS, and
    what each pays for this letter and for all letters of the sentence that the class has voted on so far.
    """
    keys = {n: f"shannon.{sentence}.{n}" for n in range(at + 1)}
    votes = {n: _by_alphabet(counts[key]) for n, key in keys.items() if key in counts}
    guessed = class_votes.guessed(sentence, votes)
    own = class_votes.distribution(votes[at])
    rows = [{"kind": "class", "p": _by_keys(own), "bits": guessed.bits[-1], "mean": guessed.mean}]
    truth = [shannon.ALPHABET.index(c) for c in shannon.SENTENCES[sentence][1]]
    for kind in PLAYERS:
        expected = _expected(kind, sentence)  # (n, 27)
        bits = [-math.log2(expected[n, truth[n]]) for n in guessed.positions]
        rows.append(
            {"kind": kind, "p": _by_keys(expected[at]), "bits": bits[-1], "mean": sum(bits) / len(bits)}
        )
    return {
        "truth": shannon.SENTENCES[sentence][1][at],
        "rows": rows,
        "letters": len(guessed.positions),
        "moves": class_votes.as_guesses(sentence, at, votes[at]),
    }


def _by_alphabet(counts: Sequence[int]) -> list[int]:
    return [counts[KEYS.index(c)] for c in shannon.ALPHABET]


def _by_keys(p: Any) -> list[float]:
    return [round(float(p[shannon.ALPHABET.index(c)]), 5) for c in KEYS]


def _bounded(ranks: tuple[int, ...]) -> dict[str, Any] | None:
    """The bounds from a game's ranks with their interval; None while there are too few."""
    if len(ranks) < shannon.LEAST:
        return None
    bounds = shannon.bounds(ranks)
    return {"lower": bounds.lower, "upper": bounds.upper, "interval": shannon.interval(ranks)}


@cache
def _expected(kind: str, sentence: int) -> Any:
    """`shannon.probabilities`, cached: a guess must not cost the models' reading again."""
    return shannon.probabilities(models.load(f"timemachine-{kind}"), sentence)
