"""A room's questions and answers, without a network."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.ui.serving.room import room as rooms
from rnnviz.ui.serving.room.classroom import Address, list_addresses, order_addresses
from rnnviz.ui.serving.room.phones import MAX_BUCKETS, RateLimit
from rnnviz.ui.serving.room.room import Refused, Room, RoomQuestion

COLOURS = RoomQuestion("colour", "Which colour?", ("red", "green", "blue"))


def asked(room: Room, question: RoomQuestion | None) -> int:
    """Ask it; the number that phones answer to."""
    room.ask(question)
    return int(room.phone_state("nobody").get("number", 0))


def counts(room: Room) -> list[int]:
    """What the stage knows of the question's answers."""
    found: list[int] = room.stage_state()["question"]["counts"]
    return found


def refused(room: Room, phone: str, number: object, answer: object) -> tuple[int, str]:
    """How an answer is refused."""
    with pytest.raises(Refused) as caught:
        room.vote(phone, number, answer)
    return caught.value.status_code, caught.value.detail


def answered(answer: int = 1) -> tuple[Room, int]:
    """A room with one answer to the colours, a's; and their number."""
    room = Room()
    number = asked(room, COLOURS)
    room.vote("a", number, answer)
    return room, number


def test_phones_learn_neither_counts_nor_others_answers_nor_the_right_one_too_early() -> None:
    room = Room()
    number = asked(room, RoomQuestion("q", "?", ("x", "y"), right=1))
    room.vote("a", number, 0)
    heard = room.phone_state("b")
    assert set(heard) == {"language", "state", "number", "text", "options", "letters", "mine", "right"}
    assert (heard["mine"], heard["right"]) == (None, None)
    room.reveal(number)
    assert room.phone_state("b")["right"] == 1
    assert refused(room, "a", number, 1) == refused(room, "c", number, 0) == (409, "closed")
    assert counts(room) == [1, 0]


@pytest.mark.parametrize("other", [None, RoomQuestion("another", "?", ("x", "y"))])
def test_a_question_closes_when_its_step_is_left_and_keeps_its_answers(other: RoomQuestion | None) -> None:
    room, number = answered()
    room.ask(other)
    assert refused(room, "a", number, 2) == (409, "closed")
    assert asked(room, COLOURS) == number
    assert counts(room) == [0, 1, 0]
    room.vote("a", number, 2)
    assert counts(room) == [0, 0, 1]


def test_what_was_revealed_stays_so_until_it_is_asked_anew() -> None:
    room, number = answered()
    room.reveal(number)
    room.ask(None)
    assert asked(room, COLOURS) == number
    assert room.stage_state()["question"]["revealed"]
    room.ask_again(number)
    fresh = room.stage_state()["question"]
    assert (fresh["counts"], fresh["revealed"], fresh["answered"]) == ([0, 0, 0], False, 0)
    assert fresh["number"] != number
    assert refused(room, "a", number, 1) == (409, "closed")
    room.ask_again(number)  # said twice
    room.reveal(number)
    assert room.stage_state()["question"] == fresh


def test_a_question_whose_answer_is_on_the_stage_takes_no_more() -> None:
    room, number = answered()
    over = RoomQuestion("colour", "Which colour?", COLOURS.options, right=2, over=True)
    room.ask(over)
    assert refused(room, "b", number, 2) == (409, "closed")
    assert room.phone_state("a")["right"] == 2
    assert counts(room) == [0, 1, 0]
    room.ask_again(number)
    assert counts(room) == [0, 1, 0]
    never = Room()
    never.ask(over)
    assert never.stage_state()["question"] is None
    assert never.phone_state("a")["state"] == "waiting"


