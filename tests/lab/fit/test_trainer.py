"""Training: the data it reads, the gradients it cuts, and that a run can be stopped and resumed."""

import math
import random
import time
from contextlib import nullcontext
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional as F

import rnnviz
from rnnviz.lab.engines import compiled
from rnnviz.lab.fit.batches import Cuts, Streams, beginnings
from rnnviz.lab.fit.fitting import fit
from rnnviz.lab.fit.trainer import TEXT_TEMPERATURE, StepReport, Trainer, train
from rnnviz.lab.run.folder import Description, RunFolder
from rnnviz.lab.run.training_state import restore, save
from rnnviz.networks import contamination
from rnnviz.networks.cells import CELLS
from rnnviz.networks.config import Cell, Engine, TrainConfig
from rnnviz.scoring.perplexity import perplexity
from rnnviz.text import corpora
from tests.support.closeness import close
from tests.support.texts import TRAVELLER
from tests.support.training import CORPUS, SMALL, same_tensors


def weights(trainer: Trainer) -> dict[str, torch.Tensor]:
    return {k: v.clone() for k, v in trainer.model.state_dict().items()}


@pytest.mark.parametrize("length", [2, 7, 50, 63, 1000])
def test_streams_read_every_character_once_and_in_order(length: int) -> None:
    streams = Streams(torch.arange(length), 4, 30, start=-1)
    cuts = Cuts(streams.length, 30, 30, streams.length)
    pieces = [streams.between(*cuts.at(step), streams.slack) for step in range(cuts.total_steps)]
    inputs, labels = (torch.cat(parts, dim=1) for parts in zip(*pieces, strict=True))
    assert cuts.total_steps == streams.pieces_an_epoch
    assert labels.shape == inputs.shape == (streams.row_count, streams.length)
    assert torch.equal(labels.flatten(), torch.arange(streams.slack, streams.slack + streams.characters))
    assert torch.equal(inputs[:, 1:], labels[:, :-1])  # labels are the inputs, one further on
    assert (inputs[:, 0] == -1).all()  # every stream begins with the start symbol
    # A chunk and a remainder are left out, elsewhere each epoch; nothing of a short text.
    assert 0 <= length - streams.characters < streams.row_count + streams.slack


def test_only_a_text_that_is_split_begins_elsewhere_in_each_epoch() -> None:
    for length, moves in ((corpora.SHORTEST_SPLIT - 1, False), (corpora.SHORTEST_SPLIT, True)):
        assert bool(Streams(torch.arange(length), 4, 10, start=-1).slack) == moves


def test_fresh_rows_begin_at_paragraphs_behind_the_start_symbol() -> None:
    text = "".join(f"Paragraph {n} has\na few lines\n  and more.\n\n" for n in range(20))
    ids = torch.tensor([ord(c) for c in text])
    streams = Streams(ids, 8, 10, start=-1, fresh_share=0.3, beginnings=beginnings(text))
    assert (streams.fresh_rows, streams.stream_count) == (2, 6)
    generator, numbers_read = torch.Generator().manual_seed(0), set()
    for n in range(1, 16):
        inputs, labels = streams.fresh_pieces(n, generator)
        assert inputs.shape == labels.shape == (2, n)
        assert (inputs[:, 0] == -1).all()
        assert torch.equal(inputs[:, 1:], labels[:, :-1])
        for row in labels:
            piece = "".join(map(chr, row))
            assert f"\n\n{text}".count(f"\n\n{piece}") > 0
            numbers_read.add(piece[10:13])
    assert len(numbers_read) > 5


@pytest.mark.parametrize(
    ("share", "batch", "fresh"),
    [(0.0, 32, 0), (6 / 32, 32, 6), (0.01, 32, 1), (0.95, 32, 30), (0.95, 4, 3), (0.5, 1, 0)],
)
def test_a_share_of_the_rows_begins_afresh_and_one_stream_is_left(
    share: float, batch: int, fresh: int
) -> None:
    streams = Streams(torch.arange(1000), batch, 10, start=-1, fresh_share=share)
    assert (streams.fresh_rows, streams.stream_count) == (fresh, batch - fresh)


