"""A room: one question at a time, an answer from each phone. All of it is in memory alone.

    stage    the lecturer's page: asks, reveals, asks again
    phone    answers, and may change its answer until the question closes

Every method may be called from any thread. Memory is bounded: MAX_PHONES answers to a question, MAX_POLLS
questions.
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

MAX_PHONES = 1_000
"""Phones that a room holds, and answers that a question takes."""

MAX_POLLS = 128
"""Questions whose answers are kept; the least recently asked goes first."""

Counts = Mapping[str, Sequence[int]]
"""The answers for each option, by the keys of revealed questions."""


@dataclass(frozen=True)
class RoomQuestion:
    """A question of a step of the lecture.

    key           its name in the lecture: a step that returns with the same key still has its answers
    text          the question, in the lecture's language
    options       the possible answers, at least two
    letters       whether the options are single characters, which a phone shows as a keyboard
    right         the index of the right option, shown with the answers; None for none
    over          whether the stage shows the answer already: no more answers are taken
    draw_answers  makes further entries for the stage from the counts of all revealed questions
    """

    key: str
    text: str
    options: tuple[str, ...]
    letters: bool = False
    right: int | None = None
    over: bool = False
    draw_answers: Callable[[Counts], dict[str, Any]] | None = None


class Refused(HTTPException):
    """A refused request: an HTTP status, and in its detail a word that the phone's page knows."""


@dataclass
class Poll:
    """A question and its answers so far. A question that is asked again has a new `number`."""

    number: int
    question: RoomQuestion
    asked_at: float = field(default_factory=time.time)  # Unix time of the question
    revealed: bool = False
    votes: dict[str, int] = field(default_factory=dict)  # the last answer, by phone

    @property
    def counts(self) -> list[int]:
        """The number of answers for each option."""
        chosen = Counter(self.votes.values())
        return [chosen[option] for option in range(len(self.question.options))]


