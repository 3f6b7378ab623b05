"""Small models for all tests: real files, made once, with random weights."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from rnnviz.networks.checkpoint import save
from rnnviz.networks.ngram import NgramModel
from tests.support import known_words
from tests.support.models import TEXT, tiny, tiny_card


@pytest.fixture(scope="session", autouse=True)
def _checked_words() -> Iterator[None]:
    """Before the first test: what is said is held against the catalogues."""
    with known_words.checked():
        yield


@pytest.fixture(autouse=True)
def _known_words() -> Iterator[None]:
    """All that a test made the package say is in its catalogues."""
    yield
    said, known_words.unknown[:] = known_words.unknown[:], []
    assert said == [], "bring the catalogue up to date: docs/adding.md, New words"


@pytest.fixture(scope="session")
def models_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tiny-gru, tiny-lstm and tiny-3gram."""
    folder = tmp_path_factory.mktemp("models")
    for cell in ("gru", "lstm"):
        save(tiny(cell, card=tiny_card()), folder / f"tiny-{cell}.safetensors")
    ngram = NgramModel.fit(TEXT, order=3, name="tiny-3gram")
    save(ngram, folder / "tiny-3gram.safetensors")
    return folder


@pytest.fixture
def only_tiny_models(models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tiny models are all there is: the shipped ones are out of sight."""
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [models_folder])
    return models_folder


@pytest.fixture
def command_environment(models_folder: Path) -> dict[str, str]:
    """For a process of its own: the tiny models stand first."""
    return {**os.environ, "RNNVIZ_MODELS": str(models_folder), "OMP_NUM_THREADS": "1"}
