"""Scene 1 without a browser: what it says of tables, of the book and of states is what they are."""

import re
from typing import Any

import numpy as np
import pytest

from rnnviz import i18n
from rnnviz.lecture import counts, states
from rnnviz.ui.pages.learn import models
from rnnviz.ui.pages.learn.scene_1_counts import NAMES, ORDER
from rnnviz.ui.pages.learn.session import Lecture
from tests.ui.test_learn import answered

TEXTS = ["the Time Traveller switched his computer off", "qx", "aaaa", "\u6f22\u5b57 and ink", "the time"]


def said(step: str, **ask: Any) -> tuple[str, dict[str, Any]]:
    """What to notice at a step after an ask, and the picture beside it."""
    sent = answered(Lecture({"scene": "1"}), {"step": NAMES.index(step), "ask": ask})
    return sent["notice"], sent["data"]


def test_a_table_grows_by_what_is_said() -> None:
    notice, shown = said("grows")
    factor = int(re.findall(r"(\d+) times larger", notice)[0])
    sizes = [size for _, size in shown["sizes"]]
    assert np.divide(sizes[1:], sizes[:-1]) == pytest.approx(factor)


@pytest.mark.parametrize("n", range(1, counts.LONGEST + 1))
def test_what_is_said_of_the_book_holds_for_every_n(n: int) -> None:
    notice, shown = said("book", n=n)
    share = shown["never"][n - 1]
    assert share == counts.NEVER[n - 1] / counts.HELD_OUT
    if share:
        assert f"{100 * share:.1f} % of the contexts of {n - 1} characters" in notice
        assert shown["seen"][n - 1][1] < 0.05 * counts.table_size(shown["size"], n), "few of the entries"
    else:
        assert ("no context at all" if n == 1 else "every context") in notice
        assert n <= 2
    assert shown["table"].replace(",", "") == str(69**n)


@pytest.mark.parametrize("n", range(1, counts.LONGEST + 1))
@pytest.mark.parametrize("text", TEXTS)
def test_no_other_ngram_is_shown_than_the_one_that_is_named(n: int, text: str) -> None:
    notice, shown = said("surprise", n=n, text=text)
    (row,) = (row for row in shown["rows"] if row["kind"] == "ngram")
    assert row["name"] == f"{n}-gram"
    if n > ORDER:
        assert row["bits"] is None
        assert row["held"] is None
    else:
        exact = counts.bits(counts.shortened(models.ngram("timemachine-6gram"), n), text)
        assert row["bits"] == pytest.approx(exact, abs=1e-3)
        assert row["held"] == counts.COSTS[n - 1]
    read = counts.book()[0]
    assert shown["known"] == [text[max(0, t - n + 1) : t] in read for t in range(len(text))]
    assert ("Framed" in notice) == (n > 1)
    assert ("so it looks at" in notice) == (1 < n <= ORDER), "only a model that counts so far has looked"
    if n > 2:
        assert f"the {n - 1} characters before it" in notice


def test_what_a_state_saves_on_the_book_is_said_as_it_was_measured() -> None:
    notice, shown = said("memory", n=ORDER)
    held = {row["kind"]: row["held"] for row in shown["rows"]}
    for kind, cost in held.items():
        if kind != "ngram":
            card = models.network(f"timemachine-{kind}").card["held_out"]
            assert cost == pytest.approx(np.log2(card["perplexity"]))
            assert card["characters"] == counts.HELD_OUT
    assert re.findall(r"[A-Z6][A-Za-z-]+ (\d\.\d\d)", notice) == [
        f"{held[kind]:.2f}" for kind in ("ngram", "rnn", "gru")
    ]


@pytest.mark.parametrize(
    ("first", "second"), [("the dark machine", "the grey machine"), ("one", "one"), ("a", "b")]
)
@pytest.mark.parametrize("t", [1, 4, 7, 16])
def test_what_is_said_of_two_texts_is_what_the_rules_do(first: str, second: str, t: int) -> None:
    notice, shown = said("any", first=first, second=second, t=t)
    at = shown["t"]
    assert at == min(t, len(first), len(second))
    apart = {row["kind"]: row["apart"][at - 1] for row in shown["rows"]}
    if first[:at] == second[:at]:
        assert "So far both texts are the same" in notice
        assert set(apart.values()) == {0}
        return
    assert apart["append"] == 1
    found = [float(number) / 100 for number in re.findall(r"([\d.]+) %", notice)]
    assert found == pytest.approx([apart["last"], apart["rnn"]], abs=6e-4)
    costs = states.costs("append", at, models.network("timemachine-rnn"))
    assert (shown["rows"][0]["bits"], shown["rows"][0]["work"]) == (costs.bits, at)


@pytest.mark.parametrize("t", [1, 3, 12, 22])
def test_a_step_of_each_rule_is_shown(t: int) -> None:
    line = "the dark machine stood"
    _, shown = said("state", first=line, t=t)
    append, last, rnn = shown["rows"]
    plain = line.replace(" ", "\u00b7")
    assert (append["before"], append["after"]) == (plain[: t - 1], plain[:t])
    assert (last["before"], last["after"]) == (plain[: t - 1][-1:], plain[t - 1])
    assert append["times"] == len(re.findall(f"(?={line[:t]}.)", counts.book()[0], re.DOTALL))
    assert len(rnn["after"]) == len(rnn["before"]) == 256
    if t > 1:
        assert rnn["before"] == said("state", first=line, t=t - 1)[1]["rows"][2]["after"]
    # One step from the state before, by the network's own weights: at t = 1 too, where it has read a start.
    network = models.network("timemachine-rnn")
    parts = network.weights.layers[0]
    assert parts.table is not None
    assert parts.W_h is not None
    read = parts.table[network.vocabulary.encode(line[t - 1])[0]]
    made = np.tanh(read + parts.W_h @ np.array(rnn["before"]))
    assert rnn["after"] == pytest.approx(made, abs=0.01)
    for row in shown["rows"]:
        chances = [chance for _, chance in row["next"]]
        assert chances == sorted(chances, reverse=True)
        assert sum(chances) <= 1 + 1e-6


def test_in_chinese_a_chinese_book_is_counted_and_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(i18n, "_asks", lambda: "zh")
    ngram, book = models.ngram("chinese-6gram"), counts.JOURNEY
    assert book.seen == (ngram.vocabulary.size, *ngram.seen)
    assert book.held_out == ngram.card["held_out"]["characters"]
    assert book.costs[-1] == pytest.approx(ngram.card["held_out"]["bits_per_character"], abs=1e-4)
    assert list(book.costs) == sorted(book.costs, reverse=True)
    assert book.never[1] == ngram.card["held_out"]["unknown"], "a character that is new is never a context"
    assert list(book.never) == sorted(book.never)
    for n in (2, 3, 6, counts.LONGEST):
        _, shown = said("memory", n=n)
        n = min(n, len(book.seen))
        assert shown["table"].replace(",", "") == str(ngram.vocabulary.size**n)
        assert (shown["n"], shown["longest"]) == (n, 6)
        for row, model in zip(
            shown["rows"],
            (counts.shortened(ngram, 2), counts.shortened(ngram, n), models.network("chinese-gru")),
            strict=True,
        ):
            assert row["bits"] == pytest.approx(counts.bits(model, shown["text"]), abs=1e-3)
        assert [row["held"] for row in shown["rows"][:2]] == [book.costs[1], book.costs[n - 1]]
    gru = models.network("chinese-gru").card["held_out"]["bits_per_character"]
    assert shown["rows"][2]["held"] == pytest.approx(gru)
    assert not all(shown["known"]), "a telephone is not in the book"
