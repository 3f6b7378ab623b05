"""Texts that a model would know better if they were written in another way: what is counted, and said."""

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.scoring.perplexity import UniformModel, perplexity, score
from rnnviz.text.characters import REWRITINGS
from rnnviz.text.vocabulary import UNKNOWN_ID, Vocabulary

VOCABULARY = Vocabulary(tuple(sorted(set("aeiouctrsdhwn \n\"'-.éàệ가각が\u00e7"))))
MODEL = UniformModel(VOCABULARY)


def nfd(text: str) -> str:
    return unicodedata.normalize("NFD", text)


@pytest.mark.parametrize(
    ("text", "spared"),
    [
        ("an idea, at 'once' - and \"so\"...", {}),
        ("“oui”, ‘non’, „da“ and it’s", {"straight": 7}),
        ("so — and – then… a\u00a0word", {"plain": 4}),
        (nfd("café à ệ"), {"composed": 4}),
        (nfd("각가"), {"composed": 5}),
        (nfd("が"), {"composed": 2}),
        (nfd("ïëü"), {}),  # unknown in either form
        ("道可道", {}),
    ],
)
def test_rewriting_says_what_it_would_spare(text: str, spared: dict[str, int]) -> None:
    score_found = perplexity(MODEL, text=text)
    assert {name: n for name, n in score_found.rewritings.items() if n} == spared
    rewritings = [
        sentence.code.rpartition(".")[2]
        for sentence in score_found.sentences()
        if ".rewriting." in sentence.code
    ]
    assert rewritings == list(spared)
    for name, n in spared.items():
        assert perplexity(MODEL, text=REWRITINGS[name](text)).unknown == score_found.unknown - n


def test_readable_characters_offer_no_rewriting() -> None:
    curly = UniformModel(Vocabulary(tuple(sorted("Ias“”’"))))
    assert not [n for n in perplexity(curly, text="“I’s”").rewritings.values() if n > 0]
    folding = UniformModel(VOCABULARY, normaliser="typography")
    assert not any(perplexity(folding, text="“I’s” – so…").rewritings.values())


@given(
    st.text(alphabet="ae\u0301\u0323\u0302“’…c\u1100\u1161\u11a8", min_size=1, max_size=40), st.integers(1, 9)
)
def test_cut_of_the_text_changes_no_rewriting(text: str, piece: int) -> None:
    marks = max(
        len(marks_run) for marks_run in text.replace("a", " ").replace("e", " ").replace("c", " ").split(" ")
    )
    if marks > 6:
        return
    whole: Any = perplexity(MODEL, text=text)
    assert score(MODEL, text=text, piece_chars=piece).rewritings == whole.rewritings
    for name, rewrite in REWRITINGS.items():
        unknown = int((VOCABULARY.encode(rewrite(text)) == UNKNOWN_ID).sum())
        assert whole.rewritings[name] == whole.unknown - unknown
