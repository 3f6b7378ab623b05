"""A room: one question at a time, an answer from each phone. All of it is in memory alone.

    stage    the lecturer's page: asks, reveals, asks again
    phone    answers, and may change its answer until the question closes

Every method may be called from any thread. Memory is bounded: PHONES answers to a question, KEPT questions.
"""

import asyncio
import contextlib
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from starlette.exceptions import HTTPException

PHONES = 1_000
"""Phones that a room holds, and answers that a question takes."""

KEPT = 128
"""Questions whose answers are kept; the least recently asked goes first."""

Counts = Mapping[str, Sequence[int]]
"""The answers for each option, by the keys of revealed questions."""


@dataclass(frozen=True)
class Question:
    """A question of a step of the lecture.

    key      its name in the lecture: a step that returns with the same key still has its answers
    text     the question, in the lecture's language
    options  the possible answers, at least two
    letters  whether the options are single characters, which a phone shows as a keyboard
    right    the index of the right option, shown with the answers; None for none
    over     whether the stage shows the answer already: no more answers are taken
    told     makes further entries for the stage from the counts of all revealed questions
    """

    key: str
    text: str
    options: tuple[str, ...]
    letters: bool = False
    right: int | None = None
    over: bool = False
    told: Callable[[Counts], dict[str, Any]] | None = None


class Refused(HTTPException):
    """A refused request: an HTTP status, and in its detail a word that the phone's page knows."""


@dataclass
class Poll:
    """A question and its answers so far. A question that is asked again has a new `number`."""

    number: int
    question: Question
    began: float = field(default_factory=time.time)  # Unix time of the question
    revealed: bool = False
    votes: dict[str, int] = field(default_factory=dict)  # the last answer, by phone

    @property
    def counts(self) -> list[int]:
        """The number of answers for each option."""
        chosen = Counter(self.votes.values())
        return [chosen[option] for option in range(len(self.question.options))]


class Broadcast:
    """A bell that wakes coroutines on any event loops, from any thread."""

    def __init__(self) -> None:
        self._waiting: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def heard(self) -> Iterator[asyncio.Event]:
        """An event of the running loop that each `ring` sets, while the context is open."""
        event = asyncio.Event()
        with self._lock:
            self._waiting[event] = asyncio.get_running_loop()
        try:
            yield event
        finally:
            with self._lock:
                del self._waiting[event]

    def ring(self) -> None:
        """Set every event, by one call for each loop: a class of 500 phones waits in one, and a step of the
        lecture rings.
        """
        with self._lock:
            loops = set(self._waiting.values())
        for loop in loops:
            with contextlib.suppress(RuntimeError):  # the loop is closed: its coroutine waits no more
                loop.call_soon_threadsafe(self._set, loop)

    def _set(self, here: asyncio.AbstractEventLoop) -> None:
        with self._lock:
            waiting = [event for event, loop in self._waiting.items() if loop is here]
        for event in waiting:
            event.set()


