"""Scene 7 without a browser: each number against torch or a plain loop, each sentence over its range."""

import math
import re
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import torch

from rnnviz import gradients
from rnnviz.lecture import backwards, cost, questions
from rnnviz.lecture.machine import Machine
from rnnviz.ui.pages.learn import models, scene_7_powers, scene_7_truncation
from rnnviz.ui.pages.learn.scene_7_backwards import CLIP, COST, CUT, DIAL, FLOW, RANDOM, WORD
from rnnviz.ui.pages.learn.session import Lecture
from tests.lecture.test_machine import by_torch
from tests.ui.test_learn import answered


def asked(step: int, lecture: Lecture | None = None, **ask: Any) -> tuple[dict[str, Any], str]:
    """What is drawn at a step after an ask, and what to notice in it."""
    sent = answered(lecture or Lecture({"scene": "7"}), {"step": step, "ask": ask})
    return sent["data"], sent["notice"]


def read(number: str) -> float:
    """A number as it is written for readers: "9.7 × 10⁻⁴"."""
    assert "e" not in number
    digits, _, power = number.partition(" × 10")
    return float(digits) * 10.0 ** int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")) or 0)


# ---- the word, step by step -----------------------------------------------------------------------------


@pytest.mark.parametrize("steps", range(2, 7))
def test_every_number_of_the_way_back_is_torchs(steps: int) -> None:
    shown, _ = asked(WORD, steps=steps)
    theirs = by_torch(Machine(steps=steps))
    for mine, name in (("output", "∂output"), ("state", "∂state"), ("losses", "losses")):
        np.testing.assert_allclose(shown[mine], theirs[name].numpy(), atol=6e-5)
    states = theirs["states"].numpy()
    np.testing.assert_allclose(shown["before"][1:], states[:-1], atol=6e-5)
    np.testing.assert_allclose(shown["slope"], 1 - states**2, atol=6e-5)
    np.testing.assert_allclose(shown["delta"], theirs["∂state"].numpy() * (1 - states**2), atol=6e-5)
    np.testing.assert_allclose(shown["added"][0], theirs["W_hh"].numpy(), atol=6e-5)
    terms = np.array(shown["terms"])
    for t in range(steps):
        np.testing.assert_allclose(shown["added"][t], terms[t:].sum(axis=0), atol=6e-4)
        both = np.add(shown["fromLoss"][t], shown["fromNext"][t])
        np.testing.assert_allclose(shown["state"][t], both, atol=2e-4)
    assert not terms[0].any(), "as is said at t = 1"
    assert terms[1:].any(axis=(1, 2)).all()
    assert not any(shown["fromNext"][-1]), "as is said at t = T"
    assert shown["loss"] == pytest.approx(float(theirs["loss"]))
    assert shown["chances"] == pytest.approx(np.exp(-np.array(shown["losses"])))


def test_what_is_said_of_a_step_back() -> None:
    for steps in range(2, 7):
        for walked in range(7):
            shown, notice = asked(WORD, steps=steps)
            lecture = Lecture({"scene": "7", "T": str(steps), "walked": str(walked)})
            shown, notice = asked(WORD, lecture)
            assert shown["walked"] == min(walked, steps)
            t = steps + 1 - shown["walked"]
            assert ("Nothing comes after the last step" in notice) == (t == steps)
            assert ("The first term is zero" in notice) == (t == 1)
            assert ("Both gradients add up" in notice) == (1 < t < steps)
            assert (f"{shown['cached']['numbers']} numbers for {steps} steps" in notice) == (t > steps)
    assert asked(WORD, Lecture({"scene": "7", "walked": "3"}), steps=5)[0]["walked"] == 0


@pytest.mark.parametrize("walked", range(5))
def test_the_formulas_symbols_are_those_of_the_step(walked: int) -> None:
    here = asked(WORD, Lecture({"scene": "7", "T": "4", "walked": str(walked)}))[0]["here"]
    word = Machine(steps=4)
    theirs = by_torch(word)
    np.testing.assert_allclose(here["W_hh"]["value"], word.net.W_hh)
    assert here["L"]["value"] == pytest.approx(float(theirs["loss"]), abs=1e-4)
    t = 5 - walked
    assert ("H_t" in here) == ("delta_t" in here) == (t <= 4)
    assert ("delta_t+1" in here) == (t < 4)
    if t <= 4:
        states = theirs["states"].numpy()
        delta = theirs["∂state"].numpy() * (1 - states**2)
        assert here["t"]["value"] == t
        np.testing.assert_allclose(here["H_t"]["value"], states[t - 1 : t], atol=1e-4)
        np.testing.assert_allclose(here["A_t"]["value"], np.arctanh(states[t - 1 : t]), atol=1e-3)
        np.testing.assert_allclose(here["delta_t"]["value"], delta[t - 1 : t], atol=1e-4)
        if t < 4:
            np.testing.assert_allclose(here["delta_t+1"]["value"], delta[t : t + 1], atol=1e-4)
        before = states[t - 2 : t - 1] if t > 1 else np.zeros((1, 4))
        np.testing.assert_allclose(here["H_t-1"]["value"], before, atol=1e-4)


