"""The way back: against the machine's gradients, eigenvalues and sums that are written otherwise."""

import math
from itertools import pairwise
from statistics import geometric_mean

import numpy as np
import pytest

import rnnviz
from rnnviz import gradients
from rnnviz.lecture import scene_7_backwards as scene
from rnnviz.lecture.machine import Machine
from rnnviz.lecture.number_format import fixed, rough
from rnnviz.lecture.readers import recorded
from tests.support.lecture import nodes_of, run_code


def test_three_steps_back_add_up_to_the_gradient() -> None:
    values = run_code("back", walked=3)
    np.testing.assert_allclose(values["dW_hh"], Machine(steps=3).gradients()["W_hh"], atol=1e-12)
    np.testing.assert_array_equal(values["term"], 0)  # H_0 is
    np.testing.assert_array_equal(run_code("back", walked=3, stateless=True)["from_later"], 0)


@pytest.mark.parametrize("rho", [0.8, 1.25])
def test_the_linear_gradient_follows_the_largest_eigenvalue_and_tanh_damps_it(rho: float) -> None:
    values = run_code("dial", rho=rho, k=40)
    linear, tanh = np.transpose(values["sizes"])
    assert max(abs(values["eigenvalues"])) == pytest.approx(rho)
    assert linear[-1] == pytest.approx(
        np.linalg.norm(values["power"] @ values["g"]) / np.linalg.norm(values["g"])
    )
    assert (linear[-1] / linear[-9]) ** (1 / 8) == pytest.approx(rho, rel=0.05)
    assert tanh[-1] < linear[-1]


def test_a_cut_keeps_a_third_and_is_the_sum_of_its_pieces() -> None:
    values = run_code("cut", T=6, tau=2)
    word = Machine()
    np.testing.assert_allclose(values["full"], word.gradients()["W_hh"])
    pieces = [word.pairs()[s : s + 2, s : s + 2].sum(axis=(0, 1)) for s in (0, 2, 4)]
    np.testing.assert_allclose(values["part"], sum(pieces))
    assert (values["cached"], values["all_cached"]) == (44, 132)


def test_random_cuts_are_right_on_average_and_their_spread_is_exact() -> None:
    values = run_code("random", pi=0.7)
    draws = len(values["z"])
    full = values["terms"].sum()
    assert abs(values["mean"][-1] - full) < 3 * values["spread"] / np.sqrt(draws)
    assert values["z"].std() == pytest.approx(values["spread"], rel=0.2)


@pytest.mark.parametrize("stateless", [0, 1])
@pytest.mark.parametrize(
    ("walked", "words"),
    [
        (0, "66 numbers for 3 steps"),
        (1, "Nothing comes after the last step"),
        (2, "Both gradients add up"),
        (3, "The first term is zero"),
    ],
)
def test_arrows_point_back_where_the_gradient_has_passed(walked: int, words: str, stateless: int) -> None:
    picture, notice = scene.back(walked, stateless)
    (graph,) = nodes_of(picture, "graph")
    expected = set()
    for t in range(4 - walked, 4):
        expected |= {*pairwise(["L2", f"y{t}", f"O{t}", f"H{t}"])}
        if t < 3 and not stateless:
            expected.add((f"H{t + 1}", f"H{t}"))
    arrows = {(start, end): look for start, end, look, *_name in graph["arrows"]}
    assert {ends for ends, look in arrows.items() if look == "back"} == expected
    assert not any(ends[::-1] in arrows for ends in arrows), "an arrow turns, none is added"
    now = [part["name"] for part in graph["parts"] if "'look': 'pinned'" in str(part)]
    assert now == ([f"O{4 - walked}", f"H{4 - walked}"] if walked else [])
    assert ("No gradient goes from step to step" if stateless and walked else words) in notice
    # Without a state W_hh is 0, and there is nothing to add up.
    sums = [part for part in nodes_of(picture, "text") if part["words"] == "added up so far"]
    assert len(sums) == (walked > 0 and not stateless)
    assert len(nodes_of(picture, "matrix")) == ((1 if stateless else 3) if walked else 0)


def test_the_way_there_has_each_steps_probability_and_loss() -> None:
    (table,) = nodes_of(scene.back(0, 0)[0], "table")
    forward = Machine(steps=3).forward
    for row, P, target in zip(table["rows"], forward.probabilities, Machine(steps=3).targets, strict=True):
        assert row[3:] == [fixed(P[target]), fixed(-math.log(P[target]))]


