"""The sections of the Perplexity page: models compared, the sum, compression, download."""

import csv
import io
import json
import math
import re
import sys
import threading
import tomllib
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from rnnviz.errors import install
from rnnviz.networks.checkpoint import load
from rnnviz.networks.progress import Share
from rnnviz.page.formatting import duration
from rnnviz.scoring.score import Score
from rnnviz.text.vocabulary import Vocabulary
from rnnviz.ui.jobs import store
from rnnviz.ui.pages.perplexity import answer, download, model_comparison, scoring_jobs
from rnnviz.ui.shell.example_text import TEXTS
from tests.support import needs
from tests.support.apptest import Open, page_words, run_until_settled
from tests.support.models import TEXT
from tests.support.perplexity_page import expected_score, open_section, upload
from tests.support.serving import ROOT


def comparison(app: AppTest) -> Any:
    """The comparison's table, by the names of its rows."""
    return next(d.value for d in app.dataframe if "Predicted by" in d.value.columns).set_index("Predicted by")


def test_models_are_compared_the_best_first(open_app: Open, models_folder: Path) -> None:
    app = open_section(upload(open_app("perplexity"), ("a.txt", TEXT)), "against")
    table = comparison(app)
    bits = table["Bits per character"]
    assert bits.is_monotonic_increasing
    (columns,) = [json.loads(frame.proto.columns) for frame in app.dataframe if "Predicted by" in frame.value]
    assert columns["Bits per character"]["type_config"]["max_value"] == bits.max(), "no bar is cut off"
    assert table.drop("letter frequencies").index[0] == "★ tiny-3gram"
    assert "predicts this text best" in page_words(app)
    gru = expected_score(models_folder, TEXT)
    assert table.loc["tiny-gru", "Perplexity"] == pytest.approx(gru.perplexity, rel=1e-5)
    assert table.loc["uniform guess", "Perplexity"] == pytest.approx(Vocabulary.from_text(TEXT).size)
    assert "tiny-lstm" not in table.index  # it is not requested
    table = comparison(run_until_settled(app.button(key="compare").click().run(), "perplexity"))
    lstm = expected_score(models_folder, TEXT, "tiny-lstm")
    assert table.loc["tiny-lstm", "Perplexity"] == pytest.approx(lstm.perplexity, rel=1e-5)
    assert [name for name in table.index if "★" in name] == ["★ tiny-3gram"]


@pytest.mark.usefixtures("shipped")
def test_models_of_the_texts_script_are_compared_first_and_the_rest_on_request(open_app: Open) -> None:
    app = upload(open_app("perplexity", model="timemachine-gru"), ("a.txt", TEXTS["python-source"] * 3))
    run_until_settled(app, "suggestion")
    open_section(app, "against")
    names = app.multiselect(key="rivals").options
    assert names[0] == "Python code, LSTM", "the recommended one"
    assert [name for name in names if "Chinese" in name] == names[-2:]
    app.button(key="compare").click().run()
    jobs = [job.title for job in app.session_state["perplexity.jobs"]._jobs.values() if ": " in job.title]
    # The chosen model has read the text already; of the others the recommended one is first.
    assert jobs[:2] == ["The Time Machine, counts of 6: a.txt", "Python code, LSTM: a.txt"]
    table = comparison(run_until_settled(app, "perplexity"))
    assert table.notna().all(axis=None)
    assert not [name for name in table.index if "Chinese" in name]
    app.button(key="compare-all").click().run()
    assert [name for name in comparison(run_until_settled(app, "perplexity")).index if "Chinese" in name]
    assert not [button for button in app.button if button.key == "compare-all"]
    open_section(app, "origin")
    assert app.selectbox(key="second").options[0] == "Python code, LSTM"