def test_what_is_kept_for_a_word_grows_with_its_length() -> None:
    for steps in range(2, 7):
        kept = asked(WORD, steps=steps)[0]["cached"]
        assert kept["each"] == {"X": 7, "H": 4, "slope": 4, "P": 7}
        assert kept["numbers"] == 22 * steps
        assert kept["bytes"] == 8 * kept["numbers"]


@pytest.mark.parametrize("steps", range(2, 7))
def test_without_a_state_no_step_hands_anything_back(steps: int) -> None:
    for walked in range(steps + 1):
        shown, notice = asked(
            WORD, Lecture({"scene": "7", "T": str(steps), "walked": str(walked)}), net="memoryless"
        )
        assert notice.startswith("No step hands anything back")
        assert not np.any(shown["fromNext"])
        assert shown["state"] == shown["fromLoss"]


# ---- trained networks, and powers -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", [questions.TEXT, "the cat", "Hm.", "aaaaaaaaaaaaaaaa", "x" * 120, "zq;jx 漢字 qzqzqz"]
)
def test_what_is_said_of_the_way_back_is_what_the_curves_do(text: str) -> None:
    shown, notice = asked(FLOW, text=text)
    curves = {curve["cell"]: curve["points"] for curve in shown["curves"]}
    assert {len(points) for points in curves.values()} == {len(text) - 1}, (
        "the states after each but the last"
    )
    assert f"{len(text) - 2} steps back" in notice
    for curve in shown["curves"]:
        assert read(curve["left"]) == pytest.approx(curve["points"][-1] / curve["points"][0], rel=0.06)
    k, *early = re.findall(r"At k = (\d+): RNN (.*), LSTM (.*)\.$", notice)[0]
    assert int(k) == min(10, len(text) - 2)
    norms = gradients.state_gradients(models.network("timemachine-lstm"), text, at=len(text) - 1)
    assert norms.cell is not None
    both = np.sqrt(norms.hidden**2 + norms.cell**2)[:-1, -1]  # what C hands on counts, too
    assert curves["lstm"] == pytest.approx(both, rel=1e-3)
    for number, cell in zip(early, ("rnn", "lstm"), strict=True):
        assert read(number) == pytest.approx(curves[cell][int(k)] / curves[cell][0], rel=0.06)


def test_without_a_way_back_nothing_is_said_of_it() -> None:
    assert asked(FLOW, text="ab")[1] == "Here is no way back yet: type a longer text."


@pytest.mark.parametrize("radius", [0.6, 0.75, 0.9, 1.0, 1.05, 1.3, 1.4])
def test_what_is_said_of_the_dial_is_what_its_curves_do(radius: float) -> None:
    seen = set()
    for seed in range(0, 1000, 37):
        power = seed % 40 + 1
        shown, notice = asked(DIAL, radius=radius, seed=seed, power=power)
        matrix, rest = backwards.dial(radius, seed).matrix, np.eye(backwards.UNITS)
        for _ in range(power):
            rest = rest @ matrix
        np.testing.assert_allclose(shown["matrix"], rest, atol=6e-5)
        assert shown["size"] == pytest.approx(np.linalg.svd(rest, compute_uv=False)[0])
        assert shown["rule"][power] == pytest.approx(radius**power, rel=1e-3)
        assert max(math.hypot(*z) for z in shown["eigenvalues"]) == pytest.approx(radius, abs=1e-3)
        linear = backwards.dial(radius, seed).linear
        enlarging = sum(after > before for before, after in pairwise(linear.tolist()))
        assert f"{enlarging} of 40 steps enlarge it" in notice
        arrived = [read(number) for number in re.findall(r"it\. (.*) arrives, with tanh (.*)\.$", notice)[0]]
        assert arrived == pytest.approx([shown["linear"][-1], shown["tanh"][-1]], rel=0.06)
        assert shown["size"] >= shown["rule"][shown["power"]] * (1 - 1e-3), "as the picture says"
        seen.add(notice)
    assert len(seen) > 20


