"""The page of a scored text: everything on it is escaped, complete, and what scoring says."""

import re
from collections.abc import Callable
from functools import partial
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from rnnviz.errors import ExportError
from rnnviz.figures import export
from rnnviz.networks.checkpoint import load
from rnnviz.scoring.breakdown import Curve
from rnnviz.scoring.perplexity import UniformModel
from rnnviz.scoring.record import Record
from rnnviz.text.characters import printable
from rnnviz.text.vocabulary import Vocabulary
from tests.support.models import TEXT
from tests.support.recorded import make_record

EVIL = (
    "</pre><script>alert(1)</script>&amp;\"'<img src=x onerror=alert(2)>\n\n]]><!-- "
    "\x00\x07\x1b\x7f\x9f\u202e end\n"
)


MakeRecord = Callable[..., Record]


class Reader(HTMLParser):
    """A page as a browser takes it apart: tags with attributes, and all text."""

    def __init__(self, document: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.everything: list[str] = []
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.everything.append(data)


@pytest.fixture
def record_of(tmp_path: Path, models_folder: Path) -> MakeRecord:
    """Make the record of a text."""
    return partial(make_record, tmp_path, load(models_folder / "tiny-gru.safetensors"))


def page_html(source: Record, **options: object) -> str:
    return "".join(export.page(source, **options))  # type: ignore[arg-type]


def body(document: str) -> str:
    """The coloured text as it was: markup's newline, marks and pictures undone."""
    inside = "".join(re.findall(r"<pre>\n(.*?)</pre>", document, flags=re.S))
    return unescape(re.sub(r"<[^>]*>", "", inside))


def test_text_never_becomes_markup(record_of: MakeRecord) -> None:
    document = page_html(record_of(EVIL * 3, name='<b onclick="x">&name'))
    read = Reader(document)
    assert not read.open, "every element is closed"
    tags = {tag for tag, _ in read.tags}
    assert tags.isdisjoint({"script", "img", "link", "iframe", "object", "a"})
    attributes = {name for _, attrs in read.tags for name in attrs}
    assert not {name for name in attributes if name.startswith("on")}
    assert attributes.isdisjoint({"src", "href", "style"})
    assert '<b onclick="x">&name' in "".join(read.everything)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", document), "control characters are drawn"


def test_the_text_is_there_to_the_last_character(record_of: MakeRecord) -> None:
    for text in (TEXT * 12, "\n\nfirst lines are empty\n\n\nand so is the last\n\n", EVIL, "x" * 9000):
        assert body(page_html(record_of(text))) == printable(text)


def test_a_long_text_is_divided_between_lines(record_of: MakeRecord) -> None:
    parts = re.findall(r"<pre>\n.*?</pre>", page_html(record_of(TEXT * 12)), flags=re.S)
    assert len(parts) >= 3
    assert all(body(part).endswith("\n") for part in parts)


def test_the_figures_are_those_of_the_report_to_the_last_digit(record_of: MakeRecord) -> None:
    source = record_of(TEXT + "道道")
    score = source.score
    values = {attrs["value"] for tag, attrs in Reader(page_html(source)).tags if tag == "data"}
    figures = score.perplexity, score.perplexity_known, score.bits_per_character, score.bits_per_byte
    assert {*map(repr, figures), str(score.characters), str(score.unknown), str(score.bytes)} <= values


def test_normalised_characters_are_counted_by_kind(tmp_path: Path) -> None:
    model = UniformModel(Vocabulary((" ", '"', "'", "a")), normaliser="typography")
    document = page_html(make_record(tmp_path, model, "“a” ’\r\na"))
    words = re.sub(r"\s*<[^>]+>\s*", " ", document)
    assert re.search(r"Line endings converted +1 ", words)
    assert re.search(r"Characters read as others +3 ", words)
    plain = re.sub(r"\s*<[^>]+>\s*", " ", page_html(make_record(tmp_path, model, "a")))
    assert re.search(r"Line endings converted +0 ", plain)
    assert "read as others" not in plain


def test_a_text_that_is_cut_says_so_and_its_figures_stay(record_of: MakeRecord) -> None:
    source = record_of(TEXT)
    document = page_html(source, max_chars=100)
    assert body(document) == TEXT[:100]
    assert f"the first 100 of {len(TEXT):,} characters" in document
    assert repr(source.score.perplexity) in document
    assert 'class="cut"' not in page_html(source)


def test_a_character_has_the_class_of_its_bits() -> None:
    bits = np.array([0.0, 0.99, 1.0, 1.5, 9.99, 10.0, 40.0, 40.0])
    in_vocabulary = [True] * 7 + [False]
    parts = list(export.coloured("abcdefgh", bits * np.log(2) + 1e-9, in_vocabulary))
    assert parts == [
        "<i class=a>ab</i>",
        "<i class=b>cd</i>",
        "<i class=j>e</i>",
        "<i class=k>fg</i>",
        '<i class="k u">h</i>',
    ]
    assert list(export.coloured("", [], [])) == []


def test_page_fetches_and_runs_nothing(record_of: MakeRecord) -> None:
    document = page_html(record_of(TEXT))
    policy = next(a for t, a in Reader(document).tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'"
    assert not re.search(r"https?:|url\(|@import", document)
    assert "prefers-color-scheme:dark" in document


def test_the_curve_has_a_bounded_number_of_points(record_of: MakeRecord) -> None:
    document = page_html(record_of(TEXT * 10))
    curve = re.findall(r'<path class="(running|rolling)" d="([^"]*)"', document)
    assert [name for name, _ in curve] == ["rolling", "running"]
    for _, path in curve:
        points = re.findall(r"[ML]([\d.]+) ([\d.]+)", path)
        assert 1000 <= len(points) <= export.MAX_CURVE_POINTS
        across = [float(x) for x, _ in points]
        assert across == sorted(across)
        assert 0 <= float(points[-1][1]) <= 300


def test_a_curve_that_leaves_its_frame_is_cut_off_and_marked() -> None:
    line = np.array([9000.0] * 5 + [4.0, 5.0] * 500)
    curve = export.curve_svg(Curve(np.arange(1, 1006), line, line, window=50))
    assert ">▲ 9,000<" in curve
    heights = [float(y) for y in re.findall(r"[ML][\d.]+ (-?[\d.]+)", curve)]
    assert min(heights) < 0  # it goes on outside rather than along the frame's edge
    assert curve.count("<svg ") == 2  # the inner one cuts off what lies outside it
    assert "▲" not in export.curve_svg(Curve(np.arange(1, 1006), line[::-1], line[::-1], window=50))


@pytest.mark.parametrize("value", [4.0, np.nan, np.inf, 1e300])
@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_curve_of_hardly_any_points(count: int, value: float) -> None:
    line = np.full(count, value)
    curve = export.curve_svg(Curve(np.arange(1, count + 1), line, line, window=500))
    assert "nan" not in curve
    assert "inf" not in curve
    assert curve.count("<path class=") >= 3  # both lines, and one at least to read them by


def test_every_word_can_be_translated(record_of: MakeRecord) -> None:
    document = page_html(
        record_of(TEXT + "道"),
        translate=lambda words: re.sub(r"[A-Za-z<>]+(?![^{]*\})", "字", words),
        language="zh",
        max_chars=50,
    )
    assert '<html lang="zh">' in document
    visible = re.sub(r"<style>.*?</style>|<pre>.*?</pre>|<tr><td>.*?</tr>", "", document, flags=re.S)
    words = set(re.findall(r"[A-Za-z]{3,}", unescape(re.sub(r"<[^>]*>", " ", visible))))
    assert words <= {"this", "text", "tiny", "gru"}  # the text's name and the model's


def test_the_page_is_written_whole_or_not_at_all(record_of: MakeRecord, tmp_path: Path) -> None:
    source = record_of(TEXT, name="caf\udce9.txt")
    export.html(source, tmp_path / "out.html")
    written = (tmp_path / "out.html").read_text("utf-8")
    # A name that is no text is shown as far as it can be.
    assert written == page_html(source).replace("\udce9", r"\udce9")
    with pytest.raises(ExportError, match="can't be written"):
        export.html(source, tmp_path / "absent" / "out.html")
