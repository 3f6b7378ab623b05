"""An error is a template and its values, also after a detour through a file or another process."""

import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rnnviz import errors
from rnnviz.errors import CheckpointError, ConfigError, Phrase, RnnvizError, TrainingError

INNER = ConfigError(
    "{name!r} is at least {low:g}; received {size:,}", name="hidden_size", low=1.0, size=-1200
)
OUTER = TrainingError("{path} is damaged ({error}); {{start}} a new run", path=Path("a{b"), error=INNER)


def test_a_sentence_comes_out_of_a_file_as_it_went_in() -> None:
    again = RnnvizError.from_json(json.loads(json.dumps(OUTER.to_json())))
    assert (
        str(again)
        == str(OUTER)
        == "a{b is damaged ('hidden_size' is at least 1; received -1,200); {start} a new run"
    )
    assert again.message == OUTER.message
    assert isinstance(again.values["error"], RnnvizError)


def test_a_sentence_crosses_to_another_process() -> None:
    again = pickle.loads(pickle.dumps(INNER))
    assert (type(again), str(again), again.message) == (ConfigError, str(INNER), INNER.message)
    assert again.values == INNER.values


def test_a_phrase_keeps_its_template_inside_a_sentence() -> None:
    error = CheckpointError(
        "{name} is no model: {what}", name="a", what=Phrase("it has {size:,} bytes", size=1234)
    )
    assert str(error) == "a is no model: it has 1,234 bytes"
    again = RnnvizError.from_json(error.to_json())
    assert str(again) == str(error)
    assert again.values["what"].message == "it has {size:,} bytes"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "value",
    [
        None,
        "text",
        {"message": "no values"},
        {"message": 3, "values": {}},
        {"message": "{missing}", "values": {"a": 1}},
        {"message": "{a:,}", "values": {"a": "no number"}},
        {"message": "{a:>999999999}", "values": {"a": 1}},
        {"message": "{a.__class__}", "values": {"a": 1}},
        {"message": "{a[0]}", "values": {"a": "x"}},
        {"message": "{", "values": {"a": 1}},
    ],
)
def test_foreign_json_is_no_error(value: object) -> None:
    assert RnnvizError.from_json(value) is None


@pytest.mark.parametrize(
    ("origin", "target"),
    [
        (None, '"rnnviz[train]"'),  # from an index, or a folder of wheels
        (
            {"url": "file:///home/me/my%20work/rnnviz", "dir_info": {}},
            '"rnnviz[train] @ file:///home/me/my%20work/rnnviz"',
        ),
        (
            {"url": "file:///tmp/rnnviz-1.0-py3-none-any.whl", "archive_info": {}},
            '"rnnviz[train] @ file:///tmp/rnnviz-1.0-py3-none-any.whl"',
        ),
        (
            {"url": "https://example.org/rnnviz.git", "vcs_info": {"vcs": "git", "commit_id": "7b24d83"}},
            '"rnnviz[train] @ git+https://example.org/rnnviz.git"',
        ),
    ],
)
def test_the_command_installs_from_where_rnnviz_came(
    origin: dict[str, object] | None, target: str, tmp_path: Path
) -> None:
    about = tmp_path / "rnnviz-1.0.dist-info"
    for folder in (about, tmp_path / "rnnviz"):
        folder.mkdir()
    (tmp_path / "rnnviz" / "__init__.py").touch()
    shutil.copy(errors.__file__, tmp_path / "rnnviz")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: rnnviz\nVersion: 1.0\n", "utf-8")
    if origin is not None:
        (about / "direct_url.json").write_text(json.dumps(origin), "utf-8")
    code = "from rnnviz.errors import install; print(install('train'))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=60
    )
    assert done.stdout == f"pip install {target}\n", done.stderr


def test_in_a_checkout_the_command_needs_no_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    checkout = Path(__file__).parents[1]
    monkeypatch.chdir(checkout)
    assert errors.install("train") == 'pip install ".[train]"'
    monkeypatch.chdir(tmp_path)
    assert errors.install("train") == f'pip install "{checkout}[train]"'
