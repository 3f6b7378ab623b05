"""What a visitor of a hosted app may do, and how much of it. The lecturer may do everything, and so may
everybody where the app isn't hosted.

A page asks before it shows a control, and what the control does asks again (`insist`): a browser can send the
message of a button that it was not shown.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rnnviz.errors import ConfigError
from rnnviz.text import corpora
from rnnviz.text.packed import packing
from rnnviz.ui.hosting import person, setting

if TYPE_CHECKING:
    from rnnviz.runs.api import Run
    from rnnviz.runs.folder import Description

MEGABYTES = setting.LARGEST
BYTES = MEGABYTES * 1_000_000
"""Of all texts that a visitor has scored at a time, and of a corpus to train on."""

FILES = 5
"""Files that a visitor has scored at a time."""

JOBS = 100
"""Jobs of a visitor that wait or run at a time on one page."""

SECONDS = 120.0
"""How long a visitor's run may take, from its turn on; its own process ends it then."""

MINUTES = 1.5
"""Of training that a visitor can plan, so that there is time left to measure what was learnt."""

PRESETS = ("toy", "one-minute", "one-minute-mingru")
"""The training times that a visitor is offered."""

SIZES = {"hidden_size": 512, "layers": 2, "embedding_size": 128, "steps": 64, "batch": 32}
"""The largest network and steps of a visitor's run: a one-minute preset's, and a little more."""

RUNS = 30
"""Visitors' runs that train and wait at a time: one that waits takes 20 MB."""

HELD_FILES, HELD_BYTES = 10, 2 * BYTES
"""Uploads of one visitor's session that the server holds, whether a page uses them or not."""

ALL_BYTES = 100 * BYTES
"""Of all visitors' uploads together."""


def everything() -> bool:
    """Whether this person is the lecturer, or the app isn't hosted."""
    return person.current().lecturer


def insist(answer: bool) -> None:
    """Go on only if the `answer` to one of the questions below is yes. Raises ConfigError."""
    if not answer:
        raise ConfigError("only the lecturer may do that here")


def to_see(run: Run) -> bool:
    """Whether this person may look at a run: a visitor's own, and all of the lecturer's."""
    return not run.owner or to_change(run)


def to_change(run: Run) -> bool:
    """Whether this person may stop and delete a run."""
    who = person.current()
    return who.lecturer or (who != person.NOBODY and run.owner == who.id)


def to_resume() -> bool:
    """Whether this person may let a run go on: a visitor's two minutes are over."""
    return everything()


def to_keep() -> bool:
    """Whether this person may save a run's model among the models."""
    return everything()


def to_bring() -> bool:
    """Whether this person may add a model from a file."""
    return everything()


def to_set_limit() -> bool:
    """Whether this person says how many runs train at a time."""
    return everything()


def to_measure() -> bool:
    """Whether this person may have the speed of a recipe tried before it starts."""
    return everything()


def to_download() -> bool:
    """Whether this person may take files away: models, figures, tables."""
    return everything()


def to_fetch() -> bool:
    """Whether this person may have the server download a corpus."""
    return everything()


def to_ask_the_room() -> bool:
    """Whether this person may open a page for the class's phones."""
    return everything()


def to_index() -> bool:
    """Whether this person may have a long text indexed, which takes hundreds of megabytes; what is indexed
    already, anybody may search.
    """
    return everything()


def to_read(bytes: int) -> bool:
    """Whether this person may have a text of that size read."""
    return everything() or bytes <= text_bytes()


def to_unpack(name: str) -> bool:
    """Whether this person may have a file of this name read, if it is packed: it holds more than its size."""
    return everything() or not (packing(name) or name.lower().endswith(".parquet"))


def to_score(files: int, bytes: int) -> bool:
    """Whether this person may have so many files scored at a time, with so many bytes together."""
    return everything() or (files <= FILES and bytes <= BYTES)


def jobs() -> int | None:
    """How many jobs of this person may wait or run at a time on a page; None for as many as they like."""
    return None if everything() else JOBS


def whose() -> str:
    """What tells this person's things from others' in all their sessions; "" for the lecturer."""
    who = person.current()
    return "" if who.lecturer or who == person.NOBODY else who.id


def text_bytes() -> int:
    """Of one text of a visitor, at most."""
    return setting.megabytes() * 1_000_000


def megabytes() -> int | None:
    """The largest upload, for a field; None for what the server takes."""
    return None if everything() else setting.megabytes()


def most(setting: str, otherwise: int) -> int:
    """The largest value of a recipe's setting."""
    return otherwise if everything() else SIZES.get(setting, otherwise)


def minutes(otherwise: float) -> float:
    """The longest training that can be planned."""
    return otherwise if everything() else MINUTES


def presets(fitting: list[str]) -> list[str]:
    """Those of the training times that fit a text which are offered, one at least."""
    return fitting if everything() else [key for key in fitting if key in PRESETS] or fitting[:1]


def their_run(description: Description) -> Description:
    """A run as this person may start it: a visitor's is theirs, takes one thread, and is ended by its own
    process. Raises ConfigError for what is too large, or a person who can't be told from others.
    """
    who = person.current()
    if who.lecturer:
        return description
    insist(who != person.NOBODY)
    for name, largest in SIZES.items():
        if getattr(description.config, name) > largest:
            raise ConfigError(
                "a visitor's run has {name} up to {largest}; received {value}",
                name=name,
                largest=largest,
                value=getattr(description.config, name),
            )
    if (description.minutes or 0.0) > MINUTES:
        raise ConfigError(
            "a visitor's run trains for {most} minutes at most; received {minutes}",
            most=MINUTES,
            minutes=description.minutes,
        )
    if text := description.text:
        size, most = len(text.encode("utf-8", "replace")), text_bytes()
    else:
        size, most = corpora.describe(description.corpus).bytes, BYTES
    if size > most:
        raise ConfigError(
            "a visitor's run reads a text of {most} MB at most; received {size:.1f}",
            most=most // 1_000_000,
            size=size / 1e6,
        )
    return replace(description, owner=who.id, threads=1, device="cpu", longest=SECONDS)
