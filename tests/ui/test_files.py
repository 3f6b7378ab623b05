"""The Perplexity page: uploads, pasted texts, and what goes wrong with them."""

from __future__ import annotations

import csv
import io
import json
import logging
import math
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from rnnviz.checkpoint import load
from rnnviz.errors import RnnvizError
from rnnviz.scoring import Report, perplexity
from rnnviz.ui import files
from tests.ui.conftest import Open, everything

LATIN = "The Time Traveller smiled.\r\nHe had a machine to show his guests.\r\n"


def perplexities(app: AppTest) -> list[str]:
    """The large figures on the page, in order."""
    return [m.value for m in app.metric if m.label == "Perplexity"]


def expected(models_folder: Path, text: str, model: str = "tiny-gru") -> Report:
    return perplexity(load(models_folder / f"{model}.safetensors"), text=text)


def test_before_any_upload_a_real_example_is_shown(open_app: Open, models_folder: Path) -> None:
    app = open_app("perplexity")
    assert app.code[0].value == "The Time Traveller"  # the card's example
    assert perplexities(app) == [f"{expected(models_folder, 'The Time Traveller').perplexity:.2f}"]
    assert not app.get("download_button")


def test_a_file_gets_its_figures(open_app: Open, models_folder: Path) -> None:
    app = open_app("perplexity")
    app.file_uploader[0].upload("wells.txt", LATIN.encode()).run()
    assert not app.exception
    report = expected(models_folder, LATIN)
    assert perplexities(app) == [f"{report.perplexity:.2f}"]
    words = everything(app)
    for part in (
        r"wells\.txt",
        f"**{report.bits_per_character:.3f}**",
        f"**{report.bits_per_byte:.3f}**",
        f"**{report.characters}**",
        f"among **{report.perplexity:.1f}** equally likely characters",
        r"Encoding utf\-8, verified",
        "2 line ends made uniform",
    ):
        assert part in words
    assert "An example" not in words
    assert not app.progress  # the bar goes when the result is there


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (LATIN.encode("utf-16"), r"Encoding utf\-16\-le, declared by a byte order mark"),
        (LATIN.encode("utf-8-sig"), r"Encoding utf\-8, declared by a byte order mark"),
        (
            ("Gr\u00f6\u00dfe und \u00c4rger f\u00fcr \u00dcbermut. " * 40).encode("cp1252"),
            "guessed from its bytes",
        ),
    ],
)
def test_how_the_encoding_is_known(open_app: Open, data: bytes, words: str) -> None:
    app = open_app("perplexity")
    app.file_uploader[0].upload("a.txt", data).run()
    assert not app.error
    assert words in everything(app)


def test_a_bad_file_among_them_gets_its_sentence_and_the_others_their_numbers(open_app: Open) -> None:
    app = open_app("perplexity")
    uploader = app.file_uploader[0]
    for name, data in {
        "good.txt": b"time",
        "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(200),
        "empty.txt": b"",
        "also good.txt": b"machine",
    }.items():
        uploader.upload(name, data)
    app.run()
    assert not app.exception
    assert len(perplexities(app)) == 2
    assert [r"picture\.png" in e.value for e in app.error] == [True, False]
    assert "Picture" not in app.error[0].value  # a file's name is not a sentence's first word
    assert r"empty\.txt" in app.error[1].value
    table = app.dataframe[0].value
    assert table["Text"].tolist() == ["good.txt", "also good.txt"]
    assert len(app.get("download_button")) == 2


def test_a_pasted_text_is_scored_beside_the_files(open_app: Open, models_folder: Path) -> None:
    app = open_app("perplexity")
    app.text_area(key="pasted").set_value("The Time\nTraveller")
    app.button[0].click().run()
    assert not app.exception
    report = expected(models_folder, "The Time\nTraveller")
    assert perplexities(app) == [f"{report.perplexity:.2f}"]
    assert "Encoding" not in everything(app)


