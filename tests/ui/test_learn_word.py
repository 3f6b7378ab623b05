"""Scenes 2, 3 and 5 show one small network: every number is torch's, every comparison is true."""

from typing import Any

import numpy as np
import pytest
import torch

from rnnviz.lecture import word
from rnnviz.lecture.machine import NAMES, SYMBOLS, Machine
from rnnviz.ui.pages.learn import scenes
from rnnviz.ui.pages.learn.session import Lecture
from tests.ui.test_learn import answered


def shown(number: int, name: str, **ask: Any) -> tuple[str, dict[str, Any]]:
    """What is said, and what is drawn, after an ask at a scene's step."""
    lecture = Lecture({"scene": str(number)})
    sent = answered(lecture, {"step": scenes.scene(number).NAMES.index(name), "ask": ask})
    return sent["notice"], sent["data"]


def read(texts: list[str], seed: int = 2) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """(H_t, O_t) of every step by torch's own layers, a row for each text."""
    net = Machine(seed).net
    layer = torch.nn.RNN(7, 4, dtype=torch.float64)
    W_xh, W_hh, b_h, W_hq, b_q = (torch.tensor(getattr(net, name)) for name in NAMES)
    layer.load_state_dict(
        {"weight_ih_l0": W_xh.T, "weight_hh_l0": W_hh.T, "bias_ih_l0": b_h, "bias_hh_l0": torch.zeros(4)}
    )
    ids = torch.tensor([[SYMBOLS.index(c) for c in text] for text in texts]).T
    states = layer(torch.nn.functional.one_hot(ids, 7).double())[0].detach()  # (T, n, H)
    return [(state, torch.nn.functional.linear(state, W_hq.T, b_q)) for state in states]


@pytest.mark.parametrize("seed", range(4))
def test_the_layers_of_a_minibatch_are_torchs(seed: int) -> None:
    for name in ("hidden", "output"):
        _, found = shown(2, name, pairs=seed)
        firsts, nexts = zip(*found["pairs"], strict=True)
        ((hidden, output),) = read(list(firsts))  # of one step: with an empty state W_hh adds nothing
        np.testing.assert_allclose(found["H"], hidden.numpy(), rtol=1e-9)
        np.testing.assert_allclose(found["O"], output.numpy(), rtol=1e-9)
        np.testing.assert_allclose(found["P"], output.softmax(1).numpy(), rtol=1e-9)
        labels = torch.tensor([SYMBOLS.index(c) for c in nexts])
        assert found["loss"] == pytest.approx(float(torch.nn.functional.cross_entropy(output, labels)))
        shapes = [np.shape(found[key]) for key in ("X", "W_xh", "b_h", "H", "W_hq", "b_q", "O")]
        assert shapes == [(3, 7), (7, 4), (4,), (3, 4), (4, 7), (7,), (3, 7)]


@pytest.mark.parametrize("typed", ["machin", "m", "niche", "aaaa"])
@pytest.mark.parametrize("name", ["first", "second", "third", "parameters", "apart", "adjacent", "minibatch"])
def test_every_number_of_the_walk_is_torchs(name: str, typed: str) -> None:
    for t in range(1, len(typed) + 1):
        said, found = shown(3, name, word=typed, t=t)
        assert found["t"] == t
        assert found["texts"] == ([typed, "cinema"[: len(typed)]] if name == "minibatch" else [typed])
        steps = read(found["texts"])
        for k, (state, output) in enumerate(steps):
            np.testing.assert_allclose(found["states"][k + 1], state.numpy(), atol=1e-4)
            np.testing.assert_allclose(found["outputs"][k], output.numpy(), atol=1e-4)
        assert not np.any(found["states"][0])
        np.testing.assert_allclose(found["state"], steps[t - 1][0].numpy(), rtol=1e-9)
        np.testing.assert_allclose(found["output"], steps[t - 1][1].numpy(), rtol=1e-9)
        parts = np.array(found["from_input"]) + found["from_state"] + found["b_h"]
        np.testing.assert_allclose(found["pre_activation"], parts, rtol=1e-9)
        if "so far this is scene 2" in said:
            assert t == 1
            assert not np.any(found["from_state"]), "the term adds nothing yet"
        assert found["grown"] or t == 1, "a term that is not drawn is zero"


