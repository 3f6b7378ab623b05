"""README, the first thing that is seen: short, and its moving picture is small and shows what it says."""

import re
from pathlib import Path

import pytest
from PIL import Image, ImageSequence

from rnnviz.networks import checkpoint, model_card
from tests.support.written import ROOT, blocks, links

README = (ROOT / "README.md").read_text("utf-8")
PICTURES = ROOT / "docs" / "pictures"
FILMS = sorted(PICTURES.glob("*.webp"))


def test_readme_has_both_commands() -> None:
    assert blocks(ROOT / "README.md", "bash") == [
        "pip install -r requirements.txt && streamlit run app.py\n",
        'pip install -r requirements.txt -e ".[test]" && pytest\n',
    ]


def test_readme_opens_with_film_in_light_and_dark() -> None:
    opening = README[: README.index("```bash")]
    named = re.findall(r'(?:srcset|src)="(docs/pictures/[^"]+)"', opening)
    films, stills = ["docs/pictures/typing-dark.webp", "docs/pictures/typing-light.webp"], named[:2]
    assert named == [*stills, *films]
    assert all("explore" in still for still in stills), "for those who want nothing to move"
    assert all(film.name in README for film in FILMS)


def test_stills_come_in_light_and_dark() -> None:
    stills = re.findall(
        r'srcset="(docs/pictures/\w+)-dark\.png">\s*<img src="(docs/pictures/\w+)\.png"', README
    )
    assert [light for _dark, light in stills] == [dark for dark, _light in stills] != []


@pytest.mark.parametrize("film", FILMS, ids=lambda film: film.name)
def test_a_film_is_small_and_about_ten_seconds_long(film: Path) -> None:
    assert film.stat().st_size <= 3_000_000
    with Image.open(film) as picture:
        times = [frame.copy().info["duration"] for frame in ImageSequence.Iterator(picture)]
        assert picture.info["loop"] == 0  # for ever
        assert picture.width <= 1280
        assert picture.height <= 720
    assert 8_000 <= sum(times) <= 12_000
    assert len(times) / (sum(times) / 1000) >= 5  # one for each key; what is held is one frame


def test_film_shows_unit_that_card_confirms() -> None:
    script = (PICTURES / "film.py").read_text("utf-8")
    match = re.search(r"model=([\w-]+)", script)
    first = model_card.unit_findings(checkpoint.read_info(checkpoint.find(match[1])).card)[0]
    assert (first.target, first.verdict) == ("quotes", "remembers")


def test_chinese_readers_are_led_to_every_chinese_page() -> None:
    docs = ROOT / "docs"
    door = docs / "index.zh.md"
    assert "(docs/index.zh.md)" in README
    assert "(index.zh.md)" in (docs / "index.md").read_text("utf-8")
    named = {(docs / target).resolve() for target in links(door)}
    assert set(docs.rglob("*.zh.md")) - {door} <= named
