"""A record: what is written is what was scored, nothing more stays, and nothing grows with the text."""

from __future__ import annotations

import gc
import math
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.errors import TextError
from rnnviz.networks.checkpoint import load
from rnnviz.networks.progress import Cancelled, Share
from rnnviz.scoring.column_files import COLUMNS, SUM_BLOCK_CHARS, ColumnFiles, filename
from rnnviz.scoring.perplexity import (
    LanguageModel,
    UniformModel,
    perplexity,
    running_perplexity,
    score,
)
from rnnviz.scoring.record import record
from rnnviz.text.vocabulary import Vocabulary
from tests.support import needs
from tests.support.closeness import assert_states, close
from tests.support.models import TEXT, tiny
from tests.support.pieces import pieces
from tests.support.recorded import NGRAM, make_record, record_costs

OTHER = ("A traveller! He is 道 quiet; zzz Time.\r\n" * 70 + "😀") * 3


@pytest.mark.parametrize(
    "model", [NGRAM, tiny("gru", name="gru"), UniformModel(NGRAM.vocabulary)], ids=lambda m: m.name
)
def test_record_holds_the_columns_of_its_pieces(model: LanguageModel, tmp_path: Path) -> None:
    text_record, text = make_record(tmp_path, model, OTHER), OTHER.replace("\r\n", "\n")
    (piece,) = pieces(model, OTHER, piece_chars=len(OTHER))
    n, is_known = len(text_record), np.array([c in model.vocabulary.characters for c in text])
    assert text_record.text(0, n) == piece.text == text
    assert text_record.read("codes").tolist() == [ord(c) for c in text]
    assert_states(text_record.read("nll"), piece.nll)
    np.testing.assert_array_equal(text_record.read("rank"), np.where(is_known, piece.rank, -piece.rank))
    np.testing.assert_array_equal(text_record.ranks(0, n), piece.rank)
    np.testing.assert_array_equal(text_record.is_known(0, n), is_known)
    assert_states(text_record.read("entropy"), piece.entropy)


@pytest.mark.parametrize("model", [NGRAM, tiny("lstm", name="lstm")], ids=lambda m: m.name)
def test_record_reports_as_scoring_does(model: LanguageModel, tmp_path: Path) -> None:
    expected = perplexity(model, text=OTHER)
    text_record = make_record(tmp_path, model, OTHER)
    ours, theirs = text_record.score.to_json(), expected.to_json()
    del ours["seconds"], theirs["seconds"]
    assert close(ours, theirs)