def test_the_parameters_are_counted_and_dont_grow() -> None:
    counts = set()
    for typed in ("m", "mac", "machin"):
        said, found = shown(3, "parameters", word=typed)
        layer, readout = torch.nn.RNN(7, 4), torch.nn.Linear(4, 7)
        theirs = (
            sum(p.numel() for p in (*layer.parameters(), *readout.parameters())) - 4
        )  # torch has two biases
        assert found["parameters"] == sum(found["sizes"].values()) == theirs
        counts.add(found["parameters"])
        assert "does not grow with T" in said
    assert counts == {83}
    assert found["tables"] == [7, 49, 343, 2401, 16807, 117649]


def test_rows_share_weights_and_never_states() -> None:
    said, both = shown(3, "minibatch")
    _, alone = shown(3, "third", word="cinema")
    assert "never their states" in said
    np.testing.assert_allclose(np.array(both["states"])[:, 1], np.array(alone["states"])[:, 0], atol=1e-4)


def test_without_training_the_word_is_the_machine_with_six_steps() -> None:
    _, found = shown(5, "softmax")
    assert ("".join(found["inputs"]), "".join(found["labels"])) == ("machin", "achine")
    outputs = torch.cat([output for _, output in read(["machin"])])
    np.testing.assert_allclose(found["p"], outputs.softmax(1).numpy(), atol=1e-4)
    labels = torch.tensor([SYMBOLS.index(c) for c in "achine"])
    losses = torch.nn.functional.cross_entropy(outputs, labels, reduction="none")
    np.testing.assert_allclose(found["losses"], losses.numpy(), atol=1e-4)
    assert found["perplexity"] == pytest.approx(float(losses.mean().exp()))


def test_what_is_said_of_a_changed_letter_is_what_it_changes() -> None:
    seen = set()
    for place in range(7):
        for letter in SYMBOLS:
            letters = "machine"[:place] + letter + "machine"[place + 1 :]
            said, found = shown(5, "path", letters=letters)
            output = read([letters[:3]])[2][1]
            np.testing.assert_allclose(found["p"], output.softmax(1)[0].numpy(), rtol=1e-9)
            loss = torch.nn.functional.cross_entropy(output, torch.tensor([SYMBOLS.index(letters[3])]))
            assert found["losses"][1] == pytest.approx(float(loss))
            assert ("has changed: one of the characters" in said) == (found["change"] != 0)
            assert found["change"] == 0 or found["change"] > 0.005, "it can be seen in two decimals"
            same = found["losses"][0] == found["losses"][1]
            assert ("loss are as before" in said or letters == "machine") == (same and found["change"] == 0)
            if "Its loss has changed" in said:
                assert not same
                assert found["change"] == 0
            seen.add(said)
    assert len(seen) == 4


@pytest.mark.parametrize("wrong", ["machin", "machines", "maching", "", 7])
def test_letters_of_another_kind_are_left_out(wrong: object) -> None:
    assert shown(5, "path", letters=wrong)[1]["letters"] == "machine"


def test_characters_are_held_against_words() -> None:
    said, found = shown(5, "why")
    (characters, words) = found["kinds"]
    assert characters[:1] + words[:1] == [28, 4_580]
    assert "5.3 times as many time steps" in said
    assert characters[2] / words[2] == pytest.approx(5.3, abs=0.05)


@pytest.mark.parametrize("n", range(1, 6))
def test_a_minibatch_of_windows_has_a_row_for_each(n: int) -> None:
    for t in range(1, 9):
        notice, found = shown(5, "batch", n=n, t=t)
        assert notice.startswith("One place" if n == 1 else "Several places")
        assert np.shape(found["x"]) == (n, 28) == (n, len(found["symbols"]))
        assert np.sum(found["x"], axis=1).tolist() == [1] * n
        column = [window[t - 1] for window in found["windows"]]
        assert [found["symbols"][row.index(1)] for row in found["x"]] == column


@pytest.mark.parametrize("typed", ["machine", "aa", "ab", "mississippi"])
def test_what_is_said_of_the_training_is_what_it_does(typed: str) -> None:
    for seed in (2, 3):
        for at in (0, word.STEPS):
            notice, found = shown(5, "writes", word=typed, seed=seed, at=at)
            assert ("writes the word" in notice) == (found["written"] == typed)
            assert "memorised" not in notice or at > 0, "what was not trained has memorised nothing"
            assert f"“{found['written']}”" in notice or found["written"] == typed
            said, found = shown(5, "train", word=typed, seed=seed, at=at)
            perplexity = word.run(typed, seed).at(at).perplexity
            assert f"perplexity is {perplexity:.2f}" in said
            assert found["perplexity"] == perplexity
