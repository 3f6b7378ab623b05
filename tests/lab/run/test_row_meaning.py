"""The birth of a meaning: the rows of the finished network's card, at the moments of its training."""

import base64
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from rnnviz.lab.reports import training
from rnnviz.lab.run import event_log, row_meaning, snapshots
from rnnviz.lab.run.folder import RunFolder
from rnnviz.lab.run.snapshots import Watching
from rnnviz.networks import checkpoint, model_card
from rnnviz.scoring.tracer import trace
from tests.support.built import COUNTS, LATCHES, VOCABULARY, built, quoted
from tests.support.models import network, random_tensors

SENTENCE = "abc “def” ab."


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A run with two moments: random weights, then the network whose unit LATCHES follows quotations."""
    folder = RunFolder(tmp_path)
    random = network(built().config, VOCABULARY, random_tensors(built().config), name="random")
    watching = Watching(folder)
    for step, model in ((0, random), (5, built())):
        watching.look(partial(trace, model, SENTENCE), step=step, characters=100 * step, keep=True)
        checkpoint.save(model, folder.moment_file(step), half=True, card={})
    return folder


def card_of(*units: int) -> dict[str, object]:
    shipped = checkpoint.read_info(checkpoint.find("holmes-lstm"))
    found = replace(model_card.unit_findings(shipped.card)[0], quantity="hidden")
    findings = [replace(found, target="quotes", unit=unit, direction=1) for unit in units]
    weights = np.zeros(built().config.hidden_size, "<f2")
    weights[COUNTS] = 0.25
    packed = base64.b64encode(weights.tobytes()).decode()
    if units:  # a weighted sum beside them, of one unit: it follows the position in the line
        findings.append(
            replace(found, target="line-position", measure="correlation", direction=1, weights=packed)
        )
    return {model_card.UNITS_KEY: {"findings": [finding.to_json() for finding in findings]}}


def test_a_rows_meaning_is_told_at_each_moment_and_its_values_are_kept(folder: RunFolder) -> None:
    text = quoted(3_000)
    row_meaning.follow_rows(folder, card_of(LATCHES), text)
    events, _ = event_log.read(folder.events)
    by_step = {event["step"]: event for event in events if event["event"] == "meaning"}
    assert by_step.keys() == {0, 5}
    assert by_step[5]["scores"][0] > 0.999
    assert by_step[0]["scores"][0] < 0.9
    assert not list(folder.moments.glob("*")), "the weights have told what they were kept for"
    last = snapshots.read(folder.snapshot_file(5))
    assert last.named is not None
    assert (last.rows, len(last.sentences)) == (("quotes", "line-position"), row_meaning.SENTENCES)
    assert by_step[5]["scores"][1] > 0.9
    assert all(sentence in text for sentence in last.sentences)
    assert all("“" in sentence for sentence in last.sentences), "where nothing changes, nothing is seen"
    assert last.named.shape == (2, len(SENTENCE) + sum(map(len, last.sentences)))
    inside = np.array([4 <= t < 8 for t in range(len(SENTENCE))])  # the closing mark has been read
    assert ((last.named[0, : len(SENTENCE)] > 0) == inside).all()
    assert np.percentile(abs(last.named), 98, axis=1) == pytest.approx([1, 1], abs=0.01)
    newest = snapshots.read(folder.newest_snapshot)
    assert newest.rows == ("quotes", "line-position")
    curves = training.curves(events)
    assert (curves.row, curves.born, curves.meaning_at.tolist()) == ("quotes", 500.0, [0.0, 500.0])
    back = [
        {**by_step[5], "characters": 700},
        {**by_step[0], "characters": 900},
        {**by_step[5], "characters": 950},
    ]
    assert training.curves([*events, *back]).born == 950, "from then on: before, it was forgotten once more"
    names = [line["name"] for line in training.figure(curves)["data"]]
    assert "meaning" in names
    assert "meaning" not in [line["name"] for line in training.figure(training.curves([]))["data"]]


def test_without_a_named_row_only_the_weights_go(folder: RunFolder) -> None:
    before = folder.snapshot_file(5).read_bytes()
    row_meaning.follow_rows(folder, {}, quoted(3_000))
    assert not folder.events.exists()
    assert folder.snapshot_file(5).read_bytes() == before
    assert not list(folder.moments.glob("*"))


def test_a_damaged_moment_is_passed_over(folder: RunFolder) -> None:
    folder.snapshot_file(0).write_bytes(b"damaged")
    row_meaning.follow_rows(folder, card_of(LATCHES), quoted(3_000))
    events, _ = event_log.read(folder.events)
    assert [event["step"] for event in events] == [5]