@pytest.mark.usefixtures("shipped")
def test_text_that_no_model_knows_well_lists_first_those_that_know_most(open_app: Open) -> None:
    text = "I ❤️ NY 🎉🎉 and “quotes” — so what? "
    app = open_section(upload(open_app("perplexity", model="timemachine-gru"), ("a.txt", text)), "against")
    names = app.multiselect(key="rivals").options
    assert [name for name in names if "Chinese" in name] == names[-2:]


def test_long_text_is_compared_on_request(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_comparison, "MAX_AUTOMATIC_SIZE", 0)
    app = open_section(upload(open_app("perplexity"), ("a.txt", TEXT)), "against")
    table = comparison(app)
    assert table["Perplexity"].count() <= 1  # the chosen model's, which the answer has already
    assert not [name for name in table.index if "★" in name]
    assert "Press **Compare**" in app.info[0].value
    assert "predicts this text best" not in page_words(app)
    app.session_state["second"] = "tiny-3gram"
    run_until_settled(app.run(), "perplexity")
    assert comparison(app)["Perplexity"].count() == 2
    assert "predicts this text best" in page_words(app)


def test_text_in_view_is_compared_of_several(open_app: Open, models_folder: Path) -> None:
    app = upload(open_app("perplexity"), ("a.txt", TEXT), ("b.txt", TEXT[:300]))
    app.session_state["closer"] = 1
    open_section(app, "against")
    gru = expected_score(models_folder, TEXT[:300])
    assert comparison(app).loc["tiny-gru", "Perplexity"] == pytest.approx(gru.perplexity, rel=1e-5)


def test_sum_can_be_added_up(open_app: Open, models_folder: Path) -> None:
    app = open_section(upload(open_app("perplexity"), ("a.txt", "The Time Traveller")), "sum")
    table = app.dataframe[0].value
    score = expected_score(models_folder, "The Time Traveller")
    assert math.exp(table["−ln P"].sum() / len(table)) == pytest.approx(score.perplexity, rel=1e-6)
    assert table["character"].tolist()[:4] == ["T", "h", "e", "·"]
    assert f"{math.log(score.perplexity) * 18:.2f}" in app.get("latex")[0].value
    assert "start symbol" in page_words(app)


def test_perplexity_predicts_the_compressed_size(open_app: Open, models_folder: Path) -> None:
    needs.coder()
    app = open_section(upload(open_app("perplexity"), ("a.txt", TEXT + "时")), "compression")
    run_until_settled(app.button(key="pack").click().run(), "perplexity")
    score = expected_score(models_folder, TEXT + "时")
    promised = score.bits_per_character * score.characters / 8
    size = float(next(m.value for m in app.metric if m.label.startswith("Compressed")).replace(",", ""))
    assert promised <= size + 1
    assert size <= promised * 1.001 + 32
    assert "character for character" in app.success[0].value


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize(("text", "size"), [("a", "**1 byte**"), ("ab", "**2 bytes**")])
def test_predicted_size_has_whole_bytes(open_app: Open, text: str, size: str) -> None:
    """9 bits take two bytes."""
    app = upload(open_app("perplexity", model="timemachine-gru"), ("a.txt", text))
    assert f"should fit in {size}" in page_words(open_section(app, "compression"))
    assert " 1 characters" not in page_words(app)


def test_download_holds_every_figure(models_folder: Path) -> None:
    scores = [expected_score(models_folder, "time"), expected_score(models_folder, "时间")]
    rows = list(csv.DictReader(io.StringIO(download.as_csv(scores))))
    assert [float(r["perplexity"]) for r in rows] == [r.perplexity for r in scores]
    assert json.loads(download.as_json(scores)) == [r.to_json() for r in scores]


def test_tables_have_no_unquoted_export() -> None:
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert settings["client"]["disableDataExport"] is True