def test_another_language_is_the_same_question_with_the_same_answers() -> None:
    room, number = answered()
    room.set_language("zh")
    room.ask(RoomQuestion("colour", "哪种颜色?", ("红", "绿", "蓝")))
    heard = room.phone_state("a")
    assert (heard["language"], heard["number"], heard["text"], heard["mine"]) == (
        "zh",
        number,
        "哪种颜色?",
        1,
    )
    assert counts(room) == [0, 1, 0]


@pytest.mark.parametrize(
    ("number", "answer", "how"),
    [
        (1, 3, (400, "invalid")),
        (1, -1, (400, "invalid")),
        (1, True, (400, "invalid")),
        (1, "0", (400, "invalid")),
        (1, None, (400, "invalid")),
        (1, 0.0, (400, "invalid")),
        (None, 0, (400, "invalid")),
        ("1", 0, (400, "invalid")),
        (True, 0, (400, "invalid")),
        (2, 0, (404, "unknown")),
        (0, 0, (404, "unknown")),
        (-1, 0, (404, "unknown")),
        (10**30, 0, (404, "unknown")),
        (1, 10**30, (400, "invalid")),
    ],
)
def test_an_answer_that_is_none_is_refused_and_changes_nothing(
    number: object, answer: object, how: tuple[int, str]
) -> None:
    room, first = answered()
    assert first == 1
    assert refused(room, "a", number, answer) == how
    assert counts(room) == [0, 1, 0]


def test_the_room_is_full_at_a_thousand_phones_and_answers() -> None:
    room = Room()
    number = asked(room, COLOURS)
    for n in range(rooms.MAX_PHONES):
        room.join(str(n), n)
        room.vote(str(n), number, n % 3)
    with pytest.raises(Refused, match="full"):
        room.join("late", "here")
    assert refused(room, "late", number, 0) == (503, "full")
    room.vote("7", number, 0)  # who is in may change their mind
    room.join("7", "elsewhere")
    assert sum(counts(room)) == room.stage_state()["phones"] == rooms.MAX_PHONES
    room.leave("8", 8)
    room.join("late", "here")


def test_a_phone_is_in_one_place_and_leaves_only_that() -> None:
    room = Room()
    room.join("a", "first")
    room.join("a", "second")
    assert not room.is_current_stream("a", "first")
    room.leave("a", "first")
    assert room.stage_state()["phones"] == 1
    room.leave("a", "second")
    assert room.stage_state()["phones"] == 0


def test_who_has_gone_is_not_set_against_who_is_here() -> None:
    room, number = answered(2)
    room.join("here", 1)
    shown = room.stage_state()
    assert (shown["phones"], shown["question"]["answered"], shown["question"]["votes"]) == (1, 0, 1)
    room.vote("here", number, 0)
    shown = room.stage_state()
    assert (shown["phones"], shown["question"]["answered"], shown["question"]["votes"]) == (1, 1, 2)
    assert counts(room) == [1, 0, 1]


def test_a_table_has_the_counts_of_revealed_questions_in_their_order() -> None:
    room = Room()
    second = RoomQuestion("second", "Why?", ("so", "=1+1"))
    for question, answers in ((COLOURS, [1, 1, 2]), (second, [0])):
        number = asked(room, question)
        for phone, answer in enumerate(answers):
            room.vote(str(phone), number, answer)
        room.reveal(number)
    asked(room, RoomQuestion("hidden", "?", ("x", "y")))
    table = room.table()
    assert [(row["question"], row["option"], row["count"]) for row in table] == [
        ("Which colour?", "red", 0), ("Which colour?", "green", 2), ("Which colour?", "blue", 1),
        ("Why?", "so", 1), ("Why?", "=1+1", 0),
    ]  # fmt: skip
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}\+00:00", row["time"]) for row in table)


def test_only_so_many_questions_are_kept() -> None:
    room = Room()
    for n in range(3 * rooms.MAX_POLLS):
        number = asked(room, RoomQuestion(str(n), "?", ("x", "y")))
        room.vote("a", number, 0)
    assert len(room._polls) == rooms.MAX_POLLS


