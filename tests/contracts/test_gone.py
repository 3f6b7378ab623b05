"""Options and arguments of 2.0.0 that are gone: each answers with one sentence."""

import re
from collections.abc import Callable

import pytest

import rnnviz
from rnnviz import units
from rnnviz.cli import main
from rnnviz.errors import ConfigError
from tests.support.models import TEXT, tiny
from tests.support.refused import assert_one_sentence, assert_refused

OPTIONS = {
    "match --text abc --span 0:3 --index kept": (
        "--index is gone: states stay in memory, and a folder of indexes is of no use any more: remove it"
    ),
    "perplexity book.txt --mix counts": "--mix is gone: the repository's examples/6_mix_and_adapt.py",
    "train --corpus machine --log-to tensorboard": "--log-to is gone: a run's events.jsonl has every figure",
    "perplexity --dynamic book.txt": "--dynamic is gone: the repository's examples/6_mix_and_adapt.py",
}


@pytest.mark.parametrize("words", OPTIONS)
def test_an_option_says_in_one_line_what_to_write_and_ends_with_2(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        main(words.split())
    sentence = capsys.readouterr()
    assert sentence.out == ""
    assert sentence.err.startswith(f"rnnviz: {OPTIONS[words]}")
    assert_one_sentence(sentence.err.removesuffix("\n"))


ARGUMENTS: dict[str, Callable[[], object]] = {
    "folder is gone: states stay in memory": lambda: units.match(
        tiny("gru"), "the", 0, 3, TEXT, folder="kept"
    ),
    "log_to is gone: a run's events.jsonl has every figure": lambda: rnnviz.follow(
        "mine", log_to="tensorboard"
    ),
}


@pytest.mark.parametrize("sentence", ARGUMENTS)
def test_an_argument_says_in_one_sentence_what_to_write(sentence: str) -> None:
    assert_refused(ARGUMENTS[sentence], ConfigError, f"^{re.escape(sentence)}")