class Room:
    """A room; its phones show the `language`, "en" or "zh"."""

    def __init__(self, language: str = "en") -> None:
        self.language = language
        self.closed = False
        self.phones, self.stage = Broadcast(), Broadcast()
        """Bells that ring when the phones, or the stage, have something new to show."""
        self.edition = 0
        """A number that grows with each change of `shown`."""
        self._lock = threading.RLock()
        self._polls: OrderedDict[str, Poll] = OrderedDict()
        self._now: Poll | None = None
        self._asked = 0
        self._here: dict[str, object] = {}

    # ---- the stage ----

    def ask(self, question: Question | None) -> None:
        """Ask this question, or none; the one before takes no more answers."""
        with self._lock:
            if self.closed:
                return
            before = self._now, self._now and (self._now.question, self._now.revealed)
            self._now = None if question is None else self._found(question)
            now = self._now
            if now is not None and question is not None:
                now.question = question
                now.revealed = now.revealed or question.over
            changed = before != (now, now and (now.question, now.revealed))
        if changed:
            self._tell()

    def reveal(self, number: int) -> None:
        """Close question `number` and show its answers, if it is the current one."""
        with self._lock:
            if self._now is None or self._now.number != number or self._now.revealed:
                return
            self._now.revealed = True
        self._tell()

    def again(self, number: int) -> None:
        """Ask question `number` again without its answers, if it is the current one and not over."""
        with self._lock:
            now = self._now
            if now is None or now.number != number or now.question.over:
                return
            del self._polls[now.question.key]
            self._now = self._found(now.question)
        self._tell()

    def speak(self, language: str) -> None:
        """Change the room's language."""
        if language != self.language:
            self.language = language
            self._tell()

    def close(self) -> None:
        """Close the room: it takes no more answers, and phones and stage show that."""
        with self._lock:
            self.closed = True
            self._polls.clear()
            self._now = None
        self._tell()

    def shown(self) -> dict[str, Any]:
        """The stage's state as JSON, counts included; the stage shows them once they are revealed.

        "answered" counts the phones that are here and have answered, "votes" the answers, also of phones
        that have gone: they lock their screens.
        """
        with self._lock:
            found: dict[str, Any] = {
                "edition": self.edition,
                "phones": len(self._here),
                "revealed": sum(poll.revealed for poll in self._polls.values()),
                "question": None,
            }
            now = self._now
            if now is None:
                return found
            question = now.question
            found["question"] = {
                "number": now.number,
                "key": question.key,
                "text": question.text,
                "options": question.options,
                "answered": len(now.votes.keys() & self._here.keys()),
                "votes": len(now.votes),
                "counts": now.counts,
                "revealed": now.revealed,
                "over": question.over,
            }
            counts = self._revealed() if now.revealed else {}
        if counts and question.told is not None:
            found["question"]["told"] = question.told(counts)
        return found

    def table(self) -> list[dict[str, Any]]:
        """The answers to all revealed questions, a row an option: question, option, count and the UTC time
        at which it was asked. No row is of one phone.
        """
        with self._lock:
            polls = [poll for poll in self._polls.values() if poll.revealed]
            return [
                {
                    "question": poll.question.text,
                    "option": option,
                    "count": count,
                    "time": datetime.fromtimestamp(poll.began, UTC).isoformat(timespec="seconds"),
                }
                for poll in sorted(polls, key=lambda poll: poll.began)
                for option, count in zip(poll.question.options, poll.counts, strict=True)
            ]

    # ---- phones ----

    def come(self, phone: str, place: object) -> None:
        """Add a phone at `place`, its stream; a stream that it had before is replaced.

        Raises Refused (503) if the room is full.
        """
        with self._lock:
            if phone not in self._here and len(self._here) >= PHONES:
                raise Refused(503, "full")
            elsewhere = phone in self._here
            self._here[phone] = place
        if elsewhere:
            self.phones.ring()
        self._count()

    def is_at(self, phone: str, place: object) -> bool:
        """Whether `place` is the phone's newest stream."""
        return self._here.get(phone) is place

    def go(self, phone: str, place: object) -> None:
        """Remove a phone whose newest stream, `place`, has ended; its answers stay."""
        with self._lock:
            if not self.is_at(phone, place):
                return
            del self._here[phone]
        self._count()

    def vote(self, phone: str, number: object, answer: object) -> None:
        """Take a phone's answer to question `number`, an index of its options; any JSON values are checked.

        Raises Refused: 400 for invalid values, 404 for an unknown question, 409 for a closed one, 503 if
        full.
        """
        with self._lock:
            now = self._now
            if type(number) is not int or type(answer) is not int:
                raise Refused(400, "invalid")
            if self.closed or not 0 < number <= self._asked:
                raise Refused(404, "unknown")
            if now is None or now.number != number or now.revealed:
                raise Refused(409, "closed")
            if not 0 <= answer < len(now.question.options):
                raise Refused(400, "invalid")
            if phone not in now.votes and len(now.votes) >= PHONES:
                raise Refused(503, "full")
            now.votes[phone] = answer
        self._count()

    def heard(self, phone: str) -> dict[str, Any]:
        """A phone's state as JSON, without counts."""
        with self._lock:
            now = self._now
            found: dict[str, Any] = {"language": self.language}
            if self.closed:
                return found | {"state": "over"}
            if now is None:
                return found | {"state": "waiting"}
            question = now.question
            return found | {
                "state": "closed" if now.revealed else "open",
                "number": now.number,
                "text": question.text,
                "options": question.options,
                "letters": question.letters,
                "mine": now.votes.get(phone),
                "right": question.right if now.revealed else None,
            }

    # ---- inside ----

    def _found(self, question: Question) -> Poll | None:
        """The question's poll: the kept one if its number of options is the same, else a new one."""
        poll = self._polls.get(question.key)
        if poll is not None and len(poll.question.options) == len(question.options):
            self._polls.move_to_end(question.key)
            return poll
        if question.over:  # without a kept poll, nobody has answered it
            return None
        self._asked += 1
        poll = self._polls[question.key] = Poll(self._asked, question)
        self._polls.move_to_end(question.key)
        while len(self._polls) > KEPT:
            self._polls.popitem(last=False)
        return poll

    def _revealed(self) -> dict[str, list[int]]:
        return {key: poll.counts for key, poll in self._polls.items() if poll.revealed}

    def _tell(self) -> None:
        self.phones.ring()
        self._count()

    def _count(self) -> None:
        with self._lock:
            self.edition += 1
        self.stage.ring()
