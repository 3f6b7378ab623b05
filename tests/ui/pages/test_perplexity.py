"""The Perplexity page: texts of all kinds, their figures, and their errors."""

import gzip
import logging
import re
import shlex
import unicodedata
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from rnnviz.networks.checkpoint import load
from rnnviz.page.formatting import rounded
from rnnviz.scoring.interval import interval
from rnnviz.scoring.score import averages
from rnnviz.text import corpora
from rnnviz.text.characters import REWRITINGS
from rnnviz.ui.pages.perplexity import scoring_jobs
from rnnviz.ui.shell.address import pack_text
from rnnviz.ui.shell.example_text import TEXTS
from tests.support.apptest import (
    SHIPPED,
    Open,
    address_fields,
    page_words,
    run_until_settled,
    switch_page,
    warning_text,
)
from tests.support.models import TEXT
from tests.support.perplexity_page import expected_score, open_section, paste, upload
from tests.support.pieces import costs

LATIN = "The Time Traveller smiled.\r\nHe had a machine to show his guests.\r\n"
GERMAN = "Größe und Ärger für Übermut. " * 40


def choose_encoding(app: AppTest, encoding: str) -> AppTest:
    """Choose the encoding of the file in view."""
    (picker,) = [box for box in app.selectbox if str(box.key).startswith("encoding-")]
    return run_until_settled(picker.set_value(encoding).run(), "perplexity")


def unknown_table(app: AppTest) -> Any:
    """The table of characters that the model doesn't know."""
    return next(table.value for table in app.dataframe if "Code point" in table.value.columns)


def large_figure(app: AppTest) -> str:
    return next(m.value for m in app.metric if m.label.startswith("Perplexity of"))


def test_example_is_scored_before_any_upload(open_app: Open, models_folder: Path) -> None:
    app = run_until_settled(open_app("perplexity"), "perplexity")
    assert large_figure(app) == f"{expected_score(models_folder, 'The Time Traveller').perplexity:.2f}"
    assert "An example" in page_words(app)
    assert "Short text: one unusual word" in page_words(app)


def test_file_gets_its_figures(open_app: Open, models_folder: Path) -> None:
    app = upload(open_app("perplexity"), ("wells.txt", LATIN))
    score = expected_score(models_folder, LATIN)
    assert large_figure(app) == f"{score.perplexity:.2f}"
    words = page_words(app)
    parts = (
        f"**{score.bits_per_character:.3f}**",
        f"**{score.bits_per_byte:.3f}**",
        f"**{score.characters}**",
        "A uniform guess would have done better than this model.",
        r"Encoding **UTF\-8**, verified",
        "2 line endings converted.",
    )
    assert [part for part in parts if part not in words] == []
    assert "An example" not in words


@pytest.mark.parametrize(
    ("text", "sentence", "unfit"),
    [
        (TEXT[:300], "With 2,000 characters or more, this line says how more", "would probably score"),
        (TEXT * 8, "Another passage of this text, just as long, would probably score between", "With 2,000"),
        ((TEXT * 8)[:4000] + "qzjx" * 1000, "too far apart to say how more of this text", "With 2,000"),
    ],
)
def test_answer_says_how_the_next_passage_would_score(
    open_app: Open, models_folder: Path, text: str, sentence: str, unfit: str
) -> None:
    words = page_words(upload(open_app("perplexity"), ("a.txt", text)))
    assert sentence in words
    assert unfit not in words
    computed = interval(costs(load(models_folder / "tiny-gru.safetensors"), text))
    figures = (computed.low, computed.high) if computed.low is not None else computed.halves or ()
    assert [figure for figure in figures if rounded(figure) not in words] == []


def test_chosen_encoding_replaces_a_wrong_guess(open_app: Open) -> None:
    app = upload(open_app("perplexity"), ("a.txt", GERMAN.encode("cp1252")))
    before = large_figure(app)
    choose_encoding(app, "cp1251")
    assert r"Encoding **Windows\-1251**, declared" in page_words(app)
    assert "ц" in unknown_table(app)["Character"].tolist()
    choose_encoding(app, "")
    assert r"Encoding **Windows\-1252**, guessed" in page_words(app)
    assert large_figure(app) == before


