"""What findings say in each language: the one file of sentences, and how numbers are written."""

import locale
import math
import re
from pathlib import Path

import pytest

from rnnviz import sentences
from rnnviz.findings import Number, Sentence, Table, count, one_row, stack_tables, words
from rnnviz.sentences import catalogue, describe, format_number

ROOT = Path(sentences.__file__).parent


def _places(template: str) -> set[str]:
    return set(re.findall(r"{(\w+)}", template))


def test_every_sentence_stands_in_all_languages_with_the_same_values() -> None:
    for code, entry in catalogue().items():
        assert entry.keys() <= {*sentences.LANGUAGES, "level"}, code
        english = entry["en"] if isinstance(entry["en"], list) else [entry["en"]]
        assert len(english) <= 2, code
        assert len(english) == 1 or "n" in _places(english[0]), code
        assert all(_places(sentence) == _places(entry["zh"]) for sentence in english), code
        assert entry.get("level", "said") in sentences.LEVELS, code
        for inside, after in re.findall(r"[*]{2}([^*]+)[*]{2}(.?)", "\n".join([*english, entry["zh"]])):
            # Markdown doesn't end it between punctuation and a letter.
            assert re.search(r"[\w}]$", inside) or not re.match(r"[\w{]", after), inside
        chinese = re.search(r"[\u3000-\u9fff\uff00-\uffef]|^[^A-Za-z]*({\w+}[^A-Za-z]*)+$", entry["zh"])
        assert chinese, f"{code} isn't Chinese"


def test_no_sentence_is_left_that_nobody_says() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py"))
    stems = set(re.findall(r"[\"'f]([a-z]+\.[a-z-]*)", code)) | set(re.findall(r'"([a-z]+)"', code))
    unsaid = [key for key in catalogue() if not any(key.startswith(stem) for stem in stems)]
    assert not unsaid


@pytest.mark.parametrize(
    ("number", "expected", "language"),
    [
        *(
            (number, expected, "en")
            for number, expected in (
                (Number(None), "–"),
                (Number(float("nan")), "–"),
                (Number(-0.0123), "−0.012"),
                (Number(float("-inf")), "−∞"),
                (Number(0.12345, "signed", 2), "+0.12"),
                (count(40_000), "40,000"),
                (Number(0.0, "percent"), "0 %"),
                (Number(0.0004, "percent"), "under 0.1 %"),
                (Number(0.043, "percent"), "4.3 %"),
                (Number(0.9905, "percent"), "99 %"),
                (Number(0.9991, "percent"), "over 99 %"),
                (Number(1.0, "percent"), "100 %"),
                (Number(0.978, "whole percent"), "98 %"),
                (Number(3.7, "perplexity", 2), "3.70"),
                (Number(1204.4, "perplexity"), "1,204"),
                (Number(9.87e7, "perplexity"), "98.7 million"),
                (Number(999.994, "perplexity", 2), "999.99"),
                (Number(1e12, "perplexity"), "far beyond guessing"),
                (Number(math.inf, "perplexity"), "far beyond guessing"),
                (Number(0.00213, "significant"), "0.0021"),
                (Number(0.2134, "significant"), "0.213"),
                (Number(0.00001, "significant"), "< 0.0001"),
            )
        ),
        (Number(9.87e7, "perplexity"), "9870万", "zh"),
        (Number(1.5e9, "perplexity"), "15亿", "zh"),
    ],
)
def test_a_number_is_rounded_where_it_is_read(number: Number, expected: str, language: str) -> None:
    assert format_number(number, language) == expected


def test_singular_and_plural_have_sentences() -> None:
    code, two = (describe(words("search.above-chance", n=count(n)), "en") for n in (1, 2))
    assert code.startswith("1 unit is")
    assert two.startswith("2 units are")


def test_a_readers_text_is_escaped_and_our_words_are_not() -> None:
    sentence = words("search.unanswered", target="a*b")
    assert describe(sentence, "en", lambda text: f"<{text}>").startswith("<a*b> is the same")
    sentence = words("perturbation.remembered", model="`**k", bits="1", n=2)
    assert describe(sentence, "en", marked=False).startswith("`**k predicts")


@pytest.mark.parametrize(
    ("variables", "language"),
    [({"RNNVIZ_LANGUAGE": "zh-CN"}, "zh"), ({"RNNVIZ_LANGUAGE": "fr"}, "en"), ({}, "en")],
)
def test_a_terminal_speaks_the_language_asked_for(
    variables: dict[str, str], language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RNNVIZ_LANGUAGE", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert sentences.terminal_language() == language


def test_a_terminal_speaks_a_language_where_the_system_has_no_locale_of_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("RNNVIZ_LANGUAGE", raising=False)
    monkeypatch.delattr(locale, "LC_MESSAGES", raising=False)
    assert sentences.terminal_language() in sentences.LANGUAGES


def test_rows_stack_under_the_columns_of_the_first() -> None:
    best = [(Sentence("head.best", {"n": n}), Number(n / 10)) for n in (1, 2)]  # one code, two columns
    first = one_row((Sentence("head.target"), "quotes"), *best)
    other = Table([Sentence("head.target")], [["digit"]])
    assert stack_tables([first, other]).rows == [["quotes", Number(0.1), Number(0.2)], ["digit", None, None]]
