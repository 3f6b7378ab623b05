"""A room's questions and answers, without a network."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.ui.serving.room import room as rooms
from rnnviz.ui.serving.room.classroom import Address, list_addresses, order_addresses
from rnnviz.ui.serving.room.phones import MAX_BUCKETS, RateLimit
from rnnviz.ui.serving.room.room import Refused, Room, RoomQuestion

COLOURS = RoomQuestion("colour", "Which colour?", ("red", "green", "blue"))


def ask_number(room: Room, question: RoomQuestion | None) -> int:
    """Ask it; the number that phones answer to."""
    room.ask(question)
    return int(room.phone_state("nobody").get("number", 0))


def counts(room: Room) -> list[int]:
    """What the stage knows of the question's answers."""
    return list(room.stage_state()["question"]["counts"])


def refused(room: Room, phone: str, number: object, answer: object) -> tuple[int, str]:
    """How an answer is refused."""
    with pytest.raises(Refused) as caught:
        room.vote(phone, number, answer)
    return caught.value.status_code, caught.value.detail


def answered(answer: int = 1) -> tuple[Room, int]:
    """A room with one answer to the colours, a's; and their number."""
    room = Room()
    number = ask_number(room, COLOURS)
    room.vote("a", number, answer)
    return room, number


def test_phone_state_hides_counts_and_right_answer() -> None:
    room = Room()
    number = ask_number(room, RoomQuestion("q", "?", ("x", "y"), right=1))
    room.vote("a", number, 0)
    state = room.phone_state("b")
    assert set(state) == {"language", "state", "number", "text", "options", "letters", "mine", "right"}
    assert (state["mine"], state["right"]) == (None, None)
    room.reveal(number)
    assert room.phone_state("b")["right"] == 1
    assert refused(room, "a", number, 1) == refused(room, "c", number, 0) == (409, "closed")
    assert counts(room) == [1, 0]


@pytest.mark.parametrize("other", [None, RoomQuestion("another", "?", ("x", "y"))])
def test_left_question_closes_and_keeps_answers(other: RoomQuestion | None) -> None:
    room, number = answered()
    room.ask(other)
    assert refused(room, "a", number, 2) == (409, "closed")
    assert ask_number(room, COLOURS) == number
    assert counts(room) == [0, 1, 0]
    room.vote("a", number, 2)
    assert counts(room) == [0, 0, 1]


def test_revealed_question_stays_revealed_until_asked_again() -> None:
    room, number = answered()
    room.reveal(number)
    room.ask(None)
    assert ask_number(room, COLOURS) == number
    assert room.stage_state()["question"]["revealed"]
    room.ask_again(number)
    fresh = room.stage_state()["question"]
    assert (fresh["counts"], fresh["revealed"], fresh["answered"]) == ([0, 0, 0], False, 0)
    assert fresh["number"] != number
    assert refused(room, "a", number, 1) == (409, "closed")
    room.ask_again(number)  # said twice
    room.reveal(number)
    assert room.stage_state()["question"] == fresh


def test_question_with_shown_answer_takes_no_votes() -> None:
    room, number = answered()
    over = RoomQuestion("colour", "Which colour?", COLOURS.options, right=2, over=True)
    room.ask(over)
    assert refused(room, "b", number, 2) == (409, "closed")
    assert room.phone_state("a")["right"] == 2
    room.ask_again(number)
    assert counts(room) == [0, 1, 0]
    never = Room()
    never.ask(over)
    assert never.stage_state()["question"] is None
    assert never.phone_state("a")["state"] == "waiting"


def test_language_change_keeps_question_and_answers() -> None:
    room, number = answered()
    room.set_language("zh")
    room.ask(RoomQuestion("colour", "哪种颜色?", ("红", "绿", "蓝")))
    state = room.phone_state("a")
    assert (state["language"], state["number"], state["text"], state["mine"]) == (
        "zh",
        number,
        "哪种颜色?",
        1,
    )
    assert counts(room) == [0, 1, 0]


@pytest.mark.parametrize(
    ("number", "answer", "refusal"),
    [
        (1, 3, (400, "invalid")),
        (1, -1, (400, "invalid")),
        (1, True, (400, "invalid")),
        (1, "0", (400, "invalid")),
        (None, 0, (400, "invalid")),
        (True, 0, (400, "invalid")),
        (2, 0, (404, "unknown")),
        (0, 0, (404, "unknown")),
    ],
)
def test_invalid_vote_is_refused_and_changes_nothing(
    number: object, answer: object, refusal: tuple[int, str]
) -> None:
    room, first = answered()
    assert first == 1
    assert refused(room, "a", number, answer) == refusal
    assert counts(room) == [0, 1, 0]