@pytest.mark.parametrize("text", [scene.TEXT, "The Ti", "The"], ids=["long", "short", "shortest"])
def test_gradient_flow_equals_the_packages_jacobian(text: str) -> None:
    picture, notice = scene.flow(text)
    last, early = len(text) - 2, min(10, len(text) - 2)
    left = {}
    for cell, curve in zip(("rnn", "gru", "lstm"), nodes_of(picture, "line"), strict=True):
        values = gradients.jacobian(rnnviz.load(f"timemachine-{cell}"), text, at=last + 1, of="loss")
        states = [values.hidden, *([values.cell] if cell == "lstm" else [])]
        size = np.linalg.norm([state[:-1, -1] for state in states], axis=0)
        left[cell] = size / size[0]
        np.testing.assert_allclose(curve["ys"], left[cell], rtol=1e-3)
        assert curve["name"] == f"{cell.upper()} {rough(left[cell][-1])}"
    rnn, lstm = rough(left["rnn"][early]), rough(left["lstm"][early])
    assert f"at k = {last}. At k = {early} it is {rnn} for the RNN, {lstm} for the LSTM" in notice


def test_two_characters_have_no_step_to_go_back_to() -> None:
    assert "There is no step to go back to yet" in scene.flow("Th")[1]


@pytest.mark.parametrize("rho", [0.8, 1.0, 1.4])
def test_the_dials_curves_are_of_one_matrix_at_several_sizes(rho: float) -> None:
    picture, notice = scene.dial(rho, 8, 1)
    lines = [(line["name"], line["ys"]) for line in nodes_of(picture, "line")]
    sizes = {f"ρ = {r:g}": np.transpose(run_code("dial", rho=r)["sizes"]) for r in (0.8, 1.0, 1.25, rho)}
    assert [name for name, _ys in lines] == [*sizes, "tanh", "ρᵏ"]
    for name, ys in lines[:-2]:
        np.testing.assert_allclose(ys, sizes[name][0], rtol=1e-4)
    tanh = sizes[f"ρ = {rho:g}"][1]
    np.testing.assert_allclose(lines[-2][1], tanh, rtol=1e-4)
    np.testing.assert_allclose(lines[-1][1], [rho**k for k in range(41)], rtol=1e-4)
    small, large = (rough(sizes[name][0][-1]) for name in ("ρ = 0.8", "ρ = 1.25"))
    assert f"by {small} at ρ = 0.8: it vanishes. At ρ = 1.25, by {large}: it explodes." in notice
    assert notice.endswith(f"at ρ = {rho:g}: by {rough(tanh[-1])}.")
    (plane,) = nodes_of(picture, "plane")
    assert [radius for radius, _name in plane["circles"]] == [1, rho]


@pytest.mark.parametrize(("rho", "k", "raised"), [(1.4, 40, True), (0.6, 40, False), (1.0, 1, False)])
def test_a_powers_long_numbers_have_their_power_of_ten_in_front(rho: float, k: int, raised: bool) -> None:
    (matrix,) = nodes_of(scene.dial(rho, k, 1)[0], "matrix")
    power = run_code("dial", rho=rho, k=k)["power"]
    tens = math.floor(math.log10(abs(power).max())) if raised else 0
    np.testing.assert_allclose(np.array(matrix["values"]) * 10**tens, power, rtol=1e-4)
    assert (rf"= 10^{{{tens}}} \times" in matrix["title"]) == raised
    assert not raised or tens > 0


@pytest.mark.parametrize(
    ("T", "tau", "cuts", "out"),
    [
        (6, 2, ["H3 H2", "H5 H4"], 12),
        (5, 2, ["H2 H1", "H4 H3"], 8),
        (3, 1, ["H2 H1", "H3 H2"], 3),
        (4, 4, [], 0),
        (3, 6, [], 0),
    ],
)
def test_terms_that_cross_a_cut_are_faded_and_counted(T: int, tau: int, cuts: list[str], out: int) -> None:
    picture, notice = scene.cut(T, tau)
    (graph,) = nodes_of(picture, "graph")
    between = {f"{start} {end}": look for start, end, look, *_name in graph["arrows"] if start[0] == "H"}
    assert [arrow for arrow, look in between.items() if look == "cut"] == cuts
    assert list(between.values()).count("back") == T - 1 - len(cuts)
    assert all(between[f"H{t} H{t + 1}"] == "ngram" for t in range(1, T)), "values cross a cut"
    sizes, full, part = nodes_of(picture, "matrix")
    word = Machine(steps=T)
    for t, row in enumerate(sizes["values"]):
        terms = [np.linalg.norm(word.pairs()[t, s]) for s in range(t + 1)]
        assert row == [*(pytest.approx(term, rel=1e-4) for term in terms), *[None] * (T - 1 - t)]
    assert len(sizes["faded"]) == out
    assert all(cuts and s < t for t, s in sizes["faded"])
    np.testing.assert_allclose(full["values"], word.gradients()["W_hh"], atol=1e-4)
    assert np.allclose(full["values"], part["values"], atol=1e-4) == (not out)
    words = [item["words"] for item in nodes_of(picture, "text")]
    assert f"cached at one time: {22 * min(tau, T)} of {22 * T} numbers" in words
    all_sizes = [size for row in sizes["values"] for size in row if size]
    lost = [size for t, s in sizes["faded"] if (size := sizes["values"][t][s])]
    expected = f"{len(lost)} of {len(all_sizes)} terms" if out else "nothing is left out"
    assert expected in notice


