"""What a visitor of a hosted app may do, and how much of it, by limits.py. The lecturer may do everything, as
may everybody where the app isn't hosted.

A page asks before it shows a control, and what the control does asks again (`insist`): a browser can send the
message of a button that it was not shown.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rnnviz.errors import ConfigError
from rnnviz.text import corpora
from rnnviz.text.files import packing
from rnnviz.ui.hosting import environment, limits, user

if TYPE_CHECKING:
    from rnnviz.training.folder import Description
    from rnnviz.training.runs import Run


def everything() -> bool:
    """Whether this person is the lecturer, or the app isn't hosted."""
    return user.current().lecturer


def insist(answer: bool) -> None:
    """Go on only if the `answer` to one of the questions below is yes. Raises ConfigError."""
    if not answer:
        raise ConfigError("only the lecturer may do that here")


def to_see(run: Run) -> bool:
    """Whether this person may look at a run: a visitor's own, and all of the lecturer's."""
    return not run.owner or to_change(run)


def to_change(run: Run) -> bool:
    """Whether this person may stop and delete a run."""
    who = user.current()
    return who.lecturer or (who != user.NOBODY and run.owner == who.id)


# What the lecturer alone may do; a name each, so that a control and what it does ask the same question.
to_resume = everything  # let a run go on: a visitor's two minutes are over
to_keep = everything  # save a run's model among the models
to_bring = everything  # add a model from a file
to_set_limit = everything  # say how many runs train at a time
to_measure = everything  # have the speed of a recipe tried before it starts
to_download = everything  # take files away: models, figures, tables
to_fetch = everything  # have the server download a corpus
to_ask_the_room = everything  # open a page for the class's phones
# Have a long text indexed, which takes hundreds of megabytes; what is indexed already, anybody may search.
to_index = everything


def to_read(bytes: int) -> bool:
    """Whether this person may have a text of that size read."""
    return everything() or bytes <= text_bytes()


def to_unpack(name: str) -> bool:
    """Whether this person may have a file of this name read, if it is packed: it holds more than its size."""
    return everything() or not (packing(name) or name.lower().endswith(".parquet"))


def to_score(files: int) -> bool:
    """Whether this person may have so many files scored at a time."""
    return everything() or files <= limits.FILES


def whose() -> str:
    """What tells this person's things from others' in all their sessions; "" for the lecturer."""
    who = user.current()
    return "" if who.lecturer or who == user.NOBODY else who.id


def text_bytes() -> int:
    """Of one text of a visitor, at most."""
    return environment.megabytes() * 1_000_000


def held_bytes() -> int:
    """Of all uploads of one visitor's session: those that are scored, and as many again."""
    return 2 * limits.FILES * text_bytes()


def megabytes() -> int | None:
    """The largest upload, for a field; None for what the server takes."""
    return None if everything() else environment.megabytes()


def most(setting: str, otherwise: int) -> int:
    """The largest value of a recipe's setting."""
    return otherwise if everything() else limits.SIZES.get(setting, otherwise)


def minutes(otherwise: float) -> float:
    """The longest training that can be planned."""
    return otherwise if everything() else limits.MINUTES


def their_run(description: Description) -> Description:
    """A run as this person may start it: a visitor's is theirs, takes one thread, and is ended by its own
    process. Raises ConfigError for what is too large, or a person who can't be told from others.
    """
    who = user.current()
    if who.lecturer:
        return description
    insist(who != user.NOBODY)
    for name, largest in limits.SIZES.items():
        if getattr(description.config, name) > largest:
            raise ConfigError(
                "a visitor's run has {name} up to {largest}; received {value}",
                name=name,
                largest=largest,
                value=getattr(description.config, name),
            )
    if (description.minutes or 0.0) > limits.MINUTES:
        raise ConfigError(
            "a visitor's run trains for {most} minutes at most; received {minutes}",
            most=limits.MINUTES,
            minutes=description.minutes,
        )
    if text := description.text:
        size, most = len(text.encode("utf-8", "replace")), text_bytes()
    else:
        size, most = corpora.describe(description.corpus).bytes, limits.CORPUS
    if size > most:
        raise ConfigError(
            "a visitor's run reads a text of {most} MB at most; received {size:.1f}",
            most=most // 1_000_000,
            size=size / 1e6,
        )
    return replace(description, owner=who.id, threads=1, device="cpu", longest=limits.SECONDS)
