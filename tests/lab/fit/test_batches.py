"""Where the streams are cut: regular and random truncation, and how long a run is."""

from dataclasses import replace

import pytest
import torch

from rnnviz.lab.fit.batches import Cuts, Streams
from rnnviz.lab.fit.trainer import Trainer
from tests.support.training import CORPUS, SMALL

RANDOM = replace(SMALL, truncation="random", dropout_output=0.2)


def random_cuts(length: int, steps: int, places: int, seed: int = 0) -> Cuts:
    return Cuts(length, -(-steps // 2), 3 * steps // 2, places, seed=seed)


def pieces(cuts: Cuts) -> list[tuple[int, int]]:
    return [cuts.at(step) for step in range(cuts.total_steps)]


@pytest.mark.parametrize("steps", [1, 2, 10, 35, 64])
def test_random_cuts_have_the_mean_and_the_range_they_promise(steps: int) -> None:
    cuts = random_cuts(20_000, steps, 40_000, seed=1)
    lengths = [end - begin for begin, end in pieces(cuts) if end < 20_000]
    assert min(lengths) == -(-steps // 2)
    assert max(lengths) == 3 * steps // 2
    spread = (((3 * steps // 2 - -(-steps // 2) + 1) ** 2 - 1) / 12) ** 0.5
    assert sum(lengths) / len(lengths) == pytest.approx(steps, abs=5 * spread / len(lengths) ** 0.5 + 1e-9)


@pytest.mark.parametrize("length", [1, 5, 37, 1000])
@pytest.mark.parametrize("epochs", [0.3, 1, 7.5])
@pytest.mark.parametrize(("low", "high"), [(4, 12), (8, 8)])
def test_pieces_follow_one_another_and_cover_every_epoch(
    length: int, epochs: float, low: int, high: int
) -> None:
    places = max(1, round(epochs * length))
    cuts = Cuts(length, low, high, places)
    at, read = 0, 0
    for begin, end in pieces(cuts):
        assert begin == at % length
        assert begin < end <= length
        assert end - begin <= high
        assert end == length or end - begin >= low
        at, read = end, read + end - begin
    assert read == cuts.total_stream_chars
    assert 0 <= cuts.total_stream_chars - places < high


def test_no_two_epochs_or_seeds_are_cut_alike() -> None:
    def ends(seed: int) -> list[int]:
        return [end for _, end in pieces(random_cuts(500, 10, 1000, seed))]

    first = ends(0)
    middle = first.index(500) + 1
    assert first[:middle] != first[middle:]
    assert first == ends(0) != ends(1)


@pytest.mark.parametrize(("length", "batch"), [(1000, 4), (203, 4), (50, 32), (7, 4), (2, 1)])
def test_random_pieces_are_read_once_an_epoch_in_an_order_of_its_own(length: int, batch: int) -> None:
    steps = min(10, length)
    streams = Streams(torch.arange(length), batch, steps, start=-1, partition="random")
    cuts = Cuts(streams.length, steps, steps, streams.length)
    epochs = []
    shift = min(3, streams.slack)
    for offset, epoch in ((0, 0), (shift, 1), (0, 0)):
        batches = [streams.drawn_pieces(*piece, offset, seed=(5, epoch)) for piece in pieces(cuts)]
        assert len(batches) == streams.pieces_an_epoch
        for inputs, labels in batches:
            assert inputs.shape == labels.shape == (streams.row_count, steps)
            assert torch.equal(inputs, labels - 1), "each label is one further on; before the text is -1"
            assert torch.equal(labels.diff(), torch.ones_like(labels[:, 1:]))
            assert ((labels[:, 0] - offset) % steps == 0).all()
        epochs.append(torch.cat([labels for _inputs, labels in batches]))
        assert len(epochs[-1].unique()) == epochs[-1].numel(), "no character twice"
        assert length - epochs[-1].numel() < streams.row_count * steps + steps + streams.slack
    assert torch.equal(epochs[0], epochs[2]), "a resumed run draws the same"
    if length == 1000:
        assert (epochs[0][:, 0].diff() != steps).any()
        assert not torch.equal(epochs[0], epochs[1] - shift)


def test_a_random_piece_begins_with_a_zero_state() -> None:
    trainer = Trainer(replace(SMALL, partition="random"), CORPUS)
    for _ in range(3):
        place, begun = trainer.cuts.at(trainer.step_index), trainer.step_index
        weights = {name: w.clone() for name, w in trainer.model.state_dict().items()}
        loss, _norm, _n = trainer.step()
        seed = trainer.config.seed, begun // trainer.streams.pieces_an_epoch
        inputs, labels = trainer.streams.drawn_pieces(*place, trainer.offset, seed=seed)
        plain = Trainer(SMALL, CORPUS).model
        plain.load_state_dict(weights)
        logits, _state = plain(inputs)
        expected = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
        torch.testing.assert_close(loss, expected.detach(), rtol=1e-4, atol=1e-6)


def test_a_tiny_text_may_have_very_many_epochs() -> None:
    cuts = random_cuts(7, 64, 7_000_000)
    assert cuts.total_steps == 1_000_000
    assert cuts.at(999_999) == (0, 7)


@pytest.mark.parametrize("truncation", ["regular", "random"])
@pytest.mark.parametrize("characters", [1, 400, 876, 5000])
def test_as_many_characters_are_read_as_were_asked_for(truncation: str, characters: int) -> None:
    config = replace(SMALL, truncation=truncation, characters=characters)
    trainer = Trainer(config, CORPUS)
    reports = list(trainer.run(sample_length=0))
    assert trainer.characters == trainer.total_characters == reports[-1].characters
    assert reports[-1].step == reports[-1].total_steps == trainer.total_steps
    assert 0 <= trainer.characters - characters < 4 * 15 + 4  # at most one piece more, of four streams


def test_a_step_of_random_truncation_learns_in_proportion_to_its_length() -> None:
    trainer = Trainer(replace(RANDOM, epochs=50), CORPUS)
    trainer.step_index = trainer.total_steps // 2
    trainer.characters = trainer.total_characters // 2
    rates = {}
    for step in range(trainer.step_index, trainer.step_index + 40):
        trainer.step_index = step
        begin, end = trainer.cuts.at(step)
        rates[end - begin] = trainer.learning_rate() / (end - begin)
    assert len(rates) > 5
    assert list(rates.values()) == pytest.approx([next(iter(rates.values()))] * len(rates))


@pytest.mark.slow
def test_random_truncation_reports_once_an_epoch_and_learns() -> None:
    reports = list(Trainer(replace(RANDOM, epochs=20), CORPUS).run(sample_length=0))
    assert [r.characters for r in reports] == [876 * n for n in range(1, 21)]
    assert [r.epoch for r in reports] == pytest.approx(list(range(1, 21)))
    assert reports[-1].train_perplexity < 0.6 * reports[0].train_perplexity


# Written down before there was anything but regular truncation and epochs, from the weights of tiny runs.
RECORDED = {
    "gru": ({}, 44, 9.769915384205735, 8.711277945572945, 0.5385105609893799),
    "all dropout, no validation": (
        {"dropout_output": 0.3, "dropout_weight": 0.2, "dropout_embedding": 0.1,
         "train_on": "train+validation"},
        48, 10.901811413029721, None, 1.0841224193572998,
    ),
    "two lstm layers": (
        {"cell": "lstm", "evaluate_every": 7, "layers": 2},
        44, 15.021703365051469, 12.633296044204481, 0.41368964314460754,
    ),
    "tied rnn": (
        {"cell": "rnn", "epochs": 1.3, "tied": True, "embedding_size": 12},
        29, 13.3413602677517, 13.07866748061467, 0.6316721439361572,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_recipes_still_give_the_same_numbers(name: str) -> None:
    change, steps, train, held_out, norm = RECORDED[name]
    last = list(Trainer(replace(SMALL, **change), CORPUS).run(sample_length=0))[-1]
    assert last.step == last.total_steps == steps
    assert last.train_perplexity == pytest.approx(train, rel=1e-5)  # the last bits are the processor's own
    assert last.validation_perplexity == (None if held_out is None else pytest.approx(held_out, rel=1e-5))
    assert last.gradient_norm == pytest.approx(norm, rel=1e-4)