class Broadcast:
    """A bell that wakes coroutines on any event loops, from any thread.

    The stage waits on the app's event loop, phones on the listener's. asyncio.Event belongs to one loop, and
    may be set on that loop's thread only.
    """

    def __init__(self) -> None:
        self._waiting: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def listen(self) -> Iterator[asyncio.Event]:
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

    def _set(self, running_loop: asyncio.AbstractEventLoop) -> None:
        with self._lock:
            waiting = [event for event, loop in self._waiting.items() if loop is running_loop]
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
        """A number that grows with each change of `stage_state`."""
        # Never held while a bell rings or a question's `draw_answers` computes: the event loop of all phones
        # waits for it.
        self._lock = threading.Lock()
        self._polls: OrderedDict[str, Poll] = OrderedDict()
        self._current: Poll | None = None
        self._still: Mapping[str, str] = {}
        self._last_number = 0
        # By phone, its newest stream. Only its identity counts: it tells a phone's second tab from the first.
        self._streams: dict[str, object] = {}

    # ---- the stage ----

    def ask(self, question: RoomQuestion | None, still: Mapping[str, str] | None = None) -> None:
        """Ask this question, or none; the one before takes no more answers. `still` is what phones show of
        the stage's step: its "title", its sentence, "says", and its "formula" in LaTeX.
        """
        still = still or {}
        with self._lock:
            if self.closed:
                return
            # The stage asks at each of its polls, so a question that is unchanged must ring no bell.
            before = self._current, self._current and (self._current.question, self._current.revealed)
            moved, self._still = still != self._still, still
            self._current = None if question is None else self._poll_for(question)
            poll = self._current
            if poll is not None and question is not None:
                poll.question = question
                poll.revealed = poll.revealed or question.over
            changed = before != (poll, poll and (poll.question, poll.revealed))
        if changed:
            self._announce()
        elif moved:  # a still alone is for phones: the stage has it
            self.phones.ring()

    def reveal(self, number: int) -> None:
        """Close question `number` and show its answers, if it is the current one."""
        with self._lock:
            if self._current is None or self._current.number != number or self._current.revealed:
                return
            self._current.revealed = True
        self._announce()

    def ask_again(self, number: int) -> None:
        """Ask question `number` again without its answers, if it is the current one and not over."""
        with self._lock:
            poll = self._current
            if poll is None or poll.number != number or poll.question.over:
                return
            del self._polls[poll.question.key]
            self._current = self._poll_for(poll.question)
        self._announce()

    def set_language(self, language: str) -> None:
        """Change the room's language."""
        if language != self.language:
            self.language = language
            self._announce()

    def close(self) -> None:
        """Close the room: it takes no more answers, and phones and stage show that."""
        with self._lock:
            self.closed = True
            self._polls.clear()
            self._current = None
        self._announce()

    def stage_state(self) -> dict[str, Any]:
        """The stage's state as JSON, counts included; the stage shows them once they are revealed.

        "answered" counts the phones that are here and have answered, "votes" the answers, also of phones
        that have gone: they lock their screens.
        """
        with self._lock:
            state: dict[str, Any] = {
                "edition": self.edition,
                "phones": len(self._streams),
                "revealed": sum(poll.revealed for poll in self._polls.values()),
                "question": None,
            }
            current = self._current
            if current is None:
                return state
            question = current.question
            state["question"] = {
                "number": current.number,
                "key": question.key,
                "text": question.text,
                "options": question.options,
                "answered": len(current.votes.keys() & self._streams.keys()),
                "votes": len(current.votes),
                "counts": current.counts,
                "revealed": current.revealed,
                "over": question.over,
            }
            counts = self._revealed() if current.revealed else {}
        if counts and question.draw_answers is not None:
            state["question"]["answers"] = question.draw_answers(counts)
        return state

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
                    "time": datetime.fromtimestamp(poll.asked_at, UTC).isoformat(timespec="seconds"),
                }
                for poll in sorted(polls, key=lambda poll: poll.asked_at)
                for option, count in zip(poll.question.options, poll.counts, strict=True)
            ]

    # ---- phones ----

    def join(self, phone: str, stream: object) -> None:
        """Add a phone with its `stream`; one that it had before is replaced.

        Raises Refused (503) if the room is full.
        """
        with self._lock:
            if phone not in self._streams and len(self._streams) >= MAX_PHONES:
                raise Refused(503, "full")
            elsewhere = phone in self._streams
            self._streams[phone] = stream
        # The older stream hears the bell, finds that it is not the newest any more, and ends.
        if elsewhere:
            self.phones.ring()
        self._advance_edition()

    def is_current_stream(self, phone: str, stream: object) -> bool:
        """Whether `stream` is the phone's newest stream."""
        return self._streams.get(phone) is stream

    def leave(self, phone: str, stream: object) -> None:
        """Remove a phone whose newest `stream` has ended; its answers stay."""
        with self._lock:
            if not self.is_current_stream(phone, stream):
                return
            del self._streams[phone]
        self._advance_edition()

    def vote(self, phone: str, number: object, answer: object) -> None:
        """Take a phone's answer to question `number`, an index of its options; any JSON values are checked.

        Raises Refused: 400 for invalid values, 404 for an unknown question, 409 for a closed one, 503 if
        full.
        """
        with self._lock:
            poll = self._current
            if type(number) is not int or type(answer) is not int:  # isinstance would take True for 1
                raise Refused(400, "invalid")
            # Numbers only grow: one up to the last was asked here, and has closed unless it is current. A
            # higher one is no question of this room.
            if self.closed or not 0 < number <= self._last_number:
                raise Refused(404, "unknown")
            if poll is None or poll.number != number or poll.revealed:
                raise Refused(409, "closed")
            if not 0 <= answer < len(poll.question.options):
                raise Refused(400, "invalid")
            if phone not in poll.votes and len(poll.votes) >= MAX_PHONES:
                raise Refused(503, "full")
            poll.votes[phone] = answer
        self._advance_edition()

    def phone_state(self, phone: str) -> dict[str, Any]:
        """A phone's state as JSON, without counts."""
        with self._lock:
            poll = self._current
            state: dict[str, Any] = {"language": self.language}
            if self.closed:
                return state | {"state": "over"}
            if self._still:
                state["still"] = self._still
            if poll is None:
                return state | {"state": "waiting"}
            question = poll.question
            return state | {
                "state": "closed" if poll.revealed else "open",
                "number": poll.number,
                "text": question.text,
                "options": question.options,
                "letters": question.letters,
                "mine": poll.votes.get(phone),
                "right": question.right if poll.revealed else None,
            }

    # ---- inside ----

    def _poll_for(self, question: RoomQuestion) -> Poll | None:
        """The question's poll: the kept one if its number of options is the same, else a new one."""
        poll = self._polls.get(question.key)
        if poll is not None and len(poll.question.options) == len(question.options):
            self._polls.move_to_end(question.key)
            return poll
        if question.over:  # without a kept poll, nobody has answered it
            return None
        self._last_number += 1
        poll = self._polls[question.key] = Poll(self._last_number, question)
        self._polls.move_to_end(question.key)
        while len(self._polls) > MAX_POLLS:
            self._polls.popitem(last=False)
        return poll

    def _revealed(self) -> dict[str, list[int]]:
        return {key: poll.counts for key, poll in self._polls.items() if poll.revealed}

    def _announce(self) -> None:
        self.phones.ring()
        self._advance_edition()

    def _advance_edition(self) -> None:
        # Counted before the bell: the poll that it wakes answers with the new number. With the old one, the
        # stage's next poll would be answered at once, with the same state again.
        with self._lock:
            self.edition += 1
        self.stage.ring()