def test_record_reports_the_progress_of_its_score(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_bytes(OTHER.encode("gb18030"))
    steps: list[Share] = []
    text_record = record(NGRAM, path, tmp_path / "r", encoding="gb18030", name="Book", progress=steps.append)
    expected = score(NGRAM, path, encoding="gb18030")
    assert steps[-1] == Share(1.0, expected.characters, expected.perplexity)
    record_score = text_record.score
    assert (record_score.file, record_score.encoding, record_score.certainty) == (
        "Book",
        "gb18030",
        "declared",
    )


@given(
    st.integers(1, 5 * SUM_BLOCK_CHARS),
    st.lists(st.integers(0, 5 * SUM_BLOCK_CHARS), max_size=20),
    st.integers(0, 2**32),
)
def test_sums_are_those_of_the_costs_anywhere(tmp_path: Path, n: int, places: list[int], seed: int) -> None:
    costs = np.random.default_rng(seed).exponential(size=n).astype(np.float32).astype(np.float64)
    text_record = record_costs(tmp_path, "ab" * (n // 2) + "c" * (n % 2), costs)
    positions = np.minimum([*places, 0, n, SUM_BLOCK_CHARS], n)
    expected = np.concatenate([[0], np.cumsum(costs)])[positions]
    np.testing.assert_allclose(text_record.sums(positions), expected, rtol=1e-12)
    text_record.close()


def test_unknown_characters_are_counted(tmp_path: Path) -> None:
    text_record = make_record(tmp_path, UniformModel(Vocabulary(("a", "b"))), "a道b😀道")
    assert text_record.unknown_counts() == [("道", 2), ("😀", 1)]
    assert text_record.score.unknown == 3
    assert make_record(tmp_path, UniformModel(Vocabulary(("a",))), "aa").unknown_counts() == []


def test_record_is_read_only(tmp_path: Path) -> None:
    text_record = record_costs(tmp_path, "abc", [1, 2, 3])
    with pytest.raises(ValueError, match="read-only"):
        text_record.read("nll", 0, 3)[:] = 9


def test_cancelled_record_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rnnviz.networks.progress.REPORT_INTERVAL_S", 0.0)  # a step a piece

    def cancel(share: Share) -> None:
        assert share.characters < len(TEXT) * 100
        raise Cancelled

    with pytest.raises(Cancelled):
        record(NGRAM, None, tmp_path / "r", text=TEXT * 100, progress=cancel)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_exists_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("mine", "utf-8")
    with pytest.raises(TextError, match="mine can't be written"):
        record(NGRAM, None, tmp_path / "mine", text="a")
    assert (tmp_path / "mine" / "notes").read_text("utf-8") == "mine"
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(TextError, match="can't be written"):
        record(NGRAM, None, tmp_path / "file" / "r", text="a")


def test_an_infinite_perplexity_survives(tmp_path: Path) -> None:
    text_record = record_costs(tmp_path, "aa", [1e4, 1e4])
    assert text_record.score.perplexity == math.inf
    assert text_record.score.bits_per_character == pytest.approx(1e4 / math.log(2))
    curve = text_record.curve()
    assert curve.running.tolist() == curve.rolling.tolist() == [math.inf, math.inf]


def _open_in(folder: Path) -> int:
    links = (Path("/proc/self/fd") / name for name in os.listdir("/proc/self/fd"))
    return sum(os.readlink(link).startswith(str(folder)) for link in links if link.is_symlink())


@needs.removal
def test_record_outlives_its_folder(tmp_path: Path) -> None:
    text_record = record_costs(tmp_path, "abc", [1, 2, 3])
    shutil.rmtree(text_record.folder)
    assert text_record.text(0, 3) == "abc"
    assert text_record.read("nll").tolist() == [1, 2, 3]
    text_record.close()
    text_record.close()


@pytest.mark.skipif(sys.platform != "linux", reason="Linux lists a process's open files")
def test_record_closes_its_files(tmp_path: Path) -> None:
    text_record = record_costs(tmp_path, "abc", [1, 2, 3])
    assert _open_in(tmp_path) == len(COLUMNS)
    text_record.close()
    assert _open_in(tmp_path) == 0
    columns = ColumnFiles(text_record.folder)
    assert _open_in(tmp_path) == len(COLUMNS)
    del columns
    gc.collect()
    assert _open_in(tmp_path) == 0
    (text_record.folder / filename("sums")).unlink()
    with pytest.raises(TextError):
        ColumnFiles(text_record.folder)
    gc.collect()
    assert _open_in(tmp_path) == 0


def test_threads_read_one_record_together(tmp_path: Path) -> None:
    costs = np.random.default_rng(0).exponential(size=200_000)
    text_record = record_costs(tmp_path, "ab" * 100_000, costs)
    expected = running_perplexity(costs)
    positions = np.random.default_rng(1).integers(1, len(text_record) + 1, 400)
    with ThreadPoolExecutor(4) as pool:
        sums = list(pool.map(lambda position: text_record.sums([position])[0], positions))
    np.testing.assert_allclose(np.exp(np.array(sums) / positions), expected[positions - 1], rtol=1e-6)


PEAK = """
import resource, sys
from pathlib import Path
from rnnviz.scoring.breakdown import compare_records
from rnnviz.scoring.column_files import ColumnFiles
from rnnviz.scoring.record import record
from rnnviz.scoring.perplexity import UniformModel
from rnnviz.scoring.interval import interval
from rnnviz.text.vocabulary import Vocabulary
path, folder = map(Path, sys.argv[1:])
model = UniformModel(Vocabulary(tuple("\\n ab")))
r = record(model, path, folder)
r.curve(); r.surprising_passages(); r.surprising_passages(least=True)
r.lines()
interval(r)
d = compare_records(r, ColumnFiles(folder)); d.total; d.passages()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is counted in kilobytes on Linux")
def test_memory_of_a_record_is_flat(tmp_path: Path) -> None:
    peaks = []
    for name, size in (("small", 50_000), ("large", 4_000_000)):
        path = tmp_path / f"{name}.txt"
        path.write_bytes(b"ab ba\n\nabba ab\n" * (size // 15))
        done = subprocess.run(
            [sys.executable, "-c", PEAK, str(path), str(tmp_path / name)],
            env={
                **os.environ,
                "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
                "OMP_NUM_THREADS": "1",
            },
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        peaks.append(int(done.stdout))
    # The record has 64 MB; what is kept at a time is some columns of a quarter of a million characters.
    assert peaks[1] - peaks[0] < 40_000, peaks


def test_a_precise_record_has_ranks_and_entropies_of_every_cell(tmp_path: Path) -> None:
    for name in ("timemachine-mlp", "timemachine-rnn", "timemachine-gru", "timemachine-lstm"):
        model = load(name)
        usual = record(model, None, tmp_path / f"{name}-usual", text=TEXT)
        precise = record(model, None, tmp_path / name, text=TEXT, precise=True)
        for column in ("nll", "entropy"):
            np.testing.assert_allclose(
                precise.read(column, 0, len(TEXT)), usual.read(column, 0, len(TEXT)), atol=1e-4
            )
        assert precise.score.precise
        assert not usual.score.precise
