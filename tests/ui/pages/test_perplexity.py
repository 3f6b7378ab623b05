"""The Perplexity page: texts of all kinds, their figures, and what goes wrong with them."""

import gzip
import logging
import shlex
import unicodedata
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from rnnviz.networks.checkpoint import load, load_numpy
from rnnviz.page.formatting import rounded
from rnnviz.scoring.interval import interval
from rnnviz.scoring.perplexity import perplexity
from rnnviz.scoring.score import averages
from rnnviz.text import corpora
from rnnviz.text.characters import REWRITINGS
from rnnviz.ui.pages.perplexity import scoring_jobs
from rnnviz.ui.shell.address import pack_text
from rnnviz.ui.shell.example_text import TEXTS
from tests.support.apptest import SHIPPED, Open, address_fields, page_words, run_until_settled, switch_page
from tests.support.models import TEXT
from tests.support.perplexity_page import expected_score, open_section, paste, upload
from tests.support.pieces import costs

LATIN = "The Time Traveller smiled.\r\nHe had a machine to show his guests.\r\n"
GERMAN = "Größe und Ärger für Übermut. " * 40


def read_as(app: AppTest, encoding: str) -> AppTest:
    """Choose the encoding of the file in view."""
    (picker,) = [one for one in app.selectbox if str(one.key).startswith("encoding-")]
    return run_until_settled(picker.set_value(encoding).run(), "perplexity")


def unknown(app: AppTest) -> Any:
    """The table of characters that the model doesn't know."""
    return next(table.value for table in app.dataframe if "Code point" in table.value.columns)


def shown(app: AppTest) -> str:
    """The large figure."""
    return next(m.value for m in app.metric if m.label.startswith("Perplexity of"))


def test_before_any_upload_a_real_example_is_scored(open_app: Open, models_folder: Path) -> None:
    app = run_until_settled(open_app("perplexity"), "perplexity")
    assert shown(app) == f"{expected_score(models_folder, 'The Time Traveller').perplexity:.2f}"
    assert "An example" in page_words(app)
    assert "Short text: one unusual word" in page_words(app)


def test_a_file_gets_its_figures(open_app: Open, models_folder: Path) -> None:
    app = upload(open_app("perplexity"), ("wells.txt", LATIN))
    score = expected_score(models_folder, LATIN)
    assert shown(app) == f"{score.perplexity:.2f}"
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
    ("text", "said", "unsaid"),
    [
        ("An anecdote.", ("Short text: one unusual word",), ("From 2,000 characters on",)),
        (
            TEXT.replace("\n", " ")[:300],
            (
                "the perplexity of this text alone",
                "From 2,000 characters on, this line says how more",
            ),
            ("would probably score", "Short text"),
        ),
        (
            TEXT * 8,
            (
                "As many more characters of this text would probably score between",
                "95 times in 100",
                "**The range**, ",
                " is for the next",
            ),
            ("the perplexity of this text alone",),
        ),
        (
            (TEXT * 8)[:4000] + "qzjx" * 1000,
            ("too far apart to say how more of this text would score",),
            ("95 times in 100", "the perplexity of this text alone"),
        ),
    ],
)
def test_a_text_says_where_the_next_passage_lies_or_why_it_cannot(
    open_app: Open, models_folder: Path, text: str, said: tuple[str, ...], unsaid: tuple[str, ...]
) -> None:
    words = page_words(upload(open_app("perplexity"), ("a.txt", text)))
    assert [part for part in said if part not in words] == []
    assert [part for part in unsaid if part in words] == []
    found = interval(costs(load(models_folder / "tiny-gru.safetensors"), text))
    figures = (found.low, found.high) if found.low is not None else found.halves or ()
    assert [figure for figure in figures if rounded(figure) not in words] == []


def test_a_wrong_guess_is_mended_by_a_choice(open_app: Open) -> None:
    app = upload(open_app("perplexity"), ("a.txt", GERMAN.encode("cp1252")))
    before = shown(app)
    read_as(app, "cp1251")
    assert r"Encoding **Windows\-1251**, declared" in page_words(app)
    assert "ц" in unknown(app)["Character"].tolist()
    read_as(app, "")
    assert r"Encoding **Windows\-1252**, guessed" in page_words(app)
    assert shown(app) == before


