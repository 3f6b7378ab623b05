"""What a notebook shows of a thing: a repr of one screen at most, and a picture as static HTML."""

import re
import xml.etree.ElementTree as ET
from typing import Any


def assert_brief(thing: object) -> None:
    """It takes no more than a few lines."""
    said = repr(thing)
    assert len(said) <= 400
    assert said.count("\n") <= 5
    assert not re.search(r" at 0x[0-9a-f]+>", said)


def assert_well_formed(thing: Any) -> None:
    """It is HTML without scripts."""
    drawn = thing._repr_html_()
    assert "<script" not in drawn
    assert "http" not in drawn  # nothing is fetched
    assert re.findall(r"\son\w+=", drawn) == []
    assert ET.fromstring(drawn).tag == "div"  # every element is closed, every & is one
