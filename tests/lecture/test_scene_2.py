"""Scene 2's numbers: the layers by loops, and who can tell two texts apart."""

import numpy as np
import pytest

from rnnviz.lecture import scene_2_memoryless as scene
from rnnviz.lecture.machine import SYMBOLS, WORD, Machine
from rnnviz.lecture.primitives import Node
from rnnviz.lecture.steps import SEEN
from tests.support.lecture import nodes_of, step_of

NET = Machine().net


def matrices(picture: Node) -> dict[str, Node]:
    """The matrices of a picture, by what they stand for."""
    return {part["stands"]: part for part in nodes_of(picture, "matrix") if "stands" in part}


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_every_row_of_the_layer_is_a_row_of_weights_and_the_bias_bent(seed: int) -> None:
    numbers = matrices(scene.hidden(seed)[0])
    pairs = numbers["X"]["rows"]
    assert len(set(pairs)) == 3
    assert all(pair.replace("→", "") in WORD for pair in pairs)
    by_hand = np.tanh([NET.W_xh[SYMBOLS.index(pair[0])] + NET.b_h for pair in pairs])
    np.testing.assert_allclose(numbers["H"]["values"], by_hand, atol=1e-4)


@pytest.mark.parametrize(("left", "right"), [("the cat", "we met"), ("a lamp", "the stop")])
def test_only_the_network_without_a_state_takes_texts_that_end_alike_for_the_same(
    left: str, right: str
) -> None:
    picture, _notice = step_of("prediction").draw({"left": left, "right": right, "pick": SEEN})
    mlp, mlp_other, rnn, rnn_other = (part["rows"] for part in nodes_of(picture, "bars"))
    assert mlp == mlp_other
    assert rnn != rnn_other
    largest = [part["words"] for part in nodes_of(picture, "text") if "largest" in part["words"]]
    assert largest[0] == "largest difference: 0.0 %"
    assert float(largest[1].split()[-2]) > 1


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("prediction", {"left": "今天晴", "right": "明天雨", "pick": SEEN}),
        ("flow", {"text": "今天晴，明天雨"}),
        ("bits", {"stored": "今天晴"}),
    ],
)
def test_characters_that_the_model_has_never_read_are_named(name: str, texts: dict[str, object]) -> None:
    _picture, notice = step_of(name).draw({**step_of(name).initial_values, **texts})
    assert "has never read 今 天 晴" in str(notice)