def test_compression_without_the_coder_names_its_installation(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "constriction", None)
    app = open_section(upload(open_app("perplexity"), ("a.txt", TEXT)), "compression")
    assert [caption for caption in app.caption if install("compress") in caption.value]
    assert not [button for button in app.button if button.key == "pack"]


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_html_in_a_name_or_a_text_stays_text_in_every_section(open_app: Open, locale: str) -> None:
    app = run_until_settled(open_app("perplexity", locale=locale, section="sum"), "perplexity")
    assert app.session_state["section"] == "sum"
    html = "<img src=x onerror=alert(1)>"
    upload(app, (f"{html}.txt", html), ("perplexity.txt", TEXT))  # called like what is taken away
    for name in ("origin", "against", "sum", "compression", "take"):
        open_section(app, name)
        assert "<img" not in page_words(app).replace(r"\<img", ""), name
    assert len(app.get("download_button")) == 6


@pytest.mark.parametrize(("seconds", "words"), [(0.2, "1 s"), (42.4, "42 s"), (125, "2 min 5 s")])
def test_duration_is_written_in_minutes_and_seconds(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_scale_holds_perplexities_beyond_every_measure(models_folder: Path) -> None:
    score = expected_score(models_folder, "时间机器")
    vocabulary = load(models_folder / "tiny-gru.safetensors").vocabulary
    assert score.guess == pytest.approx(vocabulary.size * math.exp(vocabulary.unknown_cost))
    markup = answer.scale(score.perplexity, score.guess, 4.0, ("<b>other</b>", math.inf))
    (end,) = map(float, re.findall(r"--end:([\d.]+)", markup))
    places = [float(place) for place in re.findall(r"--at:([\d.]+)", markup)]
    assert len(places) == 7
    assert all(1 <= place <= end for place in places)
    assert end in places
    assert "<b>other" not in markup
    assert "inf" not in markup
    assert set(re.findall(r"class='(?:here|typical|second) (\w+)'", markup)) == {"after", "before"}
    assert "nan" not in answer.scale(math.inf, 2.0, None)
    assert "5: uniform guess</span></div></div>" in answer.scale(1.0, 5.0, None)


@pytest.mark.slow
def test_cancelled_comparison_runs_on_request(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = upload(open_app("perplexity"), ("a.txt", TEXT))
    score_by_other, gate = scoring_jobs.score_by_other, threading.Event()

    def score_slowly(*args: Any) -> Score:
        while not gate.is_set():
            args[-1](Share(0.0))
        return score_by_other(*args)

    monkeypatch.setattr(scoring_jobs, "score_by_other", score_slowly)
    app.segmented_control(key="section").set_value("against").run()
    app.button(key="compare").click().run()
    app.button(key="cancel-against").click().run()
    gate.set()
    assert "Press **Compare**" in page_words(app)
    assert comparison(app).loc["tiny-lstm"].isna().sum() == 2
    run_until_settled(app.button(key="compare").click().run(), "perplexity")
    assert comparison(app).notna().all(axis=None)
    assert "Press **Compare**" not in page_words(app)


def test_picked_rivals_stay_picked(open_app: Open) -> None:
    app = open_section(upload(open_app("perplexity"), ("a.txt", TEXT)), "against")
    app.multiselect(key="rivals").set_value(["tiny-lstm"]).run()
    open_section(open_section(app, "sum"), "against")
    assert app.multiselect(key="rivals").value == ["tiny-lstm"]


def test_evicted_record_is_read_again_on_request(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store.shared(), "max_disk_bytes", 1)  # only the newest record is kept
    app = run_until_settled(
        upload(open_app("perplexity"), ("a.txt", TEXT), ("b.txt", TEXT[::-1])), "perplexity"
    )
    for name in ("origin", "compression", "take", "against", "origin"):
        open_section(app, name)
        assert "The perplexity of **a\\.txt** is still here" in page_words(app)
        assert "Every character of" not in page_words(app)
    assert len(next(frame.value for frame in app.dataframe if "Text" in frame.value)) == 2
    run_until_settled(app.button(key="read-again-a.txt").click().run(), "perplexity")
    assert "is still here, but" not in page_words(app)
