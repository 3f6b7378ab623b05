"""Cards' figures are computed again; what differs and what can't be computed is said."""

from pathlib import Path

import pytest

from rnnviz import cli
from rnnviz.lab.run import card_check
from rnnviz.networks import checkpoint, modelfile
from tests.support.texts import TRAVELLER

FIGURES = {
    "parameters",
    "uniform",
    "bits_per_character",
    "characters",
    "unknown",
    "perplexity",
    "sha256_held_out",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two models of one text, and the text."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text(TRAVELLER, "utf-8")
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path])
    count = "train --corpus text.txt --name counts --cell ngram --order 3"
    assert cli.main(count.split()) == 0
    words = "train --corpus text.txt --name net --hidden-size 8 --epochs 1 --threads 1 --half --ngram counts"
    assert cli.main(words.split()) == 0
    return tmp_path


def check_cards(folder: Path | None) -> tuple[list[card_check.CardFigure], list[str]]:
    """The figures of all cards, and the sentences for what can't be computed."""
    results = list(card_check.check(checkpoint.available()[0], folder))
    return (
        [result for result in results if isinstance(result, card_check.CardFigure)],
        [result for result in results if isinstance(result, str)],
    )


def test_a_fresh_card_is_right_in_every_figure(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures, _ = check_cards(folder)
    assert {figure.name for figure in figures if figure.model == "counts"} == FIGURES
    assert {figure.name for figure in figures if figure.model == "net"} == FIGURES | {"ngram"}
    assert all(figure.same for figure in figures)
    assert cli.main(["dev", "check-models", "--corpora", str(folder)]) == 0
    assert "net perplexity" in capsys.readouterr().out


def test_a_figure_that_does_not_come_out_again_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "net.safetensors"
    _, meta, _ = modelfile.read_header(path)
    meta["card"]["held_out"]["perplexity"] *= 1.001
    modelfile.write_model(path, modelfile.read_tensors(path), meta, None)
    differing = {figure.name for figure in check_cards(folder)[0] if not figure.same}
    assert differing == {"perplexity", "bits_per_character"}
    assert cli.main(["dev", "check-models", "--corpora", str(folder)]) == 1
    assert "in the card, computed" in capsys.readouterr().out


def test_the_held_out_part_alone_will_do_and_a_missing_text_is_said(folder: Path, tmp_path: Path) -> None:
    _, missing = check_cards(None)
    assert len(missing) == 2
    assert "text.txt is not on this machine" in missing[0]
    parts = tmp_path / "parts"
    parts.mkdir()
    (parts / "end.txt").write_text(TRAVELLER[int(0.9 * len(TRAVELLER)) :], "utf-8")
    (parts / "no-text.txt").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(60))
    figures, missing = check_cards(parts)
    assert not missing
    assert all(figure.same for figure in figures)
    assert [figure.name for figure in figures].count("perplexity") == 2


def test_the_library_of_another_python_is_told(folder: Path) -> None:
    path = folder / "net.safetensors"
    _, meta, _ = modelfile.read_header(path)
    meta["card"] |= {"corpus": "python-library", "versions": {"python": "3.0.1"}}
    modelfile.write_model(path, modelfile.read_tensors(path), meta, None)
    assert any("is the library of Python 3.0.1, and this is " in line for line in check_cards(None)[1])


def test_missing_card_entry_is_no_difference(folder: Path) -> None:
    path = folder / "net.safetensors"
    _, meta, _ = modelfile.read_header(path)
    meta["card"] = {"sha256": meta["card"]["sha256"], "parameters": meta["card"]["parameters"]}
    modelfile.write_model(path, modelfile.read_tensors(path), meta, None)
    info = next(info for info in checkpoint.available()[0] if info.name == "net")
    for text in (TRAVELLER, "", None):  # "": a text too short to be split
        assert [(figure.name, figure.same) for figure in card_check.figures(info, text)] == [
            ("parameters", True)
        ]
