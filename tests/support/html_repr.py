"""What a notebook shows of a thing: a repr of one screen at most, and a picture as static HTML."""

import re
import xml.etree.ElementTree as ET
from typing import Any


def assert_brief(value: object) -> None:
    """It takes no more than a few lines."""
    text = repr(value)
    assert len(text) <= 400
    assert text.count("\n") <= 5
    assert not re.search(r" at 0x[0-9a-f]+>", text)


def assert_well_formed(value: Any) -> None:
    """It is HTML without scripts."""
    html = value._repr_html_()
    assert "<script" not in html
    assert "http" not in html  # nothing is fetched
    assert re.findall(r"\son\w+=", html) == []
    assert ET.fromstring(html).tag == "div"  # every element is closed, every & is one
