"""The permissions of a hosted app's visitors, within limits.py. The lecturer may do everything; so may every
user of an app that isn't hosted.

A page asks before it shows a control, and the control's action asks again (`insist`): a browser can send the
message of a button that the page has not shown.
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
    """Raise ConfigError unless `answer`, the answer to one of the questions below, is True."""
    if not answer:
        raise ConfigError("only the lecturer may do that here")


def to_see(run: Run) -> bool:
    """Whether this person may look at a run: at the own ones, and at the lecturer's."""
    return not run.owner or to_change(run)


def to_change(run: Run) -> bool:
    """Whether this person may stop and delete a run."""
    who = user.current()
    return who.lecturer or (who != user.NOBODY and run.owner == who.id)


# Actions of the lecturer alone. Each has a name, so that a control and its action ask the same question.
to_resume = everything  # continue a run: a visitor's would pass its two minutes
to_keep = everything  # save a run's model among the models
to_bring = everything  # add a model from a file
to_set_limit = everything  # set how many runs train at a time
to_measure = everything  # measure a recipe's speed before it starts
to_download = everything  # download files: models, figures, tables
to_fetch = everything  # make the server download a corpus
to_ask_the_room = everything  # open a page for the class's phones
# Index a long text, which takes hundreds of megabytes. Everybody may search an index that exists already.
to_index = everything


def to_read(bytes: int) -> bool:
    """Whether this person may submit a text of so many bytes."""
    return everything() or bytes <= text_bytes()


def to_unpack(name: str) -> bool:
    """Whether this person may submit a file of this name: a compressed one holds more than its size shows."""
    return everything() or not (packing(name) or name.lower().endswith(".parquet"))


def to_score(files: int) -> bool:
    """Whether this person may score so many files at a time."""
    return everything() or files <= limits.FILES


def whose() -> str:
    """The id that marks this person's runs and jobs in all their sessions; "" for the lecturer."""
    who = user.current()
    return "" if who.lecturer or who == user.NOBODY else who.id


def text_bytes() -> int:
    """Bytes of a visitor's text, at most."""
    return environment.megabytes() * 1_000_000


def held_bytes() -> int:
    """Bytes of all uploads of a visitor's session, at most: the files in use, and as many again."""
    return 2 * limits.FILES * text_bytes()


def megabytes() -> int | None:
    """Megabytes of the largest upload, for a field; None for the server's own limit."""
    return None if everything() else environment.megabytes()


def most(setting: str, otherwise: int) -> int:
    """The largest value of a recipe's setting: a visitor's limit if there is one, else `otherwise`."""
    return otherwise if everything() else limits.SIZES.get(setting, otherwise)


def minutes(otherwise: float) -> float:
    """Minutes of the longest training that this person can plan: a visitor's limit, else `otherwise`."""
    return otherwise if everything() else limits.MINUTES


def their_run(description: Description) -> Description:
    """A run as this person may start it: a visitor's has its owner, one thread and a time limit.

    Raises ConfigError for a run beyond the limits, and for a person without an id.
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