@pytest.mark.usefixtures("troubled")
def test_an_undecodable_file_can_be_read_as_what_it_is(open_app: Open) -> None:
    data = ("machine " * 20 + "Gr\xfc\xdfe").encode("utf-8")[:-1] + b"\xff" + "ä ö ü ".encode() * 40
    app = upload(open_app("perplexity"), ("cut.txt", data))
    (error,) = app.error
    assert r"is UTF\-8 but damaged" in error.value
    read_as(app, "iso8859-1")
    assert not app.error
    assert r"Encoding **Latin\-1**, declared" in page_words(app)


@pytest.mark.usefixtures("troubled")
def test_a_bad_file_among_them_gets_its_sentence_and_the_others_their_numbers(
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
    words = box.value.replace("\\", "").splitlines()
    assert [line[:6] for line in words] == ["- pict", "- empt", "- nul.", "- **nu"]
    assert r"picture.png is not a text file: it looks like PNG data" in words[0]
    assert "no characters" in words[1]
    assert all("NUL" in said for said in words[2:])
    table = app.dataframe[0].value
    assert table["Text"].tolist() == ["essay.txt", "essay.txt (2)"], "what was given twice is one"
    both = [expected_score(models_folder, text).perplexity for text in ("the time", "a machine")]
    assert table["Perplexity"].tolist() == pytest.approx(both)
    assert shown(app) == f"{both[0]:.2f}"
    assert (
        shown(run_until_settled(app.selectbox(key="closer").set_value(1).run(), "perplexity"))
        == f"{both[1]:.2f}"
    )
    (alone,) = upload(open_app("perplexity"), ("a.pdf", b"%PDF-1.4\n")).error
    assert alone.value.startswith("a\\.pdf is not a text file")


def test_several_texts_have_averages_and_a_click_on_one_shows_it(open_app: Open, models_folder: Path) -> None:
    texts = [TEXT[n * 31 : n * 31 + 150] for n in range(12)]
    app = upload(open_app("perplexity"), *((f"t{n}.txt", text) for n, text in enumerate(texts)))
    scores = [expected_score(models_folder, text) for text in texts]
    found = averages(scores)
    assert f"Averages of 12 texts: **{rounded(found.micro)}** by characters (micro)" in page_words(app)
    assert f"**{rounded(found.macro)}** by texts (macro)" in page_words(app)
    assert shown(app) == rounded(scores[0].perplexity)
    (table,) = [frame for frame in app.dataframe if "Text" in frame.value.columns]
    alone = [score.perplexity for score in scores]
    assert table.value["Perplexity"].tolist() == pytest.approx(alone, rel=1e-5)  # sorted as numbers
    written = (
        pa.ipc.open_stream(table.proto.arrow_data.styler.display_values).read_all().column(1).to_pylist()
    )
    assert written == [rounded(r.perplexity) for r in scores], "as in the answer below"
    app.session_state["closer"] = 1  # what a click on the second row sets
    assert shown(run_until_settled(app.run(), "perplexity")) == rounded(scores[1].perplexity)


def test_a_second_models_number_stands_in_the_answer_whatever_the_section(
    open_app: Open, models_folder: Path
) -> None:
    app = upload(open_app("perplexity"), ("a.txt", TEXT))
    app.selectbox(key="second").set_value("tiny-lstm").run()
    said = rf"**{rounded(expected_score(models_folder, TEXT, 'tiny-lstm').perplexity)}** with tiny\-lstm"
    for name in ("origin", "sum"):
        assert said in page_words(open_section(app, name))


def test_a_pasted_text_joins_later_uploads_only_when_asked(open_app: Open, models_folder: Path) -> None:
    app = paste(open_app("perplexity"), "The Time\nTraveller")
    assert shown(app) == rounded(expected_score(models_folder, "The Time\nTraveller").perplexity)
    assert "Encoding" not in page_words(app)
    upload(app, ("a.txt", "grey eyes"))
    assert shown(app) == rounded(expected_score(models_folder, "grey eyes").perplexity)
    assert not [table for table in app.dataframe if "Text" in table.value]
    assert app.session_state["sources"] == ["files"]
    app.session_state["sources"] = ["files", "paste"]
    run_until_settled(app.run(), "perplexity")
    assert app.dataframe[0].value["Text"].tolist() == ["a.txt", "pasted text"]
    upload(app, ("b.txt", "machine"))  # once they were put together, they stay so
    assert app.dataframe[0].value["Text"].tolist() == ["b.txt", "pasted text"]
    app.session_state["sources"] = []  # nothing chosen is no choice
    run_until_settled(app.run(), "perplexity")
    assert shown(app) == rounded(expected_score(models_folder, "machine").perplexity)


def test_a_text_that_is_pasted_later_stands_alone_and_files_are_still_there(open_app: Open) -> None:
    app = paste(upload(open_app("perplexity"), ("a.txt", "grey eyes")), "The Time")
    assert app.session_state["sources"] == ["paste"]
    assert "Perplexity of pasted text" in [m.label for m in app.metric]
    paste(app, "")
    assert "Perplexity of a\\.txt" in [m.label for m in app.metric]


def test_a_corpus_is_picked_by_name_and_its_held_out_part_comes_first(
    open_app: Open, models_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = corpora.from_text(TEXT, "machine")
    monkeypatch.setattr("rnnviz.text.corpora.read", lambda name: corpus)
    app = run_until_settled(open_app("perplexity", corpus="machine"), "perplexity")
    assert shown(app) == rounded(expected_score(models_folder, corpus.split().held_out).perplexity)
    app.session_state["corpus-part"] = "all"
    run_until_settled(app.run(), "perplexity")
    assert shown(app) == rounded(expected_score(models_folder, TEXT).perplexity)


@pytest.mark.usefixtures("shipped")
def test_the_share_of_unknown_characters_leads_and_no_number_of_choices_counts_them(open_app: Open) -> None:
    """89 characters can't be hesitated between 91: what unknown ones cost is no choice."""
    text = "The Time Traveller drew his chair to the fire. 12°C, 9°F — and nobody there spoke a word."
    score = perplexity(load_numpy(SHIPPED / "timemachine-gru.safetensors"), text=text)
    assert 0.05 < score.unknown / score.characters < 0.1
    assert score.perplexity > 2 * (score.perplexity_known or 0)
    words = page_words(upload(open_app("perplexity", model="timemachine-gru"), ("a.txt", text)))
    assert "hesitated" not in words
    assert "are unknown to this model.** On the others its perplexity" in words
    plain = page_words(upload(open_app("perplexity", model="timemachine-gru"), ("a.txt", text[:46])))
    assert "hesitated between about **" in plain


def test_unknown_characters_are_listed_and_explained(open_app: Open, models_folder: Path) -> None:
    app = upload(open_app("perplexity"), ("mixed.txt", "time 时间 时"))
    words = page_words(app)
    assert "**33 % of its characters are unknown to this model.**" in words
    assert "On average the model" not in words  # it is the unknown ones that this number is about
    (scale,) = [
        one.proto.body for one in app.get("html") if "rv-scale" in one.proto.body and "role" in one.proto.body
    ]
    size = load(models_folder / "tiny-gru.safetensors").vocabulary.size
    assert f"{size}: uniform guess" in scale, "as on all pages, though such a guess would pay more here"
    known = expected_score(models_folder, "time 时间 时").perplexity_known
    assert f"On the others its perplexity is **{rounded(known or 0)}**" in words
    listed = unknown(app)[["Character", "Count", "Code point"]].to_numpy().tolist()
    assert listed == [["时", 2, "U+65F6"], ["间", 1, "U+95F4"]]
    app = upload(open_app("perplexity"), ("chinese.txt", "时间机器"))
    assert "**100 % of its characters are unknown to this model.** Choose a model" in page_words(app)
    assert "**–**" in page_words(app)
    assert shown(app) == rounded(expected_score(models_folder, "时间机器").perplexity)
    assert shown(app).endswith("million")


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
def test_a_file_is_rewritten_in_one_click_and_comes_back(
    text: str, model: str, name: str, called: str, open_app: Open
) -> None:
    app = upload(open_app("perplexity", model=model), ("a.txt", text))
    before, after = shown(app), expected_score(SHIPPED, REWRITINGS[name](text), model)
    gain = f"The perplexity would be {rounded(after.perplexity)}, not {before}."
    assert gain in page_words(app)
    app.button(key=f"rewrite-{name}").click().run()
    run_until_settled(app, "perplexity")
    assert shown(app) == rounded(after.perplexity)
    assert f"Perplexity of {called}" in [m.label.replace("\\", "") for m in app.metric]
    assert not [one for one in app.button if one.key == f"rewrite-{name}"]
    app.button(key="restore").click().run()
    assert shown(run_until_settled(app, "perplexity")) == before
    assert gain in page_words(app)


@pytest.mark.usefixtures("shipped")
def test_a_pasted_text_is_rewritten_in_its_field(open_app: Open) -> None:
    app = paste(open_app("perplexity", model="timemachine-gru"), "It’s late, “so” — go…")
    for name in ("straight", "plain"):
        app.button(key=f"rewrite-{name}").click().run()
        run_until_settled(app, "perplexity")
    straight = 'It\'s late, "so" -- go...'
    assert app.text_area(key="pasted").value == straight
    assert shown(app) == rounded(expected_score(SHIPPED, straight, "timemachine-gru").perplexity)
    assert not [one for one in app.button if str(one.key).startswith(("rewrite", "restore"))]


@pytest.mark.usefixtures("shipped")
def test_useless_rewriting_is_not_offered(open_app: Open) -> None:
    for model, text in (
        ("holmes-lstm", CURLY),
        ("timemachine-gru", "He said it again. " * 20 + unicodedata.normalize("NFD", "ë ï") * 9),
        ("timemachine-gru", TEXTS["journey"] + "“"),
    ):
        app = upload(open_app("perplexity", model=model), ("a.txt", text))
        assert not [one for one in app.button if str(one.key).startswith("rewrite")], model


@pytest.mark.usefixtures("shipped")
def test_numbers_of_models_that_read_a_text_differently_say_so(open_app: Open) -> None:
    said = "took some characters of this text for others"
    app = upload(
        open_app("perplexity", model="timemachine-gru"), ("b.txt", "He said, “It’s late — go…” " * 9)
    )
    run_until_settled(app, "better")
    (offer,) = [one.value.replace("\\", "") for one in app.markdown if said in one.value]
    assert "Sherlock Holmes, LSTM predicts the beginning of this text best" in offer
    assert f"Sherlock Holmes, LSTM {said}" in offer
    for text, apart in ((CURLY, True), (CURLY.replace("”", ""), False)):
        app = upload(open_app("perplexity", model="timemachine-gru"), ("a.txt", text))
        app.selectbox(key="second").set_value("holmes-lstm").run()
        assert (said in page_words(run_until_settled(app, "perplexity"))) is apart, "a second model"
        app = open_section(upload(open_app("perplexity", model="holmes-lstm"), ("a.txt", text)), "against")
        sentences = [one.value for one in app.caption if said in one.value]
        assert bool(sentences) is apart, "the table"


def test_a_reload_keeps_a_pasted_text_and_names_the_files_that_it_has_lost(open_app: Open) -> None:
    app = paste(open_app("perplexity"), "The Time")
    assert address_fields(app)["text"] == "The Time"
    app = run_until_settled(open_app("perplexity", text=pack_text("The Time")), "perplexity")
    assert "Perplexity of pasted text" in [m.label for m in app.metric]
    damaged = run_until_settled(open_app("perplexity", text=pack_text("The Time")[:-4]), "perplexity")
    assert "damaged" in damaged.warning[0].value
    upload(app, ("a.txt", "grey eyes"), ("b.txt", "machine"))
    assert address_fields(app)["files"] == "a.txt, b.txt"
    assert address_fields(app)["text"] is None, "it is not what is scored now"
    app = run_until_settled(open_app("perplexity", files="a.txt, <b>.txt"), "perplexity")
    lost = app.warning[0].value.replace("\\", "")
    assert lost.startswith("**a.txt, <b>.txt**: not here any more")
    run_until_settled(switch_page(switch_page(app, "explore"), "perplexity"), "perplexity")
    assert len(app.warning) == 1, "until others are there"
    assert not upload(app, ("a.txt", "grey eyes")).warning


def test_the_same_content_is_scored_once_whatever_its_name(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored: list[str] = []
    real = scoring_jobs.record

    def counting(model: Any, *args: Any, **options: Any) -> Any:
        scored.append(model.name)
        return real(model, *args, **options)

    monkeypatch.setattr(scoring_jobs, "record", counting)
    app = upload(open_app("perplexity"), ("a.txt", "time"), ("b.txt", "time"))
    assert scored == ["tiny-gru", "tiny-gru"]  # the example, the file
    assert app.dataframe[0].value["Text"].tolist() == ["a.txt", "b.txt"]
    run_until_settled(app.sidebar.selectbox(key="model").select("tiny-3gram").run(), "perplexity")
    assert scored[2:] == ["tiny-3gram"]
    assert shown(upload(open_app("perplexity"), ("c.txt", "time")))  # another session
    assert len(scored) == 3


@pytest.mark.usefixtures("troubled")
def test_an_unexpected_failure_costs_one_file_only(
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
    assert shown(app)


def test_a_cancelled_text_can_be_scored_again_and_one_taken_back_is_not_worked_on(open_app: Open) -> None:
    app = open_app("perplexity")
    app.file_uploader[0].upload("long.txt", (TEXT * 2000).encode()).run()
    jobs = app.session_state["perplexity.jobs"]
    assert [job.title for job in jobs.busy()] == ["long.txt"]
    next(b for b in app.button if b.label == "Cancel").click().run()
    assert not jobs.busy()
    assert jobs.stopped(2)
    assert "cancelled" in app.info[0].value
    assert not app.metric
    next(b for b in app.button if b.label == "Start again").click().run()
    assert [job.title for job in jobs.busy()] == ["long.txt"]
    app.file_uploader[0].set_value([]).run()
    assert not jobs.busy()
    assert jobs.stopped(2)


@pytest.mark.slow
def test_a_long_text_has_a_first_figure_and_can_be_stopped_there(
    open_app: Open, models_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring_jobs, "PIECE_CHARS", 1 << 14)
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
    assert float(shown(app)) == pytest.approx(expected_score(models_folder, text[:read]).perplexity, abs=0.02)
    app.session_state["perplexity.asked"] = True
    open_section(app, "against")  # all that is compared ends there
    table = next(d.value for d in app.dataframe if "Predicted by" in d.value).set_index("Predicted by")
    counted = expected_score(models_folder, text[:read], "tiny-3gram").perplexity
    assert table.filter(like="tiny-3gram", axis=0)["Perplexity"].item() == pytest.approx(counted, rel=1e-4)
    app.button(key="whole").click().run()
    assert [job.title for job in jobs.busy()] == ["long.txt"]
    jobs.retain([])


@pytest.mark.parametrize("name", ["a.csv", "a.TSV", "a.jsonl", "*a* `b`.csv"])
def test_a_table_is_read_as_plain_text_and_its_rows_have_a_command(
    open_app: Open, models_folder: Path, name: str
) -> None:
    data = "id,text\n1,The time\n"
    app = upload(open_app("perplexity"), (name, data))
    assert shown(app) == rounded(expected_score(models_folder, data).perplexity)
    assert "This table was read as plain text" in page_words(app)
    command = shlex.split(app.code[0].value)
    assert command[3:] == ["perplexity", name, "--model", "tiny-gru", "--column", "text"]


def test_a_packed_text_is_unpacked_and_parquet_has_the_command_alone(open_app: Open) -> None:
    table = pa.BufferOutputStream()
    pq.write_table(pa.table({"text": ["The time"]}), table)
    app = upload(
        open_app("perplexity"),
        ("a.parquet", table.getvalue().to_pybytes()),
        ("a.jsonl.gz", gzip.compress(b'{"text": "The time"}\n', mtime=0)),
        ("b.txt.gz", gzip.compress(b"The time", mtime=0)),
    )
    assert [shlex.split(code.value)[4] for code in app.code] == ["a.parquet", "a.jsonl.gz"]
    assert page_words(app).count("isn't plain text; this command scores its column *text* row by row") == 1
    assert page_words(app).count("read as plain text") == 1
    assert "2 texts" in page_words(app)


def test_a_folder_is_uploaded_without_its_hidden_files(open_app: Open) -> None:
    app = open_app("perplexity")
    next(toggle for toggle in app.toggle if toggle.label == "Upload a folder").set_value(True).run()
    assert app.file_uploader[0].label == "A folder with text files"
    upload(app, *((name, TEXT) for name in ("c/.git/x.txt", "c/a.txt", "c/.b.txt")))
    assert [metric.label for metric in app.metric] == [r"Perplexity of c\/a\.txt"]
