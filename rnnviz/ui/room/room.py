"""A room: one question at a time, an answer from each phone, counted as they come. In memory alone.

    stage    asks, reveals, asks again: the lecturer's page
    phone    answers, and may change its answer until the question closes

Every method may be called from any thread. What is kept is bounded: PHONES answers to a question, KEPT
questions.
"""

import asyncio
import contextlib
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.exceptions import HTTPException

PHONES = 1_000
"""Phones that a room holds, and answers that a question takes."""

KEPT = 128
"""Questions whose answers are kept, the oldest forgotten first."""

Counts = Mapping[str, Sequence[int]]
"""How many chose each option, by the keys of the questions that were revealed."""


@dataclass(frozen=True)
class Question:
    """What a step of the lecture asks.

    key      names it in the lecture: a step that comes back with the same key has its answers still
    text     the question, in the lecture's language
    options  what can be answered, at least two
    letters  whether the options are single characters, for a keyboard
    right    the index of the right option, told with the answers; None to tell none
    over     whether the stage shows the answer by now: nothing more is taken
    told     what else the stage is told with the answers, of the counts of all revealed questions
    """

    key: str
    text: str
    options: tuple[str, ...]
    letters: bool = False
    right: int | None = None
    over: bool = False
    told: Callable[[Counts], dict[str, Any]] | None = None


class Refused(HTTPException):
    """An answer that doesn't count: an HTTP status, and as its detail a word that the phone's page knows."""


@dataclass
class Poll:
    """A question and its answers so far; `number` tells it from the same question asked before."""

    number: int
    question: Question
    revealed: bool = False
    votes: dict[str, int] = field(default_factory=dict)  # a phone's last answer

    @property
    def counts(self) -> list[int]:
        """How many chose each option."""
        chosen = Counter(self.votes.values())
        return [chosen[option] for option in range(len(self.question.options))]


class Broadcast:
    """Wakes those who wait on event loops, from any thread."""

    def __init__(self) -> None:
        self._waiting: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def heard(self) -> Iterator[asyncio.Event]:
        """An event of the running loop that is set whenever the bell rings meanwhile."""
        event = asyncio.Event()
        with self._lock:
            self._waiting[event] = asyncio.get_running_loop()
        try:
            yield event
        finally:
            with self._lock:
                del self._waiting[event]

    def ring(self) -> None:
        """Set every event."""
        with self._lock:
            waiting = list(self._waiting.items())
        for event, loop in waiting:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(event.set)


class Room:
    """A room in a language, "en" or "zh", which its phones speak too."""

    def __init__(self, language: str = "en") -> None:
        self.language = language
        self.closed = False
        self.phones, self.stage = Broadcast(), Broadcast()
        """Rung when phones, or the stage, have something new to show."""
        self.edition = 0
        """Grows with everything that the stage has to know."""
        self._lock = threading.RLock()
        self._polls: OrderedDict[str, Poll] = OrderedDict()
        self._now: Poll | None = None
        self._asked = 0
        self._here: dict[str, object] = {}

    # ---- the stage ----

    def ask(self, question: Question | None) -> None:
        """The stage shows this question now, or none; the one before is closed."""
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
        """Close question `number`, if it is the one asked, and show its answers."""
        with self._lock:
            if self._now is None or self._now.number != number or self._now.revealed:
                return
            self._now.revealed = True
        self._tell()

    def again(self, number: int) -> None:
        """Ask question `number`, if it is the one asked, anew: its answers are forgotten."""
        with self._lock:
            now = self._now
            if now is None or now.number != number or now.question.over:
                return
            del self._polls[now.question.key]
            self._now = self._found(now.question)
        self._tell()

    def speak(self, language: str) -> None:
        """Go on in another language."""
        if language != self.language:
            self.language = language
            self._tell()

    def close(self) -> None:
        """Take nothing more, and say so to everyone."""
        with self._lock:
            self.closed = True
            self._polls.clear()
            self._now = None
        self._tell()

    def shown(self) -> dict[str, Any]:
        """What the stage has to know, as JSON: counts too, which it shows once they are revealed."""
        with self._lock:
            found: dict[str, Any] = {"edition": self.edition, "phones": len(self._here), "question": None}
            now = self._now
            if now is None:
                return found
            question = now.question
            found["question"] = {
                "number": now.number,
                "key": question.key,
                "text": question.text,
                "options": question.options,
                "answered": len(now.votes),
                "counts": now.counts,
                "revealed": now.revealed,
                "over": question.over,
            }
            counts = self._revealed() if now.revealed else {}
        if counts and question.told is not None:
            found["question"]["told"] = question.told(counts)
        return found

    # ---- phones ----

    def come(self, phone: str, place: object) -> None:
        """A phone is there, at `place` and no longer where it was before. Refused where the room is full."""
        with self._lock:
            if phone not in self._here and len(self._here) >= PHONES:
                raise Refused(503, "full")
            elsewhere = phone in self._here
            self._here[phone] = place
        if elsewhere:
            self.phones.ring()
        self._count()

    def is_at(self, phone: str, place: object) -> bool:
        """Whether a phone is there and nowhere else since."""
        return self._here.get(phone) is place

    def go(self, phone: str, place: object) -> None:
        """A phone has left `place`; its answers stay."""
        with self._lock:
            if not self.is_at(phone, place):
                return
            del self._here[phone]
        self._count()

    def vote(self, phone: str, number: object, answer: object) -> None:
        """Take a phone's answer to question `number`: an index of its options. Refused with the reason."""
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
        """What a phone shows, as JSON: no counts."""
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
        """The question's poll, made anew if there is none or its options are others."""
        poll = self._polls.get(question.key)
        if poll is not None and len(poll.question.options) == len(question.options):
            self._polls.move_to_end(question.key)
            return poll
        if question.over:  # nobody can have answered it
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
