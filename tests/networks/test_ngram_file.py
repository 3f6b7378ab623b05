"""The n-gram model as a file: what comes back, and what is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from rnnviz.errors import CheckpointError
from rnnviz.networks.ngram import NgramModel
from tests.support.ngrams import ABRACADABRA, ORDERS, SEA_SHELLS


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("text", [SEA_SHELLS, "machine", "a"])
def test_storage_gives_back_the_same_model(order: int, text: str) -> None:
    model = NgramModel.fit(text, order=order, name="shells")
    tensors = model.to_tensors()
    again = NgramModel.from_tensors(tensors, model.vocabulary, order, name="shells", card={"title": "Shells"})
    ids = model.vocabulary.encode(SEA_SHELLS + "?!")
    np.testing.assert_array_equal(again.score(ids), model.score(ids))
    assert (again.name, again.card, again.normaliser) == ("shells", {"title": "Shells"}, "newlines")
    assert (again.order, again.parameter_count) == (order, model.parameter_count)


@pytest.mark.parametrize("repeated", [40_000, 65_535, 70_000])
def test_large_counts_keep_their_value(repeated: int) -> None:
    model = NgramModel.fit("ab" * repeated + "ac", order=2)
    tensors = model.to_tensors()
    assert tensors["counts"].dtype == np.uint16
    again = NgramModel.from_tensors(tensors, model.vocabulary, 2)
    np.testing.assert_array_equal(again.log_probs([1]), model.log_probs([1]))


def test_large_counts_of_2_0_0_are_read() -> None:
    model = NgramModel.fit("ab" * 70_000 + "ac", order=2)
    tensors = model.to_tensors()
    counts = tensors["counts"].astype(np.uint32)
    counts[counts == 65_535] = tensors.pop("counts.large")
    for stored in (counts, np.where(counts == 70_000, 65_535, counts)):  # the second has that very count
        again = NgramModel.from_tensors({**tensors, "counts": stored.copy()}, model.vocabulary, 2)
        np.testing.assert_array_equal(
            np.sort(again.to_tensors()["counts"]), np.sort(np.minimum(stored, 65_535))
        )
    with pytest.raises(CheckpointError, match="4 n-grams need as many counts; there are 5"):
        NgramModel.from_tensors(
            model.to_tensors() | {"counts.large": np.array([70_000] * 3, np.uint32)}, model.vocabulary, 2
        )


def entry(key: str, place: int | slice, value: int) -> Callable[[dict[str, Any]], None]:
    """Damage that writes a value into a tensor."""
    return lambda tensors: tensors[key].__setitem__(place, value)


def bytes_of(values: npt.ArrayLike) -> npt.NDArray[np.uint8]:
    return np.asarray(values, np.uint8)


STORED = (
    "an order-3 n-gram model is stored as children.1, children.2, counts, symbols.2, symbols.3; received "
)
ROW = "the tensor 'counts' is a row of unsigned integers of 8 to 32 bits; received "
UNFIT = "and the children before it do not fit together"
HOSTILE = {
    "a tensor is missing": (
        lambda t: t.pop("counts"),
        f"{STORED}children.1, children.2, symbols.2, symbols.3",
    ),
    "one too many": (
        lambda t: t.update(more=t["counts"]),
        f"{STORED}children.1, children.2, counts, more, symbols.2, symbols.3",
    ),
    "floating point": (
        lambda t: t.update(counts=t["counts"].astype(np.float32)),
        f"{ROW}float32 of shape (8,)",
    ),
    "signed": (lambda t: t.update(counts=t["counts"].astype(np.int16)), f"{ROW}int16 of shape (8,)"),
    "a matrix": (lambda t: t.update(counts=t["counts"][None]), f"{ROW}uint8 of shape (1, 8)"),
    "a list": (lambda t: t.update(counts=[1, 2]), f"{ROW}list"),
    "too short": (lambda t: t.update(counts=t["counts"][:-1]), "8 n-grams need as many counts; there are 7"),
    "a count of 0": (entry("counts", 0, 0), "an n-gram has the count 0, or there is none"),
    "no such symbol": (entry("symbols.2", -1, 200), "symbols.2 goes beyond a vocabulary of 6"),
    "the start symbol": (entry("symbols.3", -1, 6), "symbols.3 goes beyond a vocabulary of 6"),
    "too many children": (entry("children.1", 0, 255), f"symbols.2 {UNFIT}"),
    "children of a large sum": (
        lambda t: t.update({"children.2": np.full(len(t["children.2"]), 2**32 - 1, np.uint32)}),
        f"symbols.3 {UNFIT}",
    ),
    "children for other parents": (
        lambda t: t.update({"children.1": t["children.1"][1:]}),
        f"symbols.2 {UNFIT}",
    ),
    "out of order": (lambda t: t.update({"symbols.2": t["symbols.2"][::-1]}), "symbols.2 is not in order"),
    "twice the same": (entry("symbols.2", slice(None), 1), "symbols.2 is not in order"),
    "nothing at all": (
        lambda t: t.update({k: np.zeros(7 if k == "children.1" else 0, np.uint8) for k in t}),
        "an n-gram has the count 0, or there is none",
    ),
    "a suffix that is nowhere": (
        entry("symbols.3", -1, 5),
        "an n-gram is there without the shorter n-gram at its end",
    ),
    "two beginnings": (
        # <s>b is there too, and ends nothing, begins nothing.
        lambda t: t.update(
            {
                "children.1": bytes_of([*t["children.1"][:-1], 2]),
                "symbols.2": bytes_of([*t["symbols.2"], 2]),
                "children.2": bytes_of([*t["children.2"], 0]),
            }
        ),
        "the text begins in more than one way",
    ),
    "nothing before": (
        # cb is there, though no three symbols end in it: its count would be 0, its probability negative.
        lambda t: t.update(
            {
                "children.1": t["children.1"] + np.array([0, 0, 0, 1, 0, 0, 0], np.uint8),
                "symbols.2": np.insert(t["symbols.2"], t["children.1"][:4].sum(), 2),
                "children.2": np.insert(t["children.2"], t["children.1"][:4].sum(), 0),
            }
        ),
        "an n-gram is there without the longer n-grams that end in it",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_damaged_tensors_are_refused(case: str) -> None:
    damage, message = HOSTILE[case]
    tensors = NgramModel.fit("abracadabra", order=3, vocabulary=ABRACADABRA).to_tensors()
    damage(tensors)
    with pytest.raises(CheckpointError) as refused:
        NgramModel.from_tensors(tensors, ABRACADABRA, 3)
    assert str(refused.value) == f"these are not the n-gram counts of a text: {message}; the file is damaged"