@pytest.mark.usefixtures("troubled")
def test_undecodable_file_is_read_in_a_chosen_encoding(open_app: Open) -> None:
    data = ("machine " * 20 + "Gr\xfc\xdfe").encode("utf-8")[:-1] + b"\xff" + "ä ö ü ".encode() * 40
    app = upload(open_app("perplexity"), ("cut.txt", data))
    (error,) = app.error
    assert r"is UTF\-8 but damaged" in error.value
    choose_encoding(app, "iso8859-1")
    assert not app.error
    assert r"Encoding **Latin\-1**, declared" in page_words(app)


@pytest.mark.usefixtures("troubled")
def test_unreadable_files_get_their_errors_and_the_others_their_numbers(
    open_app: Open, models_folder: Path
) -> None:
    app = upload(
        open_app("perplexity"),
        ("essay.txt", b"the time"),
        ("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(200)),
        ("empty.txt", b""),
        ("nul.txt", b"machine\0\0\0" * 30),
        ("nul too.txt", b"machine\0\0\0" * 30),
        ("essay.txt", b"a machine"),
        ("essay.txt", b"the time"),
    )
    (box,) = app.error
    lines = box.value.replace("\\", "").splitlines()
    reasons = ("picture.png is not a text file: it looks like PNG data", "no characters", "NUL", "NUL")
    assert [reason in line for reason, line in zip(reasons, lines, strict=True)] == 4 * [True]
    assert [line[:6] for line in lines] == ["- pict", "- empt", "- nul.", "- **nu"]
    table = app.dataframe[0].value
    assert table["Text"].tolist() == ["essay.txt", "essay.txt (2)"], "a text given twice is listed once"
    scores = [expected_score(models_folder, text) for text in ("the time", "a machine")]
    assert table["Perplexity"].tolist() == pytest.approx([score.perplexity for score in scores])


def test_several_texts_have_averages_and_a_click_shows_one(open_app: Open, models_folder: Path) -> None:
    texts = [TEXT[n * 31 : n * 31 + 150] for n in range(12)]
    app = upload(open_app("perplexity"), *((f"t{n}.txt", text) for n, text in enumerate(texts)))
    scores = [expected_score(models_folder, text) for text in texts]
    means = averages(scores)
    assert f"Averages of 12 texts: **{rounded(means.micro)}** by characters (micro)" in page_words(app)
    assert f"**{rounded(means.macro)}** by texts (macro)" in page_words(app)
    assert large_figure(app) == rounded(scores[0].perplexity)
    (table,) = [frame for frame in app.dataframe if "Text" in frame.value.columns]
    alone = [score.perplexity for score in scores]
    assert table.value["Perplexity"].tolist() == pytest.approx(alone, rel=1e-5)  # sorted as numbers
    displayed = (
        pa.ipc.open_stream(table.proto.arrow_data.styler.display_values).read_all().column(1).to_pylist()
    )
    assert displayed == [rounded(r.perplexity) for r in scores], "as in the answer below"
    app.selectbox(key="closer").set_value(1).run()  # as a click on the second row does
    assert large_figure(run_until_settled(app, "perplexity")) == rounded(scores[1].perplexity)


def test_second_models_number_is_in_the_answer_in_every_section(open_app: Open, models_folder: Path) -> None:
    app = upload(open_app("perplexity"), ("a.txt", TEXT))
    app.selectbox(key="second").set_value("tiny-lstm").run()
    line = rf"**{rounded(expected_score(models_folder, TEXT, 'tiny-lstm').perplexity)}** with tiny\-lstm"
    for name in ("origin", "sum"):
        assert line in page_words(open_section(app, name))


def test_new_text_is_scored_alone_until_others_are_chosen(open_app: Open, models_folder: Path) -> None:
    app = paste(open_app("perplexity"), "The Time\nTraveller")
    assert large_figure(app) == rounded(expected_score(models_folder, "The Time\nTraveller").perplexity)
    assert "Encoding" not in page_words(app)
    upload(app, ("a.txt", "grey eyes"))
    assert large_figure(app) == rounded(expected_score(models_folder, "grey eyes").perplexity)
    assert not [table for table in app.dataframe if "Text" in table.value]
    assert app.session_state["sources"] == ["files"]
    app.session_state["sources"] = ["files", "paste"]
    run_until_settled(app.run(), "perplexity")
    assert app.dataframe[0].value["Text"].tolist() == ["a.txt", "pasted text"]
    upload(app, ("b.txt", "machine"))  # once they were put together, they stay so
    assert app.dataframe[0].value["Text"].tolist() == ["b.txt", "pasted text"]
    app.session_state["sources"] = []  # nothing chosen is no choice
    run_until_settled(app.run(), "perplexity")
    assert large_figure(app) == rounded(expected_score(models_folder, "machine").perplexity)
    paste(app, "The Time")
    assert app.session_state["sources"] == ["paste"]
    paste(app, "")
    assert [metric.label for metric in app.metric] == ["Perplexity of b\\.txt"]


def test_corpus_is_scored_by_name_its_held_out_part_first(
    open_app: Open, models_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = corpora.from_text(TEXT, "machine")
    monkeypatch.setattr("rnnviz.text.corpora.read", lambda name: corpus)
    app = run_until_settled(open_app("perplexity", corpus="machine"), "perplexity")
    assert large_figure(app) == rounded(expected_score(models_folder, corpus.split().held_out).perplexity)
    app.session_state["corpus-part"] = "all"
    run_until_settled(app.run(), "perplexity")
    assert large_figure(app) == rounded(expected_score(models_folder, TEXT).perplexity)


def test_unknown_characters_are_listed_and_explained(open_app: Open, models_folder: Path) -> None:
    app = upload(open_app("perplexity"), ("mixed.txt", "time 时间 时"))
    words = page_words(app)
    assert "**33 % of its characters are unknown to this model.**" in words
    assert "On average the model" not in words  # that number is about the unknown ones
    (scale,) = [
        html.proto.body for html in app.get("html") if re.search("class='scale'.*role", html.proto.body, re.S)
    ]
    size = load(models_folder / "tiny-gru.safetensors").vocabulary.size
    assert f"{size}: uniform guess" in scale, "as on all pages, though such a guess would pay more here"
    perplexity_known = expected_score(models_folder, "time 时间 时").perplexity_known
    assert f"Without them, its perplexity is **{rounded(perplexity_known or 0)}**" in words
    rows = unknown_table(app)[["Character", "Count", "Code point"]].to_numpy().tolist()
    assert rows == [["时", 2, "U+65F6"], ["间", 1, "U+95F4"]]
    app = upload(open_app("perplexity"), ("chinese.txt", "时间机器"))
    assert "**–**" in page_words(app)
    assert large_figure(app) == rounded(expected_score(models_folder, "时间机器").perplexity)


CURLY = TEXTS["timemachine"] + "”Yes,” he said. " * 4
ACCENTS = unicodedata.normalize("NFD", TEXTS["holmes"] + "The café was à la mode. " * 4)


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize(
    ("text", "model", "name", "called"),
    [
        (CURLY, "timemachine-gru", "straight", "a.txt, straight quotes"),
        (ACCENTS, "holmes-lstm", "composed", "a.txt, accents composed"),
        (TEXTS["timemachine"] + "So — then…\xa0" * 4, "timemachine-gru", "plain", "a.txt, plain dashes"),
    ],
)
def test_file_is_rewritten_and_restored_by_one_click_each(
    text: str, model: str, name: str, called: str, open_app: Open
) -> None:
    app = upload(open_app("perplexity", model=model), ("a.txt", text))
    before, after = large_figure(app), expected_score(SHIPPED, REWRITINGS[name](text), model)
    gain = f"The perplexity would be {rounded(after.perplexity)}, not {before}."
    assert gain in page_words(app)
    app.button(key=f"rewrite-{name}").click().run()
    run_until_settled(app, "perplexity")
    assert large_figure(app) == rounded(after.perplexity)
    assert f"Perplexity of {called}" in [m.label.replace("\\", "") for m in app.metric]
    assert not [button for button in app.button if button.key == f"rewrite-{name}"]
    app.button(key="restore").click().run()
    assert large_figure(run_until_settled(app, "perplexity")) == before
    assert gain in page_words(app)


@pytest.mark.usefixtures("shipped")
def test_pasted_text_is_rewritten_in_its_field(open_app: Open) -> None:
    app = paste(open_app("perplexity", model="timemachine-gru"), "It’s late, “so” — go…")
    for name in ("straight", "plain"):
        app.button(key=f"rewrite-{name}").click().run()
        run_until_settled(app, "perplexity")
    straight = 'It\'s late, "so" -- go...'
    assert app.text_area(key="pasted").value == straight
    assert large_figure(app) == rounded(expected_score(SHIPPED, straight, "timemachine-gru").perplexity)
    assert not [button for button in app.button if str(button.key).startswith(("rewrite", "restore"))]


@pytest.mark.usefixtures("shipped")
def test_useless_rewriting_is_not_offered(open_app: Open) -> None:
    for model, text in (
        ("holmes-lstm", CURLY),
        ("timemachine-gru", "He said it again. " * 20 + unicodedata.normalize("NFD", "ë ï") * 9),
        ("timemachine-gru", TEXTS["journey"] + "“"),
    ):
        app = upload(open_app("perplexity", model=model), ("a.txt", text))
        assert not [button for button in app.button if str(button.key).startswith("rewrite")], model


@pytest.mark.usefixtures("shipped")
def test_models_that_read_a_text_differently_are_named(open_app: Open) -> None:
    sentence = "took some characters of this text for others"
    app = upload(
        open_app("perplexity", model="timemachine-gru"), ("b.txt", "He said, “It’s late — go…” " * 9)
    )
    run_until_settled(app, "suggestion")
    (offer,) = [item.value.replace("\\", "") for item in app.markdown if sentence in item.value]
    assert "Sherlock Holmes, LSTM predicts the beginning of this text best" in offer
    assert f"Sherlock Holmes, LSTM {sentence}" in offer
    app = upload(open_app("perplexity", model="timemachine-gru"), ("a.txt", CURLY))
    app.selectbox(key="second").set_value("holmes-lstm").run()
    assert sentence in page_words(run_until_settled(app, "perplexity"))
    app = open_section(upload(open_app("perplexity", model="holmes-lstm"), ("a.txt", CURLY)), "against")
    assert [caption for caption in app.caption if sentence in caption.value], "under the table"


def test_reload_keeps_a_pasted_text_and_names_lost_files(open_app: Open) -> None:
    app = paste(open_app("perplexity"), "The Time")
    assert address_fields(app)["text"] == "The Time"
    app = run_until_settled(open_app("perplexity", text=pack_text("The Time")), "perplexity")
    assert "Perplexity of pasted text" in [metric.label for metric in app.metric]
    upload(app, ("a.txt", "grey eyes"), ("b.txt", "machine"))
    assert address_fields(app)["files"] == "a.txt, b.txt"
    assert address_fields(app)["text"] is None, "the files alone are scored now"
    app = run_until_settled(open_app("perplexity", files="a.txt, <b>.txt"), "perplexity")
    assert warning_text(app).startswith("**a.txt, <b>.txt**: no longer here")
    run_until_settled(switch_page(switch_page(app, "explore"), "perplexity"), "perplexity")
    assert len(app.warning) == 1, "until other files are there"
    assert not upload(app, ("a.txt", "grey eyes")).warning


def test_equal_content_is_scored_once_whatever_its_name(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    score = Mock(wraps=scoring_jobs.record)
    monkeypatch.setattr(scoring_jobs, "record", score)
    app = upload(open_app("perplexity"), ("a.txt", "time"), ("b.txt", "time"))
    names = [call.args[0].name for call in score.call_args_list]
    assert names == ["tiny-gru", "tiny-gru"]  # the example, the file
    assert app.dataframe[0].value["Text"].tolist() == ["a.txt", "b.txt"]
    run_until_settled(app.sidebar.selectbox(key="model").select("tiny-3gram").run(), "perplexity")
    assert [call.args[0].name for call in score.call_args_list[2:]] == ["tiny-3gram"]
    assert large_figure(upload(open_app("perplexity"), ("c.txt", "time")))  # another session
    assert score.call_count == 3


@pytest.mark.usefixtures("troubled")
def test_unexpected_failure_costs_one_file_only(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = scoring_jobs.record

    def failing(model: Any, *args: Any, name: str, **options: Any) -> Any:
        if name == "bad.txt":
            raise RuntimeError("secret detail")
        return real(model, *args, name=name, **options)

    monkeypatch.setattr(scoring_jobs, "record", failing)
    with caplog.at_level(logging.ERROR, "rnnviz"):
        app = upload(open_app("perplexity"), ("bad.txt", "times"), ("good.txt", "time"))
    assert len(app.error) == 1
    assert "secret detail" not in page_words(app)
    assert "secret detail" in caplog.text
    assert large_figure(app)


def test_cancelled_text_can_be_scored_again_and_a_removed_one_ends(open_app: Open) -> None:
    app = open_app("perplexity")
    app.file_uploader[0].upload("long.txt", (TEXT * 2000).encode()).run()
    jobs = app.session_state["perplexity.jobs"]
    assert [job.title for job in jobs.busy()] == ["long.txt"]
    next(b for b in app.button if b.label == "Cancel").click().run()
    assert not jobs.busy()
    assert "cancelled" in app.info[0].value
    assert not app.metric
    next(b for b in app.button if b.label == "Start again").click().run()
    assert [job.title for job in jobs.busy()] == ["long.txt"]
    app.file_uploader[0].set_value([]).run()
    assert not jobs.busy()
    assert jobs.wait_until_idle(2)


@pytest.mark.slow
def test_long_text_can_be_stopped_at_its_first_figure(
    open_app: Open, models_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring_jobs, "STOPPABLE_PIECE_CHARS", 1 << 14)
    monkeypatch.setattr("rnnviz.ui.jobs.pending.PERPLEXITY_AFTER_S", 0.0)
    text = TEXT * 2000
    app = open_app("perplexity")
    app.file_uploader[0].upload("long.txt", text.encode()).run()
    jobs = app.session_state["perplexity.jobs"]
    while not [button for button in app.button if button.key == "stop-scoring"]:
        assert jobs.busy(), "it was read before anybody could stop it"
        app.run()
    assert [metric.label for metric in app.metric] == ["Perplexity so far"]
    run_until_settled(app.button(key="stop-scoring").click().run(), "perplexity")
    read = int(next(iter(app.session_state["perplexity.stopped"].values())))
    assert 0 < read < len(text)
    assert read % (1 << 14) == 0
    assert f"its first {read:,} characters, where you stopped" in page_words(app)
    assert float(large_figure(app)) == pytest.approx(
        expected_score(models_folder, text[:read]).perplexity, abs=0.02
    )
    app.session_state["perplexity.asked"] = True
    open_section(app, "against")  # all that is compared ends there
    table = next(d.value for d in app.dataframe if "Predicted by" in d.value).set_index("Predicted by")
    counted = expected_score(models_folder, text[:read], "tiny-3gram").perplexity
    assert table.filter(like="tiny-3gram", axis=0)["Perplexity"].item() == pytest.approx(counted, rel=1e-4)
    app.button(key="whole").click().run()
    assert [job.title for job in jobs.busy()] == ["long.txt"]
    jobs.retain([])


@pytest.mark.parametrize("name", ["a.csv", "a.TSV", "a.jsonl", "*a* `b`.csv"])
def test_table_is_read_as_plain_text_beside_a_command_for_its_rows(
    open_app: Open, models_folder: Path, name: str
) -> None:
    data = "id,text\n1,The time\n"
    app = upload(open_app("perplexity"), (name, data))
    assert large_figure(app) == rounded(expected_score(models_folder, data).perplexity)
    assert "This table was read as plain text" in page_words(app)
    command = shlex.split(app.code[0].value)
    assert command[3:] == ["perplexity", name, "--model", "tiny-gru"]


def test_packed_text_is_unpacked_and_parquet_has_the_command_alone(open_app: Open) -> None:
    table = pa.BufferOutputStream()
    pq.write_table(pa.table({"text": ["The time"]}), table)
    app = upload(
        open_app("perplexity"),
        ("a.parquet", table.getvalue().to_pybytes()),
        ("a.jsonl.gz", gzip.compress(b'{"text": "The time"}\n', mtime=0)),
        ("b.txt.gz", gzip.compress(b"The time", mtime=0)),
    )
    assert [shlex.split(code.value)[4] for code in app.code] == ["a.parquet", "a.jsonl.gz"]
    assert page_words(app).count("isn't plain text; this command scores it row by row") == 1
    assert page_words(app).count("read as plain text") == 1
    assert "2 texts" in page_words(app)


def test_folder_is_uploaded_without_its_hidden_files(open_app: Open) -> None:
    app = open_app("perplexity")
    next(toggle for toggle in app.toggle if toggle.label == "Upload a folder").set_value(True).run()
    assert app.file_uploader[0].label == "A folder with text files"
    upload(app, *((name, TEXT) for name in ("c/.git/x.txt", "c/a.txt", "c/.b.txt")))
    assert [metric.label for metric in app.metric] == [r"Perplexity of c\/a\.txt"]
