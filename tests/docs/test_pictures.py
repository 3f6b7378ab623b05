"""Pictures that pages show, as `python -m docs.pictures.take` and film.py made them: there, and small."""

import struct
from pathlib import Path

import pytest
from PIL import Image

from docs.pictures.take import LANGUAGES, LIMIT, MAX_DISTANCE, PAGES, SCHEMES, SIZE, TILE, distance
from tests.support import written

FOLDER = written.ROOT / "docs" / "pictures"
STILLS = [
    FOLDER / f"{name}{mark}{dark}.png"
    for name in PAGES
    for mark in LANGUAGES.values()
    for dark in SCHEMES.values()
]


@pytest.mark.parametrize("still", STILLS, ids=lambda still: still.name)
def test_a_still_is_there_whole_and_small(still: Path) -> None:
    data = still.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert data.endswith(b"IEND\xaeB`\x82")
    assert struct.unpack(">II", data[16:24]) == SIZE
    assert 10_000 < len(data) <= LIMIT


@pytest.mark.slow
def test_a_picture_is_far_from_one_in_which_a_button_is_missing_and_near_to_a_paler_one() -> None:
    pytest.importorskip("flip_evaluator", reason="the extra `pictures` isn't installed")
    with Image.open(FOLDER / "train.png") as still:
        picture = still.convert("RGB")
    changed = picture.copy()
    changed.paste("white", (1110, 180, 1400, 220))  # Start
    assert distance(picture, changed) > 3 * MAX_DISTANCE
    assert distance(picture, picture.point(lambda value: min(255, value + 2))) < MAX_DISTANCE
    assert distance(picture, picture.crop((0, 0, TILE, TILE))) == 1


def test_every_picture_is_shown_or_the_other_scheme_of_one_that_is() -> None:
    referenced = {
        (page.parent / target).resolve().name
        for page in written.PAGES
        for target in written.links(page)
        if target.endswith((".png", ".webp"))
    }
    files = {path.name for path in FOLDER.iterdir() if path.suffix in (".png", ".webp")}
    assert {name.replace("-dark", "") for name in files} <= {name.replace("-dark", "") for name in referenced}