@pytest.mark.parametrize("radius", [0.6, 1.4])
def test_no_curve_of_the_dial_leaves_its_axis(radius: float) -> None:
    low, high = scene_7_powers.NORMS
    for seed in range(1000):
        dial = backwards.dial(radius, seed)
        for curve in (dial.linear, dial.tanh, dial.power):
            assert low <= curve.min() <= curve.max() <= high, seed


# ---- clipped and cut ------------------------------------------------------------------------------------


@pytest.mark.parametrize("theta", [0.1, 1.0, 2.09, 2.2, 10.0])
@pytest.mark.parametrize("steps", [2, 3, 6])
def test_the_word_is_clipped_as_torch_clips(theta: float, steps: int) -> None:
    shown, notice = asked(CLIP, Lecture({"scene": "7", "T": str(steps)}), threshold=theta, gradient=[3, 4])
    theirs = by_torch(Machine(steps=steps))
    parameters = []
    for name in shown["sizes"]:
        parameters.append(torch.zeros_like(theirs[name], requires_grad=True))
        parameters[-1].grad = theirs[name].clone()
    before = [float(p.grad.norm()) for p in parameters if p.grad is not None]
    norm = float(torch.nn.utils.clip_grad_norm_(parameters, theta))
    after = [float(p.grad.norm()) for p in parameters if p.grad is not None]
    np.testing.assert_allclose(list(shown["sizes"].values()), np.transpose([before, after]), rtol=1e-5)
    assert shown["norm"] == pytest.approx(norm)
    assert shown["short"] == pytest.approx(min(theta, norm), rel=1e-5)
    assert shown["factor"] == pytest.approx(min(1, theta / norm))
    assert shown["numbers"] == sum(p.numel() for p in parameters)
    assert ("is short enough" in notice) == (norm <= theta)
    if norm > theta:
        assert notice.endswith(f"times {theta / norm:.2f}.")
    short = min(1, theta / 5)
    assert shown["clipped"] == pytest.approx([3 * short, 4 * short])


def test_a_cut_leaves_out_what_is_crossed_out_and_says_how_much() -> None:
    for length, tau in product(range(2, 7), range(1, 7)):
        shown, notice = asked(CUT, length=length, tau=tau)
        tau = min(tau, length)
        assert shown["tau"] == tau
        theirs = [by_torch(Machine(steps=length), cut)["W_hh"].numpy() for cut in (None, tau)]
        np.testing.assert_allclose([shown["full"], shown["left"]], theirs, atol=6e-5)
        norms = [float(np.linalg.norm(g)) for g in (*theirs, theirs[0] - theirs[1])]
        assert shown["norms"] == pytest.approx(norms, abs=1e-9)
        cuts = list(range(length - tau, 0, -tau))
        out = 0
        for t, s in product(range(1, length + 1), repeat=2):
            heard = s <= t and not any(s <= cut < t for cut in cuts)
            assert shown["heard"][t - 1][s - 1] == heard
            out += s <= t and not heard
        assert (f"{out} of {length * (length + 1) // 2} terms, from" in notice) == (out > 0)
        assert ("nothing is left out" in notice) == (out == 0)
        assert not np.any(np.array(shown["sizes"])[:, 0]), "as is said: the first column is 0"
        assert shown["kept"] == [22 * length, 22 * tau]


# ---- cut at random --------------------------------------------------------------------------------------


def test_the_mean_of_the_draws_is_a_plain_loops() -> None:
    shown, _ = asked(RANDOM, keep=0.8, cut=5)
    chain = backwards.chain(backwards.WEIGHT, 1)
    drawn = backwards.random_weights(0.8, scene_7_truncation.DRAWS, 1)
    estimates = [sum(w * term for w, term in zip(row, chain.terms, strict=True)) for row in drawn.tolist()]
    for n, mean in zip(shown["at"], shown["mean"], strict=True):
        assert mean == pytest.approx(sum(estimates[:n]) / n, abs=1e-5)
    np.testing.assert_allclose(shown["weights"], drawn[:3], atol=1e-8)
    assert shown["full"] == pytest.approx(sum(chain.terms))
    assert shown["regular"] == pytest.approx(sum(chain.terms[:5]))
    assert shown["error"] == pytest.approx(float(np.std(estimates)) / 100, rel=0.05)