@pytest.mark.parametrize(
    ("pi", "after", "words"),
    [
        (1.0, 4, "every draw is the full gradient"),
        (0.5, 4, "so few draws go far"),  # 4.9 of 10,000 reach the farthest term
        (0.51, 4, "always off by"),  # 6.1
        (0.7, 4, "always off by"),
        (0.7, 12, "A cut after all 12 steps cuts nothing"),
    ],
)
def test_a_random_cut_is_drawn_beside_a_regular_one(pi: float, after: int, words: str) -> None:
    picture, notice = scene.random(pi, after, 1)
    values = run_code("random", pi=pi)
    terms, spread = values["terms"], values["spread"]
    assert words in notice
    if "off by" in words:
        assert f"off by {rough(abs(terms[after:].sum()))}." in notice
    if pi == 0.7:
        assert f"is {rough(spread)}." in notice
    above, below, full, regular, lines = nodes_of(picture, "line")
    room = 2 * spread / np.sqrt(lines["xs"])
    np.testing.assert_allclose(above["ys"], terms.sum() + room, rtol=1e-3)
    np.testing.assert_allclose(below["ys"], terms.sum() - room, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(full["ys"], terms.sum(), rtol=1e-4)
    np.testing.assert_allclose(regular["ys"], terms[:after].sum(), rtol=1e-4)
    np.testing.assert_allclose(lines["ys"], [values["z"][:n].mean() for n in lines["xs"]], rtol=1e-3)


@pytest.mark.parametrize(
    ("theta", "labels"),
    [(1.0, ["gradient g", "clipped"]), (4.5, ["", "clipped"]), (5.0, ["", "gradient g"])],
)
def test_clipping_shortens_what_is_longer_than_theta_and_keeps_its_direction(
    theta: float, labels: list[str]
) -> None:
    picture, notice = scene.clip(theta, [3.0, -4.0])
    (plane,) = nodes_of(picture, "plane")
    before, after = (np.array(arrow[:2]) for arrow in plane["arrows"])
    np.testing.assert_allclose(before, [3, -4])
    np.testing.assert_allclose(after, np.array([3, -4]) * min(1, theta / 5), rtol=1e-4)
    assert [arrow[2] for arrow in plane["arrows"]] == labels
    assert plane["circles"] == [[theta, "θ"]]

    every = Machine(steps=3).gradients()
    whole = np.concatenate([part.ravel() for part in every.values()])
    norms = [*(np.linalg.norm(part) for part in every.values()), np.linalg.norm(whole)]
    factor = min(1, theta / norms[-1])
    assert any(f"{len(whole)} derivatives" in part["words"] for part in nodes_of(picture, "text"))
    (bars,) = nodes_of(picture, "bars")
    expected = [value for norm in norms for value in (norm, factor * norm)]
    np.testing.assert_allclose([value for _name, value, _written in bars["rows"]], expected, rtol=1e-4)
    assert [written for _name, _value, written in bars["rows"]] == [fixed(value) for value in expected]
    assert bars["top"] == pytest.approx(norms[-1], rel=1e-4)
    words = f"is multiplied by {fixed(factor)};" if factor < 1 else "The word's gradient is short enough"
    assert words in notice


@pytest.mark.parametrize("gates", ["", ".open"])
@pytest.mark.parametrize("k", scene.GAPS)
def test_a_gaps_table_has_what_was_recorded(k: int, gates: str) -> None:
    picture, notice = scene.gap(str(k), gates)
    (table,) = nodes_of(picture, "table")
    assert [table["head"][column] for _row, column in table["lit"]] == [str(k)] * 5
    cells = ["rnn", "orthogonal", f"gru{gates}", f"lstm{gates}", "mlp"]
    right = {}
    for cell, row, curve in zip(cells, table["rows"], nodes_of(picture, "line"), strict=True):
        (run,) = (
            run
            for run in recorded("long_gap")["runs"]
            if (run["cell"], run["gap"], run["clipped"]) == (cell, k, True)
        )
        ends = sorted((f"{100 * part[-1]:.3g}" for part in run["accuracy"]), key=float)
        right[cell] = row[1 + scene.GAPS.index(k)]
        assert right[cell] == "–".join(dict.fromkeys([ends[0], ends[-1]]))
        mean = np.mean(run["accuracy"], axis=0)
        np.testing.assert_allclose(curve["ys"], 100 * mean, rtol=1e-4)
        assert curve["xs"] == [50 * i for i in range(len(mean))]
        before = [part[0] for part in run["gradient"]]
        arrives = geometric_mean(before) if all(before) else 0.0
        assert row[-1] == rough(arrives, 1)
    rnn, orthogonal, gru, lstm, _mlp = right.values()
    assert f"RNN {rnn} % right, GRU {gru} %, LSTM {lstm} %" in notice
    assert f"orthogonal weights {orthogonal} %" in notice
    assert f"leaves {rough(0.73**k)} of a gradient" in notice