def test_full_room_refuses_phones_and_votes() -> None:
    room = Room()
    number = ask_number(room, COLOURS)
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


def test_old_stream_end_leaves_phone_in_room() -> None:
    room = Room()
    room.join("a", "first")
    room.join("a", "second")
    assert not room.is_current_stream("a", "first")
    room.leave("a", "first")
    assert room.stage_state()["phones"] == 1
    room.leave("a", "second")
    assert room.stage_state()["phones"] == 0


def test_answered_counts_present_phones_alone() -> None:
    room, number = answered(2)
    room.join("here", 1)
    state = room.stage_state()
    assert (state["phones"], state["question"]["answered"], state["question"]["votes"]) == (1, 0, 1)
    room.vote("here", number, 0)
    state = room.stage_state()
    assert (state["phones"], state["question"]["answered"], state["question"]["votes"]) == (1, 1, 2)


def test_table_lists_revealed_counts_in_order() -> None:
    room = Room()
    second = RoomQuestion("second", "Why?", ("so", "=1+1"))
    for question, answers in ((COLOURS, [1, 1, 2]), (second, [0])):
        number = ask_number(room, question)
        for phone, answer in enumerate(answers):
            room.vote(str(phone), number, answer)
        room.reveal(number)
    ask_number(room, RoomQuestion("hidden", "?", ("x", "y")))
    table = room.table()
    assert [(row["question"], row["option"], row["count"]) for row in table] == [
        ("Which colour?", "red", 0), ("Which colour?", "green", 2), ("Which colour?", "blue", 1),
        ("Why?", "so", 1), ("Why?", "=1+1", 0),
    ]  # fmt: skip
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}\+00:00", row["time"]) for row in table)


def test_room_keeps_max_polls() -> None:
    room = Room()
    for n in range(3 * rooms.MAX_POLLS):
        room.ask(RoomQuestion(str(n), "?", ("x", "y")))
    assert len(room._polls) == rooms.MAX_POLLS


def test_closed_room_forgets_questions() -> None:
    room, number = answered()
    room.close()
    assert room.phone_state("a") == {"language": "en", "state": "over"}
    assert room.stage_state()["question"] is None
    room.ask(COLOURS)
    assert refused(room, "a", number, 1) == (404, "unknown")


def test_draw_answers_gets_counts_of_revealed_questions() -> None:
    room = Room()
    first = RoomQuestion("first", "?", ("x", "y"), draw_answers=dict)
    second = RoomQuestion("second", "?", ("x", "y"), draw_answers=dict)
    first_number = ask_number(room, first)
    room.vote("a", first_number, 1)
    assert "answers" not in room.stage_state()["question"]
    room.reveal(first_number)
    assert room.stage_state()["question"]["answers"] == {"first": [0, 1]}
    ask_number(room, RoomQuestion("third", "?", ("x", "y")))  # left before it was revealed
    second_number = ask_number(room, second)
    assert "answers" not in room.stage_state()["question"]
    room.reveal(second_number)
    assert room.stage_state()["question"]["answers"] == {"first": [0, 1], "second": [0, 0]}


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 2)), max_size=60))
def test_counts_are_last_votes_by_phone(votes: list[tuple[str, int]]) -> None:
    room = Room()
    number = ask_number(room, COLOURS)
    for phone, answer in votes:
        room.vote(phone, number, answer)
    last = list(dict(votes).values())
    assert counts(room) == [last.count(n) for n in range(3)]
    assert room.stage_state()["question"]["votes"] == len(last)


def test_rate_limit_is_by_key_and_bounded() -> None:
    now = [0.0]
    limit = RateLimit(burst=3, rate=2, clock=lambda: now[0])
    assert [limit.allows("a") for _ in range(5)] == [True, True, True, False, False]
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
def test_addresses_are_ordered_by_likelihood(route: str | None, first: list[str]) -> None:
    addresses = [
        Address("127.0.0.1", "lo"),
        Address("10.8.0.2", "tun0"),
        Address("172.17.0.1", "docker0"),
        Address("169.254.9.9", "eth2"),
        Address("192.168.56.1", "vboxnet0"),
        Address("203.0.114.7", "eth1"),
        Address("10.1.2.3", "eth0"),
        Address("192.168.1.5", "wlan0"),
    ]
    names = [address.interface for address in order_addresses(addresses, route)]
    assert names[: len(first)] == first
    assert {"lo", "eth2"}.isdisjoint(names)
    assert all(address.address for address in list_addresses())