@pytest.mark.parametrize("keep", [0.3, 0.35, 0.4, 0.5, 0.7, 1.0])
def test_the_standard_error_is_exact_where_hardly_a_draw_goes_far(keep: float) -> None:
    """By summing over where the one cut falls: after k crossings with probability π^k (1 - π)."""
    terms = backwards.chain(backwards.WEIGHT, 1).terms
    chances = [keep**k * (1 - keep) for k in range(11)] + [keep**11]
    estimates = [sum(terms[j] / keep**j for j in range(k + 1)) for k in range(12)]
    variance = sum(p * (z - sum(terms)) ** 2 for p, z in zip(chances, estimates, strict=True))
    shown, _ = asked(RANDOM, keep=keep)
    assert shown["error"] == pytest.approx(math.sqrt(variance) / 100)
    assert shown["band"][0] == pytest.approx(2 * math.sqrt(variance), abs=1e-5)


@pytest.mark.parametrize("draw", [1, 2, 3])
def test_the_mean_stays_in_its_band(draw: int) -> None:
    """By default at every number of draws that is shown; elsewhere at the last one, within twice as much."""
    shown, _ = asked(RANDOM, draw=draw)
    off = np.abs(np.array(shown["mean"]) - shown["full"])
    if draw == 1:
        assert (off <= np.array(shown["band"]) + 1e-9).all()
    assert off[-1] <= 2 * shown["band"][-1]


def test_what_is_said_of_cuts_at_random() -> None:
    for keep, cut in product((0.3, 0.7, 0.99, 1.0), (1, 4, 11, 12)):
        shown, notice = asked(RANDOM, keep=keep, cut=cut)
        chain = backwards.chain(backwards.WEIGHT, 1)
        assert backwards.expected(chain, keep) == pytest.approx(shown["full"], rel=1e-12)
        weights = backwards.random_weights(keep, 1000, 0)
        kept = weights[:, -1] > 0
        if keep < 1:
            assert (weights[kept][:, -1] > 1).all()
            assert kept.mean() < 1
        assert ("every draw is the full gradient" in notice) == (keep == 1) == bool((weights == 1).all())
        reached = 10_000 * keep**11  # draws that reach the farthest term
        assert ("less often" in notice) == (keep < 1 and reached > 5)
        assert ("may miss it" in notice) == (reached < 5)


# ---- what it costs --------------------------------------------------------------------------------------


def test_it_is_measured_one_length_an_answer() -> None:
    lecture = Lecture({"scene": "7", "step": str(COST + 1)})
    shown, notice = asked(COST, lecture)
    assert shown["measured"] == []
    assert "Measure." in notice
    for n in (3, -1, True, "0", 99):  # not the next one
        assert asked(COST, lecture, measure=n)[0]["measured"] == []
    for n in range(len(cost.LENGTHS)):
        shown, notice = asked(COST, lecture, measure=n)
        assert len(shown["measured"]) == n + 1
    assert np.min(shown["measured"]) > 0
    assert "Here, now" in notice
    assert asked(COST, lecture)[0]["measured"] == shown["measured"], "kept from answer to answer"
    assert len(asked(COST, lecture, measure=0)[0]["measured"]) == 1
    assert asked(COST, lecture, piece=64)[0]["measured"] == [], "another cut has other numbers"


def test_what_is_said_of_a_measurement_is_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def known(steps: int, cut: int) -> cost.Cost:
        return cost.Cost(steps, steps * 1.0, steps * 3.0, cost.kept(steps), cut, cut * 3.0, cost.kept(cut))

    monkeypatch.setattr(cost, "measured", known)
    lecture = Lecture({"scene": "7"})
    asked(COST, lecture, piece=64)
    for n in range(len(cost.LENGTHS)):
        shown, notice = asked(COST, lecture, measure=n)
    assert "takes 3.0 times as long" in notice
    assert notice.endswith("At T = 256 a cut update takes 25 % of that.")
    assert shown["measured"][1] == [32e3, 96e3, 192e3]


@pytest.mark.parametrize("piece", cost.CUTS)
def test_what_is_kept_is_bounded_by_the_cut(piece: int) -> None:
    shown, _ = asked(COST, piece=piece)
    for length, (whole, left) in zip(cost.LENGTHS, shown["kept"], strict=True):
        assert whole * 1024 == cost.measured(length, piece, repeats=1).kept
        assert left == (whole if length <= piece else shown["kept"][cost.LENGTHS.index(piece)][0])
    assert asked(COST, piece=17)[0]["cut"] in cost.CUTS
    flows = Machine().backward().from_next
    assert shown["flows"] == [pytest.approx(sum(abs(x) for row in flows.tolist() for x in row)), 0]