@pytest.mark.parametrize("truncation", ["regular", "random"])
@pytest.mark.parametrize("clip", [0.01, 1000.0, None])
def test_a_step_is_a_reading_of_its_own_characters_and_a_clipped_gradient(
    truncation: Any, clip: float | None
) -> None:
    """Streams go on from the state carried in, where gradients stop, fresh rows from none; torch clips."""
    trainer, plain = (
        Trainer(replace(SMALL, fresh_rows=0.5, truncation=truncation, clip=clip), CORPUS) for _ in range(2)
    )
    for _ in range(30):
        begin, end = trainer.cuts.at(trainer.step_index)
        count, carried, generator = trainer.streams.stream_count, trainer.carried_state, torch.Generator()
        generator.set_state(trainer.generator.get_state())
        if begin == 0:
            carried = None
            torch.randint(trainer.streams.slack + 1, (1,), generator=generator)
        state = carried and tuple(part[:, :count].clone() for part in carried)
        plain.model.load_state_dict(trainer.model.state_dict())  # rounding doesn't add up
        loss, norm, n = trainer.step()
        streams = trainer.streams.between(begin, end, trainer.offset)
        costs = []
        for (inputs, labels), start in (
            (streams, state),
            (trainer.streams.fresh_pieces(end - begin, generator), None),
        ):
            logits, _ = plain.model(inputs, start)
            costs.append(F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none"))
        expected = torch.cat(costs).mean()
        plain.optimiser.zero_grad()
        torch.autograd.backward(expected)
        right = torch.nn.utils.clip_grad_norm_(plain.model.parameters(), math.inf if clip is None else clip)
        plain.optimiser.param_groups[0]["lr"] = trainer.optimiser.param_groups[0]["lr"]
        plain.optimiser.param_groups[1]["lr"] = trainer.optimiser.param_groups[1]["lr"]
        plain.optimiser.step()
        assert n == 4 * (end - begin)
        torch.testing.assert_close((loss, norm), (expected.detach(), right), rtol=1e-4, atol=1e-6)
        for ours, theirs in zip(trainer.model.parameters(), plain.model.parameters(), strict=True):
            torch.testing.assert_close(ours.grad, theirs.grad, atol=1e-6, rtol=1e-4)
            torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


def test_a_normaliser_is_used_in_training_and_kept_by_the_model() -> None:
    straight = corpora.from_text('"I see," he said - and left. ' * 40)
    curly = corpora.from_text("“I see,” he said — and left. " * 40)
    *_, plain = train(replace(SMALL, epochs=1), straight, sample_length=0)
    *_, normalised = train(replace(SMALL, epochs=1, normaliser="typography"), curly, sample_length=0)
    assert close(numbers(plain), numbers(normalised))
    for text in ("“he.”", '"he."'):
        score, expected = perplexity(normalised.model, text=text), perplexity(plain.model, text='"he."')
        assert score.perplexity == pytest.approx(expected.perplexity, rel=1e-4)
    assert perplexity(normalised.model, text="“he.”").normalised == 2
    assert perplexity(plain.model, text="“he.”").unknown == 2


def test_best_is_the_lowest_validation_perplexity_so_far() -> None:
    reports = list(train(replace(SMALL, epochs=15, learning_rate=0.05), CORPUS, sample_length=0))
    lowest = math.inf
    for report in reports:
        assert report.validation_perplexity is not None
        assert report.best == (report.validation_perplexity < lowest)
        lowest = min(lowest, report.validation_perplexity)


def test_a_report_says_where_the_run_stands() -> None:
    trainer = Trainer(SMALL, CORPUS)
    first, *_, last = trainer.run(prompt="a ", sample_length=9)
    assert (last.step, last.total_steps) == (trainer.total_steps, trainer.total_steps)
    assert (last.epoch, last.characters) == (pytest.approx(2.0), trainer.characters)
    assert first.epoch == pytest.approx(first.step / trainer.streams.pieces_an_epoch)
    assert 0 < last.characters_per_second < 100 * last.characters / last.seconds  # of the last steps alone
    assert (last.learning_rate, last.model) == (trainer.optimiser.param_groups[0]["lr"], trainer.model)
    assert last.gradient_norm == float(trainer.norm) > 0
    assert 1 < last.train_perplexity < first.train_perplexity
    assert trainer.report_sums.loss.dtype == torch.float64  # sums over an epoch
    assert trainer.compute_facts() == {
        "device": "cpu", "threads": torch.get_num_threads(), "bfloat16": False,
        "backward": trainer.model.backward_pass(),
    }  # fmt: skip
    sample_text = rnnviz.sample(last.model, "a ", 9, temperature=TEXT_TEMPERATURE, seed=SMALL.seed)
    assert (last.sample, len(last.sample)) == (sample_text, 9)


def test_seconds_are_of_training_alone() -> None:
    """What is done with a report doesn't count, nor what is done in a pause after a step."""
    trainer, began, idle = Trainer(SMALL, CORPUS), time.perf_counter(), 0.0

    def wait(trainer: Trainer) -> None:
        with trainer.paused():
            time.sleep(0.01)

    for _report in trainer.run(on_step=wait, sample_length=0):
        time.sleep(0.1)
        idle += 0.1
    whole = time.perf_counter() - began - idle - 0.01 * trainer.total_steps
    assert 0 < trainer.seconds < whole


@pytest.mark.parametrize("train_on", ["train", "train+validation"])
def test_held_out_text_is_never_read_not_even_for_the_vocabulary(train_on: Any) -> None:
    share = 0.85 if train_on == "train" else 0.9
    n = int(share * len(TRAVELLER))
    corpus = corpora.from_text(TRAVELLER[:n] + "@" * (len(TRAVELLER) - n))
    trainer = Trainer(replace(SMALL, train_on=train_on, min_count=1), corpus)
    assert trainer.text == TRAVELLER[:n]
    assert "@" not in trainer.model.vocabulary


def test_the_learning_rate_warms_up_and_falls_as_a_cosine() -> None:
    trainer = Trainer(replace(SMALL, epochs=100), CORPUS)
    rates = []
    for step in range(trainer.total_steps):
        trainer.step_index = step
        rates.append(trainer.learning_rate())
    top = rates.index(max(rates))
    assert rates[top] == pytest.approx(0.02)
    assert top <= trainer.total_steps // 50
    assert rates[:top] == sorted(rates[:top])
    assert rates[top:] == sorted(rates[top:], reverse=True)
    assert rates[-1] == pytest.approx(0.02 * 0.01, rel=0.05)


@pytest.mark.parametrize("optimiser", ["sgd", "momentum"])
def test_gradient_descent_keeps_its_learning_rate(optimiser: Any) -> None:
    trainer = Trainer(replace(SMALL, optimiser=optimiser), CORPUS)
    rates = set()
    for step in range(trainer.total_steps):
        trainer.step_index = step
        rates.add(trainer.learning_rate())
    assert rates == {0.02}


@pytest.mark.skipif(not compiled.ready(), reason="no numba, or a torch without sgemm_")
@pytest.mark.parametrize("optimiser", ["adamw", "sgd", "momentum"])
@pytest.mark.parametrize("partition", ["sequential", "random"])
def test_a_step_is_the_same_by_compiled_code_and_by_torch(optimiser: Any, partition: Any) -> None:
    recipe = replace(
        SMALL, cell="rnn", activation="relu", initialisation="identity", sigma=0.1,
        optimiser=optimiser, partition=partition, clip=None, learning_rate=0.1,
    )  # fmt: skip
    first, second = (Trainer(recipe, CORPUS) for _ in range(2))
    begun = weights(first)
    for trainer, engine in ((first, "numba"), (second, "torch")):
        trainer.model.engine = engine
        assert trainer.model.backward_pass() == engine
        trainer.step()
    for name, ours in weights(first).items():
        assert not torch.equal(ours, begun[name])
        torch.testing.assert_close(ours, weights(second)[name], rtol=1e-6, atol=1e-6)


def test_weights_begin_as_the_recipe_says() -> None:
    recipe = replace(SMALL, cell="rnn", hidden_size=200, initialisation="normal", sigma=0.01)
    for values in weights(Trainer(recipe, CORPUS)).values():
        if values.dim() == 1:
            assert not values.any()
        else:
            assert float(values.std()) == pytest.approx(0.01, rel=0.1)
    started = weights(Trainer(replace(recipe, initialisation="identity", activation="relu"), CORPUS))
    assert torch.equal(started["recurrence.weight_hh_l0"], torch.eye(200))
    assert not same_tensors(started, weights(Trainer(replace(recipe, seed=1), CORPUS)))


def test_another_seed_gives_other_weights_and_leaves_the_callers_random_numbers_alone() -> None:
    """That the same seed gives the same is held where a run is resumed."""
    torch.manual_seed(99)
    trainers = [Trainer(replace(SMALL, seed=seed, dropout_output=0.3), CORPUS) for seed in (1, 2)]
    for trainer in trainers:
        list(trainer.run(sample_length=0))
    assert not same_tensors(*map(weights, trainers))
    assert torch.rand(1) == torch.rand(1, generator=torch.Generator().manual_seed(99))


@cache
def uninterrupted(
    config: TrainConfig, engine: Engine, threads: int
) -> tuple[dict[str, torch.Tensor], int, list[StepReport]]:
    """The weights of a whole run, the characters that it read, and its reports."""
    torch.set_num_threads(threads)
    trainer = Trainer(config, CORPUS)
    trainer.model.engine = engine
    assert trainer.model.backward_pass() == engine
    reports = list(trainer.run())
    return weights(trainer), trainer.characters, reports


@pytest.mark.exact
@pytest.mark.slow
@pytest.mark.parametrize(
    ("truncation", "stop_at", "engine", "threads"),
    [
        *(("regular", n, "torch", 1) for n in (1, 22, 25, 44)),
        *(("random", n, "torch", 1) for n in (13, 30)),
        *(("regular", 9, "numba", n) for n in (1, 2)),
        *((optimiser, 25, "torch", 1) for optimiser in ("sgd", "momentum")),
    ],
)
def test_a_resumed_run_has_the_same_weights_bit_for_bit(
    tmp_path: Path, truncation: Any, stop_at: int, engine: Engine, threads: int
) -> None:
    """The promise of `--resume`: an interruption changes no number of a run, on a CPU."""
    if engine == "numba" and not compiled.ready():
        pytest.skip("no numba")
    torch.set_num_threads(threads)
    dropout = {"dropout_output": 0.3, "dropout_weight": 0.2, "dropout_embedding": 0.1}
    layers = {"layers": 2, "dropout_layer": 0.2, "fresh_rows": 0.5} if truncation == "random" else {}
    config = replace(SMALL, **dropout, **layers)
    if truncation in ("sgd", "momentum"):
        config = replace(config, optimiser=truncation, partition="random", initialisation="normal", sigma=0.1)
    else:
        config = replace(config, truncation=truncation)
    whole, characters, reports = uninterrupted(config, engine, threads)
    first, second = (Trainer(config, CORPUS) for _ in range(2))
    for trainer in (first, second):
        trainer.model.engine = engine
        assert trainer.model.backward_pass() == engine
    list(first.run(on_step=lambda t: t.stop() if t.step_index == stop_at else None))
    assert first.step_index == stop_at
    folder = RunFolder(tmp_path / "run")
    folder.begin(Description("x", config, corpus="smiles"))
    save(folder, first)
    assert restore(folder, second)
    resumed = list(second.run())
    assert same_tensors(whole, weights(second))
    assert second.characters == characters
    for a, b in zip(resumed, reports[-len(resumed) :], strict=True):  # the partial sums went on, too
        assert numbers(a) == numbers(b)
    if (truncation, stop_at) == (
        "regular",
        22,
    ):  # stopped where a report was due: it is made when the run goes on
        assert len(resumed) == len(reports)


def numbers(report: StepReport) -> dict[str, Any]:
    """A report without its model, and without what the clock says."""
    timed = ("model", "seconds", "characters_per_second")
    return {f.name: getattr(report, f.name) for f in fields(report) if f.name not in timed}


@pytest.mark.exact
def test_early_reports_are_ever_further_apart_and_change_nothing_that_is_learnt() -> None:
    """Not a bit of a weight: a report is no step, nor is a run that goes on another run."""
    config = replace(SMALL, evaluate_every=50, epochs=8)
    plain, early = (list(Trainer(config, CORPUS).run(early_reports=e)) for e in (False, True))
    first = next(n for n, r in enumerate(early) if r.step == 50)
    assert [(r.step, len(r.sample)) for r in early[:first]] == [(n, 200) for n in (1, 8, 16, 32)]
    assert [r.step for r in early[first:]] == [r.step for r in plain]
    assert [r.validation_perplexity for r in early[first:]] == [r.validation_perplexity for r in plain]
    assert same_tensors(early[-1].model.state_dict(), plain[-1].model.state_dict())
    # Each says what was since the one before it, so that training and validation can be compared.
    assert [numbers(r) for r in early[first + 1 :]] == [numbers(r) for r in plain[1:]]
    assert all(
        0.5 < r.train_perplexity / r.validation_perplexity < 2 for r in early if r.validation_perplexity
    )


@pytest.mark.slow
def test_early_reports_end_with_the_first_epoch() -> None:
    trainer = Trainer(replace(SMALL, evaluate_every=0, epochs=30), CORPUS)
    chunks = trainer.streams.pieces_an_epoch
    steps = [r.step for r in trainer.run(early_reports=True, sample_length=0)]
    assert [n for n in steps if n % chunks] == [1, *(n for n in (8, 16, 32, 64, 128) if n < chunks)]


@pytest.mark.parametrize("engine", ["numba", "torch"])
@pytest.mark.parametrize("cell", CELLS)
def test_a_step_on_a_device_leaves_no_tensor_on_the_processor(
    cell: Cell, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shown on the meta device, which computes shapes alone: what meets a tensor from elsewhere raises. It
    has no random numbers, no bfloat16 and no fused optimiser.
    """
    drops = {"dropout_output": 0.2, "dropout_layer": 0.2, "dropout_embedding": 0.2}
    if CELLS[cell].mixes:
        drops["dropout_weight"] = 0.2
    recipe = replace(SMALL, cell=cell, hidden_size=12, layers=2, fresh_rows=0.3, **drops)
    with monkeypatch.context() as patched:
        generator = torch.Generator()
        patched.setattr(torch, "Generator", lambda _: generator)
        trainer = Trainer(recipe, CORPUS, device="meta")
    trainer.model.engine = engine
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())
    monkeypatch.setattr(trainer.optimiser, "step", lambda: None)
    trainer.step_index = 1  # the first draws where an epoch begins
    for _ in range(2):  # the second goes on from a state
        loss, norm, _ = trainer.step()
        assert trainer.carried_state is not None
        gradients = [p.grad for p in trainer.model.parameters()]
        for tensor in (loss, norm, trainer.optimiser.grad_scale, *gradients, *trainer.carried_state):
            assert tensor.is_meta


def test_the_best_model_comes_back_with_its_card(tmp_path: Path) -> None:
    """Not the last one: what is learnt of the order of letters is wrong where they are shuffled."""
    shuffled = list(TRAVELLER[: len(TRAVELLER) * 3 // 17])
    random.Random(0).shuffle(shuffled)
    corpus = corpora.from_text(TRAVELLER + "".join(shuffled))
    reports: list[tuple[float | None, bool]] = []
    weights_by_report: list[dict[str, torch.Tensor]] = []

    def on_report(report: StepReport) -> None:
        reports.append((report.validation_perplexity, report.best))
        weights_by_report.append({part: w.clone() for part, w in report.model.state_dict().items()})

    config = replace(SMALL, epochs=8, evaluate_every=5)
    model = fit(config, corpus, name="smiles-gru", sample_length=0, on_report=on_report)
    best = max(n for n, (_perplexity, better) in enumerate(reports) if better)
    assert 0 < best < len(reports) - 1
    assert same_tensors(model.state_dict(), weights_by_report[best])
    split = corpus.split()
    validation = perplexity(model, text=split.validation).perplexity
    assert validation == pytest.approx(
        min(figure for figure, _better in reports if figure is not None), rel=1e-5
    )
    held_out = perplexity(model, text=split.held_out).perplexity
    assert model.card["held_out"]["perplexity"] == pytest.approx(held_out, rel=1e-5)
    assert model.card["recipe"] == config.to_json()
    again = rnnviz.load(rnnviz.save(model, tmp_path / "smiles-gru.safetensors"))
    assert contamination.share(split.train, again.sketch).share > 0.9
    assert model.name == again.name == "smiles-gru"
