"""Annotations of a text: a CSV or JSON file of spans."""

from __future__ import annotations

import io
import json

import pytest

from rnnviz import units
from rnnviz.errors import ConfigError


def read(text: str, length: int = 20) -> list[units.Target]:
    return units.read_annotations(io.BytesIO(text.encode()), length)


def test_annotations_are_read_from_csv_and_json() -> None:
    as_csv = read("\ufeffwho,label,start,stop\nme,name, 0,3\nme,verb,2,6\nyou,name,10,20\n")
    rows = [(0, 3, "name"), (2, 6, "verb"), (10, 20, " name ")]
    as_json = read(json.dumps([dict(zip(("start", "stop", "label"), row, strict=True)) for row in rows]))
    for found in (as_csv, as_json):
        assert [(t.name, t.spans()) for t in found] == [("name", [(0, 3), (10, 20)]), ("verb", [(2, 6)])]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("start,end,label\n1,2,a\n", "it has no stop"),
        ("1,2,a\n", "it has no start, stop, label"),
        ("start,stop,label\n", "have no span"),
        ("[]", "have no span"),
        ("start,stop,label\n1,2,a\n1,x,a\n", "annotation 2 has no whole number as its stop; received 'x'"),
        ("start,stop,label\n1\n", "annotation 1 has no whole number as its stop; received None"),
        ("start,stop,label\n-1,2,a\n", "annotation 1 has no whole number as its start"),
        ("start,stop,label\n3,3,a\n", "annotation 1 goes from 3 to 3"),
        ("start,stop,label\n3,21,a\n", "lies within the text of 20 characters"),
        ("start,stop,label\n3,4,\n", "needs a label of 1 to 60 characters"),
        ("start,stop,label\n3,4," + "a" * 61, "needs a label"),
        ("start,stop,label\n" + "".join(f"1,2,{n}\n" for n in range(33)), "more than the 32"),
        ("[1]", "annotation 1 is no object"),
        ('[{"start": true, "stop": 2, "label": "a"}]', "no whole number as its start; received True"),
        ('[{"start": 1.5, "stop": 2, "label": "a"}]', "no whole number"),
        ('{"start": 1}', "are a list of objects"),
        ("[{", "are no JSON"),
        ("[" * 100_000, "are no JSON"),
        ("start,stop,label\n1,2," + "a" * 200_000, "are no CSV|needs a label"),  # as the process allows
    ],
)
def test_annotations_of_another_form_are_refused_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        read(text)
