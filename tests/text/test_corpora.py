"""Texts by name: what is on every machine, a file of one's own, and how a text is split."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter
from pathlib import Path

import pytest

from rnnviz.errors import CorpusError
from rnnviz.networks import checkpoint
from rnnviz.text import corpora
from rnnviz.text.corpora import Split, as_corpus

# ---- what is on every machine ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", corpora.names())
def test_corpus_description_has_every_field(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RNNVIZ_CACHE", str(tmp_path))
    info = corpora.describe(name)
    assert info.name == name
    assert all((info.title, info.licence, info.source, info.language, info.bytes)), "no field is empty"
    assert info.needs_download == (name == "tinyshakespeare")


def test_the_standard_library_is_read_from_the_running_python() -> None:
    corpus = corpora.read("python-source")
    assert len(corpus.text.encode()) == pytest.approx(corpora.describe("python-source").bytes, rel=0.01)
    assert "\r" not in corpus.text
    assert "def quantiles(" in corpus.text
    heads = [line[2:] for line in corpus.text.split("\n") if line[2:] in corpora.PYTHON_MODULES]
    assert tuple(heads) == corpora.PYTHON_MODULES, "each once, in order"


def test_the_standard_library_is_not_shadowed_nor_run(tmp_path: Path) -> None:
    (tmp_path / "timeit.py").write_text("raise SystemExit('run')\n", encoding="utf-8")
    code = "from rnnviz.text.corpora import read; print('raise SystemExit(' in read('python-source').text)"
    root = Path(corpora.__file__).parents[2]
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{root}"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert result.stdout == "False\n"


def test_a_missing_module_is_skipped_and_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = Path(sysconfig.get_path("stdlib"))
    for module in corpora.PYTHON_MODULES:
        name = module.partition(".")[0]
        if (library / name).is_dir():
            shutil.copytree(library / name, tmp_path / name, dirs_exist_ok=True)
        elif name not in ("textwrap", "heapq"):
            shutil.copy(library / f"{name}.py", tmp_path)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    corpus = corpora.read("python-source")
    assert corpus.skipped == ("textwrap", "heapq")
    assert "# textwrap\n" not in corpus.text
    assert "# tokenize\n" in corpus.text


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("python-source", "no source files of its standard library in .*; use another corpus"),
        ("timemachine", r"timemachine\.txt, which comes with rnnviz, can't be read .*install rnnviz again"),
        ("names", r"names\.txt, which comes with rnnviz, can't be read .*install rnnviz again"),
    ],
)
def test_missing_corpus_is_refused_with_remedy(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(corpora, "SHIPPED", tmp_path)
    with pytest.raises(CorpusError, match=message):
        corpora.read(name)


def test_the_time_machine_comes_with_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The held-out figures of the shipped models rest on these bytes."""
    monkeypatch.setenv("RNNVIZ_CACHE", str(tmp_path))
    corpus = corpora.fetch("timemachine", base_url="http://127.0.0.1:1")  # no network
    assert corpus.sha256 == "8424dbd9532ac81f7e5f0b6add90e6952baea29158309d7d1bf3884f4e12c516"
    assert corpora.describe("timemachine").bytes == 178_979
    assert "Gutenberg" in corpus.source
    assert "gutenberg" not in corpus.text.lower(), "a trademark, and a licence of its own"
    trained = [info for info in checkpoint.available()[0] if info.card.get("corpus") == "timemachine"]
    assert {info.card["sha256"] for info in trained} == {corpus.sha256}
    notice = (corpora.SHIPPED / "README.md").read_text("utf-8")
    assert "public domain" in notice
    assert corpus.sha256 in notice
    assert not list(tmp_path.iterdir()), "nothing was fetched"


def test_names_come_with_the_package_in_an_order_without_meaning() -> None:
    corpus = corpora.read("names")
    assert corpus.sha256 == "e6a447773288d078daf60a8ff1f4d06d0625ae767ba3991a52ab2f067a6817c8"
    assert corpus.sha256 in (corpora.SHIPPED / "README.md").read_text("utf-8")
    assert corpus.text.endswith("\n"), "the last name ends as every name does"
    names = corpus.text.split("\n")[:-1]
    assert len(names) == len(set(names)) == 5163
    assert all(re.fullmatch("[A-Z][a-z]+", name) for name in names)
    digests = [hashlib.sha256(name.encode()).digest() for name in names]
    assert digests == sorted(digests)
    held_out, rest = set(corpus.split().held_out.split()[1:]), set(corpus.split().train.split())
    initials = [Counter(name[0] for name in part) for part in (held_out, rest)]
    shares = [{letter: n / count.total() for letter, n in count.items()} for count in initials]
    apart = sum(abs(shares[0].get(letter, 0) - share) for letter, share in shares[1].items()) / 2
    assert apart < 0.15, "by the alphabet it would be above 0.9"


# ---- splitting and the user's own --------------------------------------------------------------------------


@pytest.mark.parametrize("n", [200, 201, 999, 1000, 178_979, 1_115_394])
def test_a_text_is_split_in_order(n: int) -> None:
    text = ("0123456789" * (n // 10 + 1))[:n]
    corpus = corpora.from_text(text)
    split = corpus.split()
    assert max(len(str(corpus)), len(str(split))) < 600, "printed, it doesn't fill the screen"
    assert split.train + split.validation + split.held_out == text
    assert len(split.train) == int(n * 0.85)
    assert len(split.train) + len(split.validation) == int(n * 0.9)


def test_final_run_trains_on_first_nine_tenths() -> None:
    corpus = corpora.from_text("0123456789" * 100)
    assert corpus.split(validation=0) == Split(corpus.text[:900], "", corpus.split().held_out)
    assert corpora.from_text("a" * 199).split() == Split("a" * 199, "", ""), "too short"


def test_own_text_becomes_corpus() -> None:
    corpus = corpora.from_text("one\r\ntwo 道", "mine", language="en")
    assert (corpus.name, corpus.title, corpus.text, corpus.language) == ("mine", "mine", "one\ntwo 道", "en")
    assert corpus.sha256 == hashlib.sha256("one\ntwo 道".encode()).hexdigest()


def test_own_file_becomes_corpus(tmp_path: Path) -> None:
    path = tmp_path / "西游记.txt"
    path.write_bytes("行者道\r\n".encode("utf-16"))
    corpus = corpora.from_file(path, language="zh")
    assert (corpus.name, corpus.title, corpus.source) == ("西游记", "西游记.txt", "西游记.txt")
    assert corpus.text == "行者道\n"
    fields = {"name": "journey", "title": "Journey to the West", "language": "zh", "licence": "public domain"}
    again = corpora.open_corpus(path, encoding="utf-16", **fields)
    assert {field: getattr(again, field) for field in fields} == fields
    assert corpora.named_or_file(str(path), title="Journey to the West").title == "Journey to the West"
    assert str(tmp_path) not in repr(corpus), "a model's card must not tell where a file was"


def test_name_wins_over_file_unless_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "machine").write_text("not the word", encoding="utf-8")
    assert corpora.open_corpus("machine").text == "machine"
    assert corpora.named_or_file("machine").text == "machine"
    assert corpora.named_or_file("./machine").text == "not the word"
    assert corpora.open_corpus(Path("machine")).text == "not the word"


def test_a_sentence_is_a_text_and_a_corpus_stays_itself() -> None:
    assert as_corpus("It came back.").text == "It came back."
    assert as_corpus("x" * 5000 + ".txt").characters == 5004
    corpus = corpora.from_text("a lamp")
    assert as_corpus(corpus) is corpus
