"""What stands where a text to train on belongs."""

from pathlib import Path

import pytest

from rnnviz.text import corpora
from rnnviz.text.corpora import as_corpus


def test_a_text_a_path_a_name_and_a_corpus_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("book.txt").write_text("A book.\r\n")
    assert as_corpus("a wet coat and a lamp. ").text == "a wet coat and a lamp. "
    assert as_corpus(Path("book.txt")).text == "A book.\n"
    assert as_corpus("machine") == corpora.read("machine")
    corpus = corpora.from_text("a lamp")
    assert as_corpus(corpus) is corpus


def test_a_sentence_is_a_text() -> None:
    assert as_corpus("It came back.").text == "It came back."
    assert as_corpus("abracadabra " * 2).text == "abracadabra " * 2
    assert as_corpus("ab" * 30).characters == 60
    assert as_corpus("x" * 5000 + ".txt").characters == 5004
