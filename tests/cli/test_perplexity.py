"""`rnnviz perplexity`: the same numbers as the package, to the last digit, on paper and in files."""

from __future__ import annotations

import contextlib
import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rnnviz.networks.checkpoint import load
from rnnviz.networks.progress import run
from rnnviz.reading.scoring import UniformModel, perplexity, pieces
from rnnviz.reports.baselines import compressing, unigram
from tests.cli.conftest import Run, process
from tests.conftest import TEXT

LONG = TEXT + "Größe: 道 and so on.\r\n" + TEXT


FIELDS = [
    "file", "model", "characters", "unknown", "perplexity", "perplexity_known", "bits_per_character",
    "bits_per_byte", "encoding", "seconds",
]  # fmt: skip
    assert (named["encoding"], named["certainty"]) == ("iso8859-5", "declared")


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_every_step_shows_its_progress_on_a_terminal_only(
    command_environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "long.txt").write_text(TEXT * 60)
    command = "perplexity long.txt -m tiny-lstm --compare tiny-3gram --per-character out.csv --json"
    ours, theirs = os.openpty()
    started = process(command, command_environment, cwd=tmp_path, stderr=theirs)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # Linux says so when the other side of a terminal is gone
        while piece := os.read(ours, 65_536):
            shown += piece
    os.close(ours)
    out, _ = started.communicate(timeout=120)
    assert started.returncode == 0
    assert b"characters, perplexity" in shown
    assert b"tiny-3gram" in shown
    assert b"gzip, xz" in shown
    assert json.loads(out)["characters"] == len(TEXT) * 60
    piped = process(command, command_environment, cwd=tmp_path)
    again, err = piped.communicate(timeout=120)
    assert (piped.returncode, err) == (0, b"")
    assert figures(json.loads(again)) == figures(json.loads(out))