def test_a_closed_room_has_forgotten_everything() -> None:
    room, number = answered()
    room.close()
    assert room.phone_state("a") == {"language": "en", "state": "over"}
    assert room.stage_state()["question"] is None
    assert refused(room, "a", number, 1) == (404, "unknown")
    room.ask(COLOURS)
    assert refused(room, "a", number, 1) == (404, "unknown")


def test_what_a_question_tells_is_told_with_its_answers_and_of_revealed_ones_alone() -> None:
    room = Room()
    told: list[Any] = []

    def tell(counts: rooms.Counts) -> dict[str, Any]:
        told.append(dict(counts))
        return {"seen": sorted(counts)}

    first = RoomQuestion("first", "?", ("x", "y"), told=tell)
    second = RoomQuestion("second", "?", ("x", "y"), told=tell)
    one = asked(room, first)
    room.vote("a", one, 1)
    assert "told" not in room.stage_state()["question"]
    room.reveal(one)
    assert room.stage_state()["question"]["told"] == {"seen": ["first"]}
    asked(room, RoomQuestion("third", "?", ("x", "y")))  # left before it was revealed
    two = asked(room, second)
    assert "told" not in room.stage_state()["question"]
    room.reveal(two)
    assert room.stage_state()["question"]["told"] == {"seen": ["first", "second"]}
    assert told[-1] == {"first": [0, 1], "second": [0, 0]}


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 2)), max_size=60))
def test_counts_are_each_phones_last_answer(votes: list[tuple[str, int]]) -> None:
    room = Room()
    number = asked(room, COLOURS)
    for phone, answer in votes:
        room.vote(phone, number, answer)
    last = list(dict(votes).values())
    assert counts(room) == [last.count(n) for n in range(3)]
    assert room.stage_state()["question"]["votes"] == len(last)


def test_many_threads_lose_no_vote() -> None:
    room = Room()
    number = asked(room, COLOURS)

    def vote(phone: int) -> None:
        room.vote(str(phone), number, 0)
        room.vote(str(phone), number, 1 + phone % 2)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(vote, range(800)))
    assert counts(room) == [0, 400, 400]


def test_one_place_waits_and_others_don_t_and_no_more_than_so_many_are_remembered() -> None:
    now = [0.0]
    limit = RateLimit(burst=3, rate=2, clock=lambda: now[0])
    assert [limit.allows("a") for _ in range(5)] == [True, True, True, False, False]
    assert limit.allows("b")
    now[0] = 0.5
    assert [limit.allows("a") for _ in range(2)] == [True, False]
    now[0] = 100.0
    assert [limit.allows("a") for _ in range(4)] == [True, True, True, False]
    for n in range(3 * MAX_BUCKETS):
        limit.allows(str(n))
    assert len(limit._buckets) == MAX_BUCKETS


@pytest.mark.parametrize(
    ("route", "first"),
    [
        (None, ["wlan0", "eth0", "eth1", "tun0", "docker0", "vboxnet0"]),
        ("10.1.2.3", ["eth0", "wlan0"]),
        ("10.8.0.2", ["wlan0", "eth0"]),  # a private network's end is not where phones are
    ],
)
def test_the_likeliest_address_comes_first(route: str | None, first: list[str]) -> None:
    found = [
        Address("127.0.0.1", "lo"),
        Address("10.8.0.2", "tun0"),
        Address("172.17.0.1", "docker0"),
        Address("169.254.9.9", "eth2"),
        Address("192.168.56.1", "vboxnet0"),
        Address("203.0.114.7", "eth1"),
        Address("10.1.2.3", "eth0"),
        Address("192.168.1.5", "wlan0"),
    ]
    names = [one.interface for one in order_addresses(found, route)]
    assert names[: len(first)] == first
    assert {"lo", "eth2"}.isdisjoint(names)
    assert all(one.address for one in list_addresses())
