"""Arguments and options by their names in 2.0.0 work for one version, and say what to write."""

import gzip
import io
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz import cli
from rnnviz.figures import export, live, pictures, row_table, themes
from rnnviz.lab.reports import training
from tests.support.commands import *  # noqa: F403 - its fixtures
from tests.support.commands import Run
from tests.support.models import tiny

SMALL = rnnviz.TrainConfig(cell="rnn", hidden_size=8, epochs=20, batch=1, steps=7, learning_rate=0.02)


def train_sample(**text: str) -> str:
    *_, last = rnnviz.train(SMALL, "machine", sample_length=9, **text)  # type: ignore[arg-type]
    return last.sample


def fit_sample(**text: str) -> str:
    samples: list[str] = []
    rnnviz.fit(
        SMALL,
        "machine",
        sample_length=9,
        on_report=lambda report: samples.append(report.sample),
        **text,  # type: ignore[arg-type]
    )
    return samples[-1]


def followed_text(**text: str) -> str:
    with rnnviz.follow("mine", tiny("gru"), **text) as run:  # type: ignore[arg-type]
        run.log(1, loss=2.0)
    return str(json.loads((run.path / "run.json").read_text())["probe"])


@pytest.mark.parametrize(
    ("call", "name", "old"),
    [(train_sample, "train", "probe"), (fit_sample, "fit", "probe"), (followed_text, "follow", "watched")],
)
def test_old_argument_does_as_the_new_one_and_warns(
    call: object, name: str, old: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path))
    assert callable(call)
    with pytest.warns(DeprecationWarning, match=rf"write {name}\(…, watch_text=…\)") as warned:
        result = call(**{old: "chin"})
    assert warned[0].filename == __file__
    assert result == call(watch_text="chin") != call(watch_text="")


def test_old_option_does_as_the_new_one_and_warns(run_beside_text: Run) -> None:
    words = (
        "train --corpus tiny.txt --name x --run-dir run --cell rnn --hidden-size 4 --epochs 1 --probe chin"
    )
    code, _, err = run_beside_text(words)
    assert code == 0
    assert "rnnviz: --probe is called --watch now: write --watch SENTENCE\n" in err
    assert json.loads(Path("run/run.json").read_text())["probe"] == "chin"


def test_command_says_that_another_model_replaces_the_one_it_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["rnnviz", "sample", "--model", "python-6gram", "--length", "1"])
    with warnings.catch_warnings(action="ignore"), pytest.raises(SystemExit, match=r"^0$"):
        cli.run()  # as a shell does: Python itself would hide the warning
    assert capsys.readouterr().err == (
        "rnnviz: the model python-6gram is replaced by python-5gram: write 'python-5gram'\n"
    )


OLD_PERPLEXITY: Any = rnnviz.perplexity  # with the arguments of 2.0.0
ROWS = b'{"before": "The ", "text": "machine"}\n{"before": "", "text": "traveller"}\n'


def figures(score: rnnviz.Score) -> tuple[Any, ...]:
    """What was read, and its cost, to the last bits of float32."""
    return (score.characters, score.given_characters, round(score.nll, 4))


def test_perplexity_given_warns_and_scores_as_context_does() -> None:
    model = tiny("gru")
    with pytest.warns(DeprecationWarning, match=r"write perplexity\(…, context=…\)") as warned:
        score = OLD_PERPLEXITY(model, "machine", given="The ")
    assert warned[0].filename == __file__
    assert figures(score) == figures(rnnviz.perplexity(model, "machine", context="The "))
    assert score.given_characters == 4


def test_perplexity_of_a_column_warns_and_scores_as_rows_do() -> None:
    model = tiny("gru")
    old_rows: list[Any] = []
    rows: list[Any] = []
    with (
        pytest.warns(DeprecationWarning, match=r"write perplexity\(…, context=…\)"),
        pytest.warns(DeprecationWarning, match=r"write perplexity_of_rows\(model, .*on_row") as warned,
    ):
        old_score = OLD_PERPLEXITY(
            model, io.BytesIO(ROWS), name="a.jsonl", column="text", given="before", each=old_rows.append
        )
    assert {warning.filename for warning in warned} == {__file__}
    score = rnnviz.perplexity_of_rows(
        model, io.BytesIO(ROWS), name="a.jsonl", column="text", context="before", on_row=rows.append
    )
    assert figures(old_score) == figures(score)
    assert [(row.row, row.characters) for row in old_rows] == [(0, 7), (1, 9)]
    assert [row.nll for row in old_rows] == pytest.approx([row.nll for row in rows], rel=1e-6)


def test_perplexity_of_a_packed_file_warns_and_scores_its_rows() -> None:
    model = tiny("gru")
    packed = gzip.compress(b'{"text": "machine"}\n')
    with pytest.warns(DeprecationWarning, match="write perplexity_of_rows"):
        old_score = OLD_PERPLEXITY(model, io.BytesIO(packed), name="a.jsonl.gz")
    score = rnnviz.perplexity_of_rows(model, io.BytesIO(packed), name="a.jsonl.gz")
    assert figures(old_score) == figures(score)


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        (export, "add", "write_rows"),
        (export, "curve", "curve_svg"),
        (export, "of", "csv_text"),
        (live, "COLUMNS", "WINDOW_COLUMNS"),
        (live, "plane", "heat_map_values"),
        (live, "scale_of", "trace_scale"),
        (pictures, "NAMED", "MAX_ROW_NAMES"),
        (row_table, "format_of", "output_format"),
        (row_table, "writing", "open_table"),
        (themes, "Scale", "ColourScale"),
        (themes.LIGHT, "came", "actual"),
    ],
)
def test_old_name_of_figures_is_the_new_thing_and_warns(module: object, old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"write .*\.{new}$") as warned:
        assert getattr(module, old) is getattr(module, new)
    assert warned[0].filename == __file__


def test_old_module_of_training_figures_is_the_new_one_and_warns() -> None:
    with pytest.warns(DeprecationWarning, match=r"write rnnviz\.lab\.reports\.training"):
        assert rnnviz.figures.training is training


def test_old_arguments_of_figures_do_as_the_new_ones_and_warn() -> None:
    contrast: Any = themes.contrast
    coloured: Any = export.coloured
    with pytest.warns(DeprecationWarning, match=r"write contrast\(…, second=…\)"):
        assert contrast("#000000", other="#ffffff") == contrast("#000000", "#ffffff")
    known = np.array([True, False])
    with pytest.warns(DeprecationWarning, match=r"write coloured\(…, in_vocabulary=…\)"):
        parts = list(coloured("ab", [1.0, 2.0], known=known))
    assert parts == list(coloured("ab", [1.0, 2.0], known))
