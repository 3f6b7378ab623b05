"""Rows whose texts are cut into regions: each costs what its characters cost, given all before it."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rnnviz
from rnnviz.networks.checkpoint import load
from rnnviz.scoring.rows import RowScore
from rnnviz.scoring.score import RowsScore
from rnnviz.sentences import describe, level
from rnnviz.text.characters import joined
from rnnviz.text.row_files import MAX_COLUMNS
from tests.support.models import tiny
from tests.support.refused import assert_refused
from tests.support.rows import comma, json_lines, parquet

CUT = ["The lever| of| brass", "half of us|jumped.", "x", "The  |machine |\tü—|of |us.|", "|The time"]


@pytest.fixture(params=["tiny-gru", "tiny-lstm", "tiny-3gram"])
def model(request: pytest.FixtureRequest, models_folder: Path) -> Any:
    return load(models_folder / f"{request.param}.safetensors")


def score(model: Any, texts: Sequence[str], **options: Any) -> tuple[list[RowScore], RowsScore]:
    """The scores of texts cut at |, and of all together."""
    rows: list[RowScore] = []
    file = io.BytesIO(json_lines([{"text": text, "before": "It is"} for text in texts]))
    options = {"column": "text", "separator": "|", **options}
    return rows, rnnviz.perplexity_of_rows(model, file, name="a.jsonl", on_row=rows.append, **options)


def loop(model: Any, text: str) -> list[float]:
    """The cost of each character, read one by one."""
    scorer, ids = model.scorer(), model.vocabulary.encode(text)
    unknown = [model.vocabulary.unknown_cost * (id == 0) for id in ids]
    return [cost - scorer.advance(ids[n : n + 1]).item() for n, cost in enumerate(unknown)]


@pytest.mark.parametrize("blanks", ["next", "previous"])
@pytest.mark.parametrize("precise", [False, True])
def test_regions_cost_what_a_plain_loop_adds_up(model: Any, precise: bool, blanks: Any) -> None:
    rows, together = score(model, CUT, precise=precise, blanks=blanks)
    for cut, row in zip(CUT, rows, strict=True):
        regions, begin = joined(cut.split("|"), blanks=blanks), 0
        costs = loop(model, "".join(regions))
        assert [*row.regions] == [f"region_{n}" for n in range(1, len(regions) + 1)]
        for nats, region in zip(row.regions.values(), regions, strict=True):
            nll = sum(costs[begin : begin + len(region)])
            assert nats == pytest.approx(nll, rel=1e-4, abs=1e-5)
            begin += len(region)
        assert sum(row.regions.values()) == pytest.approx(row.nll, rel=1e-12)
    assert together.nll == pytest.approx(sum(row.nll for row in rows), rel=1e-9)
    (whole, _), (cut, _) = (score(model, CUT[:1], separator=separator) for separator in (None, "|"))
    assert not whole[0].regions
    assert score(model, ["The lever of brass"])[0][0].nll == pytest.approx(cut[0].nll, rel=1e-6)


def test_a_separator_that_no_text_has_is_named(model: Any) -> None:
    (row,), together = score(model, ["The lever of brass"], separator="/")
    assert [*row.regions] == ["region_1"]
    (caution,) = [sentence for sentence in together.sentences() if level(sentence) == "caution"]
    assert describe(caution, "en") == "a.jsonl: no text has the separator “/”, so each is one region."
    some_have_it = score(model, ["The lever of brass", "The lever/of brass"], separator="/")[1]
    assert "rows.separator-missing" not in [sentence.code for sentence in some_have_it.sentences()]


def test_a_region_costs_what_its_text_costs_in_its_context(model: Any) -> None:
    (row,), _ = score(model, ["The lever|of brass|“ü” jumped."], context="before")
    before = "It is"
    for region, nats in zip(["The lever", " of brass", " “ü” jumped."], row.regions.values(), strict=True):
        alone = rnnviz.perplexity(model, text=region, context=before)
        assert nats == pytest.approx(alone.nll, rel=1e-4)
        before += region
    assert row.given_characters == len("It is")


def test_a_normaliser_keeps_the_borders(model: Any) -> None:
    object.__setattr__(model, "normaliser", "typography")  # a network in numpy is frozen
    (row,), together = score(model, ["one\r\n\r\n“two”\r|\nthree—|\r\n…"], join="")
    (plain,), _ = score(model, ['one\n\n"two"|\nthree-|\n.'], join="")
    assert [*row.regions.values()] == pytest.approx([*plain.regions.values()], rel=1e-6)
    assert (row.characters, together.replaced, together.line_ends) == (plain.characters, 4, 4)
    data = json_lines([{"before": "one\r", "region_1": "", "region_2": "\ntwo"}])
    score_ = rnnviz.perplexity_of_rows(
        model, io.BytesIO(data), name="a.jsonl", column="region_*", context="before"
    )
    assert (score_.characters, score_.given_characters) == (3, 4), "a line end's halves are one character"


def test_the_end_counts_for_the_last_region_with_characters() -> None:
    model = tiny("lstm", ends=True)
    for text in ("The lever| of us", "The lever| of us||"):
        (row,), together = score(model, [text])
        (open_,), _ = score(model, [text], ended=False)
        whole = rnnviz.perplexity(model, "The lever of us", ended=True)
        assert row.nll == pytest.approx(whole.nll, rel=1e-4)
        (first, last, *empty), (_, without, *_) = row.regions.values(), open_.regions.values()
        assert last - without == pytest.approx(whole.nll - open_.nll, rel=1e-3)
        assert (first, empty) == (open_.regions["region_1"], [0.0] * text.count("||") * 2)
        assert together.ends == 1


@pytest.mark.parametrize(
    ("regions", "read"),
    [
        (["The horse", "fell", "."], "The horse fell."),
        (["The horse ", " fell", " ."], "The horse fell ."),
        (["one\n", "two", "", " ", "three"], "one\ntwo three"),
        (["He left", ", she", "(and I)", "", "stayed"], "He left, she (and I) stayed"),
        (["时间", "旅行者", "。"], "时间旅行者。"),
        (["", " a", ""], " a"),
        ([" ", ""], " "),
        (["a"], "a"),
    ],
)
def test_regions_are_parted_as_words_are(regions: list[str], read: str) -> None:
    for blanks in ("next", "previous"):
        assert "".join(joined(regions, blanks=blanks)) == read
        assert "".join(joined(regions, "", blanks)) == "".join(regions)


@given(
    st.lists(st.text("ab .\n", max_size=5), min_size=1, max_size=6), st.sampled_from([None, "", " ", "--"])
)
def test_white_space_alone_crosses_a_border(regions: list[str], join: str | None) -> None:
    following, preceding = (joined(regions, join, blanks) for blanks in ("next", "previous"))
    assert "".join(following) == "".join(preceding)
    assert not any(part[-1:].isspace() for part in following[:-1])
    assert not any(part[:1].isspace() for part in preceding[1:])
    if join != "--":
        for given_, later, earlier in zip(regions, following, preceding, strict=True):
            assert given_.strip() == later.strip() == earlier.strip()


def test_blanks_at_borders_count_alike_wherever_they_were_typed() -> None:
    for cut in ("The horse|raced|fell.", "The horse |raced |fell.", "The horse | raced | fell."):
        assert joined(cut.split("|")) == ["The horse", " raced", " fell."]
        assert joined(cut.split("|"), blanks="previous") == ["The horse ", "raced ", "fell."]
    assert joined(["a", "", "b"], "--") == ["a", "", "--b"], "what is read between counts with what follows"
    assert joined(["a", "  b"]) == ["a", "  b"], "white space of one side is read as it stands"


ITEMS = [
    {"item": "1", "region_1": "The lever", "region_10": "us.", "region_2": "of"},
    {"item": "2", "region_1": "half", "region_10": "", "region_2": "jumped"},
]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", comma(ITEMS)),
        ("a.tsv", comma(ITEMS, "\t")),
        ("a.jsonl", json_lines([ITEMS[0], {"region_1": "half", "region_10": None, "region_2": "jumped"}])),
        ("a.jsonl", json_lines([ITEMS[0], {"region_2": "jumped", "region_1": "half"}])),
        ("a.parquet", parquet([ITEMS[0], {**ITEMS[1], "region_10": None}])),
    ],
)
@pytest.mark.parametrize("column", ["region_*", ["region_1", "region_2", "region_10"]])
def test_columns_are_regions_in_order(model: Any, name: str, data: bytes, column: Any) -> None:
    rows: list[RowScore] = []
    together = rnnviz.perplexity_of_rows(
        model, io.BytesIO(data), name=name, column=column, on_row=rows.append
    )
    cut, _ = score(model, ["The lever|of|us.", "half|jumped|"])
    for row, expected in zip(rows, cut, strict=True):
        assert [*row.regions] == ["region_1", "region_2", "region_10"]
        assert [*row.regions.values()] == pytest.approx([*expected.regions.values()], rel=1e-6)
    assert together.column == "region_1, region_2, region_10"


def test_a_column_that_a_late_line_has_is_a_region(model: Any) -> None:
    lines = [{"region_1": "The"}] * 2000 + [{"region_1": "The", "region_2": "lever"}]
    rows: list[RowScore] = []
    file = io.BytesIO(json_lines(lines))
    rnnviz.perplexity_of_rows(model, file, name="a.jsonl", column="region_*", on_row=rows.append)
    assert rows[-1].characters == len("The lever")
    assert rows[0].regions["region_2"] == 0.0


def test_bad_rows_are_named_and_left_out(model: Any) -> None:
    bad = ['{"region_1": "a", "region_2": 7}', "{", '{"region_1": "", "region_2": null}', '{"other": 1}']
    file = io.BytesIO("\n".join([json.dumps(ITEMS[0]), *bad]).encode())
    together = rnnviz.perplexity_of_rows(model, file, name="a.jsonl", column="region_*")
    assert (together.rows, together.rows_scored) == (5, 1)
    assert [(row, str(error)) for row, error in together.examples][::2] == [
        (1, "its region_2 is a number, not a text"),
        (3, "it has no characters"),
    ]
    rows, together = score(model, ["a|b", "|" * MAX_COLUMNS, "a" + "|" * (MAX_COLUMNS - 1)])
    assert str(rows[1].fault) == "it has 1,001 regions, and at most 1,000 are read"
    assert (together.rows_left_out, len(rows[2].regions)) == ({"long": 1}, MAX_COLUMNS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"column": "regoin_*"}, "has no column 'regoin_*'; it has 'item', 'region_1'"),
        ({"column": ["region_1", "region_7"]}, "has no column 'region_7'; it has 'item', 'region_1'"),
        ({"column": [1, 2]}, "has no column '1'"),
        (
            {"column": "region_*", "separator": "|"},
            "parts the texts of one column; received '|' and 'region_1'",
        ),
        ({"column": "region_1", "separator": ""}, "at least one character"),
        ({"column": "region_1", "separator": "|", "blanks": "before"}, "blanks is 'next' or 'previous'"),
    ],
)
@pytest.mark.parametrize(("name", "data"), [("a.csv", comma(ITEMS)), ("a.jsonl", json_lines(ITEMS))])
def test_impossible_regions_are_refused(
    name: str, data: bytes, options: dict[str, Any], message: str
) -> None:
    file = io.BytesIO(data)
    assert_refused(
        lambda: rnnviz.perplexity_of_rows(tiny("gru"), file, name=name, **options),
        rnnviz.errors.ConfigError,
        message,
    )


def test_a_minimal_pair_differs_where_it_is_cut() -> None:
    examples = Path(__file__).parents[2] / "examples" / "regions.csv"
    rows: list[RowScore] = []
    rnnviz.perplexity_of_rows(rnnviz.load("holmes-lstm"), examples, column="region_*", on_row=rows.append)
    for good, bad in zip(rows[::2], rows[1::2], strict=True):
        assert good.regions["region_1"] == pytest.approx(bad.regions["region_1"], rel=1e-5)
        assert good.nll < bad.nll
