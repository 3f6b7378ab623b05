"""Texts for counts, and models that count them."""

from rnnviz.networks.ngram import NgramModel
from rnnviz.text.vocabulary import Vocabulary

SEA_SHELLS = (
    "She sells sea shells by the sea shore; the shells she sells are sea shells, I'm sure.\n"
    "So if she sells sea shells on the sea shore, then I'm sure she sells sea-shore shells.\n"
)

ABRACADABRA = Vocabulary(("a", "b", "c", "d", "r"))
ORDERS = range(1, 7)


def fitted(order: int, text: str = SEA_SHELLS) -> NgramModel:
    return NgramModel.fit(text, order=order)
