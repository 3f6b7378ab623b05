"""What all units do over a text: equal to looking at all states at once, whatever the pieces."""

from pathlib import Path

import numpy as np
import pytest

import rnnviz
from rnnviz import units
from rnnviz.lab.analysis.activations import Unit, activations
from rnnviz.lab.analysis.scanning import pushes, scan
from rnnviz.networks.checkpoint import load_numpy, save
from rnnviz.networks.model_card import WeightedSum
from rnnviz.scoring.tracer import trace
from tests.support.closeness import assert_states
from tests.support.models import TEXT, tiny
from tests.support.torch_models import tiny_torch


@pytest.mark.parametrize("quantity", ["hidden", "cell", "forget"])
@pytest.mark.parametrize("length", [1, 17, 63, 5003])
def test_a_scan_sees_what_a_trace_holds(quantity: str, length: int) -> None:
    model, text = tiny_torch("lstm", layers=2), (TEXT * 6)[:length]
    report = scan(model, text=text, quantity=quantity, before=10, after=6, contexts=3)
    table = activations(rnnviz.trace(model, text), quantity=quantity)
    assert report.characters == length
    assert report.units == [Unit(layer, u) for layer in (0, 1) for u in range(12)]
    np.testing.assert_allclose(report.mean, table.mean(axis=0, dtype=float), atol=1e-6)
    np.testing.assert_allclose(report.variance, table.var(axis=0, dtype=float), atol=1e-6)
    for column in (0, 5, 17, 23):
        card, series = report[column // 12, column % 12], table[:, column]
        assert card.top[0].value == pytest.approx(series.max(), abs=1e-6)
        assert card.bottom[0].value == pytest.approx(series.min(), abs=1e-6)
        assert (card.lowest, card.highest) == pytest.approx((series.min(), series.max()), abs=1e-6)
        expected, _ = np.histogram(series, card.edges)
        assert card.counts.sum() == length
        assert np.abs(card.counts - expected).sum() <= 0.002 * length + 1  # values on an edge, to rounding
        for contexts in (card.top, card.bottom):
            for c in contexts:
                begin = max(0, c.position - 10)
                assert c.text == text[begin : c.position + 7]
                assert c.position - begin == c.at
                np.testing.assert_allclose(c.values, series[begin : c.position + 7], atol=1e-6)
                assert c.values[c.at] == np.float32(c.value)


def test_contexts_are_the_greedy_choice_among_the_extremes_of_windows() -> None:
    model, text = tiny_torch("gru"), (TEXT * 3)[:2500]
    report = scan(model, text=text, before=12, after=7, contexts=8)
    table = activations(rnnviz.trace(model, text))
    for unit in range(12):
        windows = [table[n : n + 20, unit] for n in range(0, len(text), 20)]
        extremes = sorted(
            ((float(w.max()), 20 * n + int(w.argmax())) for n, w in enumerate(windows)), key=lambda e: -e[0]
        )
        chosen: list[int] = []
        for _, position in extremes:
            if all(abs(position - other) >= 20 for other in chosen) and len(chosen) < 8:
                chosen.append(position)
        values = [c.value for c in report[0, unit].top]
        np.testing.assert_allclose(values, table[chosen, unit], atol=1e-6)


def test_moves_are_means_over_each_character() -> None:
    model, text = tiny_torch("gru"), TEXT * 2
    report = scan(model, text=text)
    states = rnnviz.trace(model, text)._states[:, 0]
    change = np.diff(states.astype(float), axis=0)
    for unit in (0, 7):
        moves = report[0, unit].moves
        assert [m.amount for m in moves] == sorted((m.amount for m in moves), reverse=True)
        for move in moves:
            is_character = np.array([c == move.character for c in text])
            assert move.count == is_character.sum()
            assert move.amount == pytest.approx(np.abs(change[is_character, unit]).mean(), abs=1e-6)
            assert move.change == pytest.approx(change[is_character, unit].mean(), abs=1e-6)


def test_a_file_is_read_as_the_text_in_it(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes((TEXT * 2).replace("\n", "\r\n").encode("utf-16"))
    by_path, other = scan(tiny_torch("gru"), path=path), scan(tiny_torch("gru"), text=TEXT * 2)
    assert_states(scan(tiny_torch("gru"), text=path).mean, by_path.mean)
    assert_states(by_path.mean, other.mean)
    assert by_path[0, 3].top[0].text == other[0, 3].top[0].text


def test_an_exploding_network_is_scanned_all_the_same() -> None:
    model = tiny_torch("rnn", activation="relu", embedding_size=0)
    weights = {name: w * 40 for name, w in model.state_dict().items()}
    model.load_state_dict(weights)
    report = scan(model, text=TEXT)
    assert np.isfinite(report.mean).all()
    card = report[0, 0]
    assert card.counts.sum() == len(TEXT)
    assert card.edges[-1] / 2 < max(abs(card.lowest), card.highest) <= card.edges[-1]  # as wide as it must be


def test_pushes_are_the_readout_column_less_its_mean(tmp_path: Path) -> None:
    for options in ({}, {"embedding_size": 12, "tied": True}):
        model = tiny_torch("gru", layers=2, **options)  # type: ignore[arg-type]
        pro, con = pushes(model, 3, -0.5, k=4)
        column = model.readout_weight[:, 3].numpy().astype(float) * -0.5
        column -= column.mean()
        order = np.argsort(-column)
        assert [s for s, _ in pro] == [model.vocabulary.symbol(int(s)) for s in order[:4]]
        assert [n for _, n in con] == pytest.approx(column[order[::-1][:4]])
        save(model, tmp_path / "m.safetensors")
        assert pushes(load_numpy(tmp_path / "m.safetensors"), 3, -0.5, k=4) == (pro, con)  # type: ignore[arg-type]
    assert pushes(model, 3, 0.0) == ([], [])


def test_a_units_card_says_which_next_characters_it_favours() -> None:
    model, text = tiny_torch("gru", layers=2), TEXT[:300]
    card = scan(model, text=text)[1, 5]
    assert (list(card.raises), list(card.lowers)) == pushes(model, Unit(1, 5), k=5)
    # The logit of a next character rises with the unit by what is said, but for what all of them rise by.
    last = {"layer": 1, "start": len(text)}
    up, down = (rnnviz.trace(model, text, change=units.Clamp(5, v, **last)).logits[-1] for v in (1.0, 0.0))
    apart = dict(zip(map(model.vocabulary.symbol, range(model.vocabulary.size)), up - down, strict=True))
    mean = float(np.mean(up - down))
    for symbol, nats in (*card.raises, *card.lowers):
        assert apart[symbol] - mean == pytest.approx(nats, abs=1e-5)
    assert card.raises[0][1] == max(nats for _, nats in card.raises)
    assert card.facts()["raises"] == [list(push) for push in card.raises]
    (panel,) = [panel for panel in card.panels() if panel.name == "pushes"]
    assert [value for value in panel.picture.values if value > 0] == [nats for _, nats in card.raises]
    for other in (scan(model, text=text)[0, 5], scan(model, text=text, quantity="update")[1, 5]):
        assert (*other.raises, *other.lowers) == ()
        assert "pushes" not in [panel.name for panel in other.panels()]


def test_weighted_sums_are_scanned_behind_the_units() -> None:
    model, text = tiny("lstm", layers=2), TEXT[:400]
    random = np.random.default_rng(0)
    sums = [WeightedSum(layer, random.normal(size=12).astype(np.float16), 0.5) for layer in (0, 1)]
    report = units.scan(model, text, layer=1, quantity="cell", sums=sums, contexts=2)
    read = trace(model, text)
    assert read.cell is not None
    for n, weighted in enumerate(sums):
        values = weighted.along(read.cell[:, weighted.layer])
        card = report[weighted.layer, 12 + n]
        assert card.top[0].value == pytest.approx(values.max(), abs=1e-4)
        assert card.bottom[0].position == int(values.argmin())
        assert card.mean == pytest.approx(values.mean(), abs=1e-4)
        assert not card.raises, "its size is not a state's, so it has no push at the value 1"
    assert [unit.unit for unit in report.units[:12]] == list(range(12))
    of_hidden = units.scan(model, text, layer=1, sums=sums, contexts=2)
    assert of_hidden[1, 3].raises
    assert not of_hidden[1, 13].raises
