"""Scene 6 without a browser: each number against an independent computation, each sentence over its range."""

import math
import re
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

import rnnviz
from rnnviz import i18n
from rnnviz.lecture import memorising, perplexity, shannon
from rnnviz.lecture.machine import Machine
from rnnviz.networks.ngram import NgramModel
from rnnviz.reading.compression import FIXED, compress
from rnnviz.ui.pages.learn import examples, models, scene_6_perplexity, scored_texts, shannon_game
from rnnviz.ui.pages.learn.scene_6_perplexity import BITS, BOOKS, GAME, HEART, LENGTH, RAIN, SHANNON
from rnnviz.ui.pages.learn.session import Lecture
from tests.ui.test_learn import answered

READERS = [(language, kind) for language, (_, kinds) in sorted(examples.SHIPPED.items()) for kind in kinds]


def asked(step: int, lecture: Lecture | None = None, **ask: Any) -> tuple[dict[str, Any], str]:
    """What is drawn at a step after an ask, and what to notice in it."""
    sent = answered(lecture or Lecture({"scene": "6"}), {"step": step, "ask": ask})
    return sent["data"], sent["notice"]


@pytest.fixture
def speak(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Sets the session's language."""
    return lambda language: monkeypatch.setattr(i18n, "_asks", lambda: language)


def costs(model: Any, text: str) -> list[float]:
    """-log P of each character in nats, one prediction after another."""
    ids = model.vocabulary.encode(text)
    assert ids.all(), "the text has characters that the model doesn't know"
    if isinstance(model, NgramModel):
        rows = [model.log_probs(ids[:t]) for t in range(len(ids))]
    else:
        rows = list(rnnviz.trace(model, text).log_probs[:-1])
    return [-float(row[one]) for row, one in zip(rows, ids, strict=True)]


# ---- the game -------------------------------------------------------------------------------------------


def test_the_bars_begin_with_the_words_network() -> None:
    """Against a forward pass on paper: sums of products, one at a time."""
    net, symbols = Machine().net, list(Machine.symbols)
    state, expected = [0.0] * 4, []
    for read, came in zip("machin", "achine", strict=True):
        x = symbols.index(read)
        state = [
            math.tanh(net.W_xh[x][j] + sum(state[i] * net.W_hh[i][j] for i in range(4)) + net.b_h[j])
            for j in range(4)
        ]
        scores = [sum(state[i] * net.W_hq[i][q] for i in range(4)) + net.b_q[q] for q in range(7)]
        expected.append(math.exp(scores[symbols.index(came)]) / sum(map(math.exp, scores)))
    shown, notice = asked(GAME)
    assert (shown["text"], shown["case"], shown["size"]) == ("achine", "network", 7)
    assert shown["p"] == pytest.approx(expected)
    assert shown["costs"] == pytest.approx([-math.log(p) for p in expected])
    assert shown["mean"] == pytest.approx(sum(-math.log(p) for p in expected) / 6)
    assert shown["perplexity"] == pytest.approx(math.prod(1 / p for p in expected) ** (1 / 6))
    assert f"{shown['perplexity']:.2f}" == "9.46"
    assert {name: said["value"] for name, said in shown["here"].items()} == {"T": 6, "perplexity": 9.459}
    assert "9.46 is worse than the 7" in notice


def test_the_three_cases_arrive_exactly() -> None:
    lecture = Lecture({"scene": "6"})
    assert asked(GAME, lecture, case="certain")[0]["perplexity"] == 1
    assert asked(GAME, lecture, case="zero")[0]["perplexity"] is None  # infinite, which JSON can't say
    shown, notice = asked(GAME, lecture, case="uniform")
    assert shown["perplexity"] == 7
    assert f"log₂ 7 = {math.log2(7):.2f} bits" in notice
    assert asked(GAME, lecture, text="raining")[0]["size"] == scene_6_perplexity.SYMBOLS
    assert asked(GAME, lecture, case="uniform")[0]["perplexity"] == scene_6_perplexity.SYMBOLS
    dragged, notice = asked(GAME, lecture, p=[0.5] * len("raining"))
    assert (dragged["perplexity"], dragged["case"]) == (2, "")
    assert "among 2.00 equally likely" in notice
    assert asked(GAME, lecture, text="achine", case="network")[0]["case"] == "network"


@pytest.mark.parametrize("case", scene_6_perplexity.CASES)
def test_an_address_with_a_case_has_its_bars(case: str) -> None:
    shown = answered(Lecture({"scene": "6", "case": case}))["data"]
    clicked, _ = asked(GAME, case=case)
    assert shown == clicked
    assert shown["case"] == case


@pytest.mark.parametrize(
    "bars", [[0.0] * 6, [1.0] * 6, [0.9] * 6, [1e-3] * 6, [0.0, 1, 1, 1, 1, 1], [0.2, 1, 0.9, 0.4, 1, 0.7]]
)
def test_what_is_said_of_bars_is_true_of_them(bars: list[float]) -> None:
    shown, notice = asked(GAME, p=bars)
    assert ("infinite" in notice) == (0 in bars) == (shown["perplexity"] is None)
    assert ("best case" in notice) == (set(bars) == {1.0})
    if found := re.search(r"Perplexity (.*?) is the geometric mean", notice):
        assert float(found[1]) == pytest.approx(math.prod(1 / p for p in bars) ** (1 / 6), abs=0.005)


def test_bars_dragged_after_a_case_was_chosen_are_what_counts() -> None:
    """Asks that wait are merged, so a chosen case and a drag may arrive as one."""
    bars = [0.5] * len("achine")
    for case in ("zero", "network"):
        for wish in ({"case": case} | {"p": bars, "case": ""}, {"p": bars, "case": ""}):
            shown, _ = asked(GAME, Lecture({"scene": "6", "case": case}), **wish)
            assert (shown["case"], shown["perplexity"]) == ("", 2)
    shown, _ = asked(GAME, **{"p": bars, "case": ""} | {"case": "zero"})
    assert (shown["case"], shown["perplexity"]) == ("zero", None)


# ---- what models make of texts --------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "kind"), READERS)
def test_an_ending_is_paid_for_after_its_beginning(
    speak: Callable[[str], None], language: str, kind: str
) -> None:
    speak(language)
    shown, notice = asked(RAIN, kind=kind)
    model, beginning = examples.reader(kind), scored_texts.RAINING[language]
    assert (shown["kind"], shown["beginning"]) == (kind, beginning)
    assert str(len(beginning)) in notice
    for row, ending in zip(shown["rows"], scored_texts.ENDINGS[language], strict=True):
        paid = costs(model, beginning + ending)[len(beginning) :]
        mean = sum(paid) / len(paid)
        assert row["ending"] == ending
        assert row["bits"] == pytest.approx([c / math.log(2) for c in paid], abs=0.006)
        assert row["perplexity"] == pytest.approx(math.exp(mean), rel=1e-4)
        assert row["times"] == pytest.approx(model.vocabulary.size / math.exp(mean), rel=1e-4)
        assert row["reads"], "each of the three endings says what it tells"
    if kind in ("gru", "lstm"):
        good, odd, noise = (row["perplexity"] for row in shown["rows"])
        assert good < odd < model.vocabulary.size < noise


def test_of_an_ending_of_ones_own_only_numbers_are_said() -> None:
    shown, _ = asked(RAIN, endings=[None, None, " cats"])
    assert [bool(row["reads"]) for row in shown["rows"]] == [True, True, False]


def test_the_short_book_is_likelier_however_the_long_one_is_read() -> None:
    low, high = scene_6_perplexity.READ
    war, prince = perplexity.BOOKS
    worst_prince, best_war = prince * math.log10(high), war * math.log10(low)
    assert worst_prince < best_war, "so in between, too: a likelihood falls with perplexity"
    for one, other in product((low, 3, 30, high), repeat=2):
        shown, notice = asked(BOOKS, read=[one, other])
        long, short = shown["rows"]
        assert long["log10"] == pytest.approx(-war * math.log(one) / math.log(10))
        assert short["log10"] == pytest.approx(-prince * math.log(other) / math.log(10))
        assert (long["mean"], short["mean"]) == pytest.approx((math.log(one), math.log(other)))
        assert long["log10"] < short["log10"]
        assert "The Little Prince is likelier" in notice


@pytest.mark.parametrize(("language", "kind"), READERS)
def test_no_further_character_raises_a_likelihood(
    speak: Callable[[str], None], language: str, kind: str
) -> None:
    speak(language)
    shown, _ = asked(LENGTH, kind=kind)
    for row, text in zip(
        shown["rows"], (scored_texts.GOOD[language], scored_texts.POOR[language]), strict=True
    ):
        total, paid = 0.0, costs(examples.reader(kind), text)
        assert (row["text"], len(row["log10"])) == (text, len(text))
        for n, cost in enumerate(paid, start=1):
            assert cost >= 0
            total += cost
            assert row["log10"][n - 1] == pytest.approx(-total / math.log(10), abs=2e-3)
            assert row["perplexity"][n - 1] == pytest.approx(min(math.exp(total / n), 1e6), rel=1e-3)
    long, short = ({k: row[k][row["cut"] - 1] for k in ("log10", "perplexity")} for row in shown["rows"])
    assert long["log10"] < short["log10"], "the nonsense is likelier"
    assert long["perplexity"] < short["perplexity"]


@pytest.mark.parametrize(("language", "kind"), READERS)
def test_a_text_takes_the_bits_of_its_characters(
    speak: Callable[[str], None], language: str, kind: str
) -> None:
    speak(language)
    shown, notice = asked(BITS, kind=kind)
    text, model = scored_texts.STORED[language], examples.reader(kind)
    paid = [cost / math.log(2) for cost in costs(model, text)]
    rows = {row["name"]: row["bits"] for row in shown["rows"]}
    assert shown["surprisals"] == pytest.approx(paid, abs=2e-3)
    assert rows[kind] == pytest.approx(sum(paid), rel=1e-4)
    assert rows["uniform"] == pytest.approx(len(text) * math.log2(model.vocabulary.size))
    assert rows["bytes"] == 8 * len(text.encode()) == (8 if language == "en" else 24) * len(text)
    assert shown["mean"] == pytest.approx(sum(paid) / len(text), rel=1e-4)
    assert shown["perplexity"] == pytest.approx(2 ** (sum(paid) / len(text)), rel=1e-3)
    assert rows.keys() == {"bytes", "uniform", *examples.kinds()}
    best = min(examples.kinds(), key=lambda name: rows[name])
    assert rows[best] < rows["uniform"] < rows["bytes"]
    assert f"{rows[best]:,.0f}" in notice
    stored = 8 * (len(compress(model, text)) - FIXED)
    assert sum(paid) - 8 < stored < sum(paid) + 32, "an arithmetic coder comes near"


def test_a_text_that_no_model_expects_is_said_to_be_none() -> None:
    shown, notice = asked(BITS, stored="zqxjkv zqzqzq xjxjxj qkqkqk vzvz")
    rows = {row["name"]: row["bits"] for row in shown["rows"]}
    assert min(rows[kind] for kind in examples.KINDS) > rows["uniform"]
    assert notice.startswith("No model stores this text in fewer bits")


# ---- by heart -------------------------------------------------------------------------------------------


def test_what_is_said_of_a_pass_is_true_of_every_pass() -> None:
    run, lecture = memorising.recorded(), Lecture({"scene": "6"})
    said = set()
    for n, (train, held) in enumerate(zip(run.train, run.held_out, strict=True), start=1):
        shown, notice = asked(HEART, lecture, **{"pass": n})
        assert (shown["train"][n - 1], shown["held"][n - 1]) == (train, held)
        said.add(notice.split(".")[-2][:20])
        if "both perplexities are below" in notice:
            assert max(train, held) < run.uniform
            assert n <= shown["best"]
            continue
        assert f"down to {train:.2f}" in notice
        assert train < min(run.train[: run.best + 1]), "down"
        assert held > min(run.held_out), "up again"
        assert ("worse than a uniform guess" in notice) == (held > run.uniform)
    assert len(said) >= 3
    assert shown["held"][shown["best"] - 1] == min(run.held_out)
    assert run.train[-1] < 1.05 < run.uniform < run.held_out[-1]


# ---- Shannon's game -------------------------------------------------------------------------------------


def test_a_game_of_guesses_and_its_address() -> None:
    lecture = Lecture({"scene": "6"})
    _, hidden = shannon.SENTENCES[0]
    start, _ = asked(SHANNON, lecture)
    assert hidden[:8] not in str(start), "what is to be guessed stays on the server"
    shown, _ = asked(SHANNON, lecture, history="xh" + hidden[1:6])
    assert shown["shown"] == hidden[:6]
    assert shown["ranks"] == [5, 1, 0, 0, 0, 0]
    assert {m["kind"] for m in shown["models"]} == set(shannon_game.PLAYERS)
    again = Lecture(answered(lecture)["query"])
    assert answered(again)["data"] == shown
    assert asked(SHANNON, lecture, sentence=1, history="")[0]["shown"] == ""


def test_bounds_are_drawn_from_enough_letters_on() -> None:
    hidden = shannon.SENTENCES[0][1]
    for count in (3, shannon.LEAST - 1):
        shown, _ = asked(SHANNON, history=hidden[:count])
        assert [shown["class"], *(m["bounds"] for m in shown["models"])] == [None] * 4
    shown, _ = asked(SHANNON, history=hidden[: shannon.LEAST])
    for found in (m["bounds"] for m in shown["models"]):
        assert found["interval"][0] <= found["lower"] <= found["upper"] <= found["interval"][1]


def test_what_a_model_pays_in_the_game_is_its_share_among_27_symbols() -> None:
    given, hidden = shannon.SENTENCES[0]
    shown, _ = asked(SHANNON, history=hidden[:5])
    for player in shown["models"]:
        model = models.load(f"timemachine-{player['kind']}")
        ids, first = model.vocabulary.encode(given + hidden[:5]), len(given)
        allowed = model.vocabulary.encode(shannon.ALPHABET)
        if isinstance(model, NgramModel):
            rows = [model.log_probs(ids[:t]) for t in range(first, len(ids))]
        else:
            rows = list(rnnviz.trace(model, given + hidden[:5]).log_probs[first:-1])
        paid = [
            -math.log2(math.exp(row[came]) / sum(math.exp(row[one]) for one in allowed))
            for row, came in zip(rows, ids[first:], strict=True)
        ]
        assert player["bits"] == pytest.approx(sum(paid) / 5, rel=1e-4)


# ---- two languages --------------------------------------------------------------------------------------


def test_each_language_reads_its_own_texts_and_what_was_typed_stays(speak: Callable[[str], None]) -> None:
    lecture = Lecture({"scene": "6", "lang": "zh"})
    speak("zh")
    assert asked(RAIN, lecture)[0]["beginning"] == scored_texts.RAINING["zh"]
    assert asked(RAIN, lecture)[0]["kinds"] == ["gru", "6gram"]
    assert answered(lecture)["query"] == {"scene": "6", "step": str(RAIN + 1)}, "the address says nothing"
    shown, _ = asked(RAIN, lecture, endings=[None, "下山去了", None])
    assert answered(lecture)["query"]["e1"] == "下山去了"
    speak("en")
    rows = asked(RAIN, lecture)[0]["rows"]
    assert [row["ending"] for row in rows] == [" outside", "下山去了", " piouw;kcj pwepoiut"]
    assert len(shown["rows"]) == 3
    assert asked(LENGTH, lecture)[0]["rows"][0]["cut"] == scored_texts.CUTS["en"][0]
    speak("zh")
    again = Lecture(answered(lecture, {"step": RAIN})["query"])
    assert answered(again)["data"] == asked(RAIN, lecture)[0]


def test_no_sentence_is_longer_than_25_words() -> None:
    said = [asked(step)[1] for step in range(scene_6_perplexity.STEPS)]
    said += [asked(GAME, case=case)[1] for case in scene_6_perplexity.CASES]
    said += [asked(HEART, **{"pass": n})[1] for n in (1, 50, 500)]
    for sentence in re.split(r"(?<=[.:]) ", " ".join(said)):
        assert len(sentence.split()) <= 25, sentence