def test_unknown_characters_are_counted_and_explained(open_app: Open) -> None:
    app = open_app("perplexity")
    app.file_uploader[0].upload("mixed.txt", "time 时间".encode()).run()
    words = everything(app)
    assert "2 characters are not in its vocabulary" in words
    app.file_uploader[0].upload("chinese.txt", "时间机器".encode()).run()
    assert "It knows none of these characters" in everything(app)
    assert "**–**" in everything(app)


def test_html_in_a_name_or_a_text_stays_text(open_app: Open) -> None:
    app = open_app("perplexity")
    app.file_uploader[0].upload("<img src=x onerror=alert(1)>.txt", b"<img src=x onerror=alert(1)>").run()
    assert not app.exception
    assert "<img" not in everything(app).replace(r"\<img", "")


def test_scoring_happens_once_and_again_for_another_model(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored: list[str] = []
    real = files.score

    def counting(model, *args, **options):
        scored.append(model.name)
        return real(model, *args, **options)

    monkeypatch.setattr(files, "score", counting)
    app = open_app("perplexity")
    app.file_uploader[0].upload("a.txt", b"time").run()
    app.run()
    assert scored == ["tiny-gru", "tiny-gru"]  # the example, the file
    app.sidebar.selectbox(key="model").select("tiny-3gram").run()
    assert scored[2:] == ["tiny-3gram"]
    app.sidebar.selectbox(key="model").select("tiny-gru").run()
    assert len(scored) == 3


def test_an_unexpected_failure_costs_one_file_only(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = files.score

    def failing(model, *args, name, **options):
        if name == "bad.txt":
            raise RuntimeError("secret detail")
        return real(model, *args, name=name, **options)

    monkeypatch.setattr(files, "score", failing)
    app = open_app("perplexity")
    app.file_uploader[0].upload("bad.txt", b"time").upload("good.txt", b"time")
    with caplog.at_level(logging.ERROR, "rnnviz"):
        app.run()
    assert not app.exception
    assert len(app.error) == 1
    assert "secret detail" not in everything(app)
    assert "secret detail" in caplog.text
    assert len(perplexities(app)) == 1


def test_the_downloads_hold_every_figure(models_folder: Path) -> None:
    reports = [expected(models_folder, "time"), expected(models_folder, "时间")]
    rows = list(csv.DictReader(io.StringIO(files.as_csv(reports))))
    assert [float(r["perplexity"]) for r in rows] == [r.perplexity for r in reports]
    assert json.loads(files.as_json(reports)) == [r.to_json() for r in reports]


def test_progress_names_characters_and_the_perplexity_so_far(
    models_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rnnviz.scoring.INTERVAL", 0.0)
    texts: list[tuple[float, str]] = []

    class Bar:
        def progress(self, value: float, text: str) -> None:
            texts.append((value, text))

        def empty(self) -> None:
            texts.append((2.0, "gone"))

    monkeypatch.setattr("streamlit.progress", lambda value, text: Bar())
    model = load(models_folder / "tiny-gru.safetensors")
    report = files.watched("a_b.txt", files.score(model, text="The Time Traveller " * 2000, name="a_b.txt"))
    fractions = [value for value, _ in texts]
    assert fractions == sorted(fractions)
    assert len(fractions) > 5
    assert texts[-1] == (2.0, "gone")
    assert texts[-2][1] == (
        rf"a\_b\.txt: {report.characters:,} characters read, perplexity so far {report.perplexity:.2f}"
    )


def test_the_bar_goes_when_scoring_fails(models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone: list[bool] = []

    class Bar:
        def empty(self) -> None:
            gone.append(True)

    monkeypatch.setattr("streamlit.progress", lambda value, text: Bar())
    model = load(models_folder / "tiny-gru.safetensors")
    with pytest.raises(RnnvizError):
        files.watched("x", files.score(model, text=""))
    assert gone == [True]


@pytest.mark.parametrize(
    ("value", "words"), [(4.126, "4.13"), (999.994, "999.99"), (12345.6, "12,346"), (math.inf, "∞")]
)
def test_perplexities_are_rounded_for_people(value: float, words: str) -> None:
    assert files.rounded(value) == words
