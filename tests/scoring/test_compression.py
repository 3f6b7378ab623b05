"""Compressed texts: they come back, are as large as scoring promises, and what is no such file is refused."""

import itertools
import math
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rnnviz.errors import ConfigError, DecodingError
from rnnviz.networks import checkpoint
from rnnviz.networks.cells import CELLS
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.progress import Share
from rnnviz.scoring import compression
from rnnviz.scoring.compression import (
    Decoder,
    Encoder,
    SymbolCode,
    UnknownCode,
    compress,
    decompress,
    read_header,
)
from rnnviz.scoring.perplexity import perplexity
from rnnviz.text.characters import normalise
from rnnviz.text.vocabulary import UNICODE_SCALAR_VALUES, Vocabulary
from tests.support import needs
from tests.support.models import TEXT, tiny

needs.coder()

# Known characters, others, both halves of what a vocabulary's numbering skips, and beyond the first plane.
TEXTS = st.text(
    st.one_of(
        st.sampled_from(TEXT),
        st.sampled_from("\n\r\0\ud7ff\ue000\uffff\U00010000\U0010ffff😀👩‍🚀é𝄞行"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=60,
)
KINDS = (*CELLS, "relu", "two layers", "tied", "one-hot", "1-gram", "3-gram", "6-gram")


@cache
def make(kind: str) -> Any:
    options: dict[str, dict[str, Any]] = {
        "relu": {"cell": "rnn", "activation": "relu"},
        "two layers": {"cell": "lstm", "layers": 2},
        "tied": {"cell": "gru", "embedding_size": 12, "tied": True},
        "one-hot": {"cell": "gru", "embedding_size": 0},
    }
    if kind.endswith("gram"):
        return NgramModel.fit(TEXT, order=int(kind[0]), name=kind)
    return tiny(**{"cell": kind, "name": kind, **options.get(kind, {})})


def assert_kept(model: Any, text: str) -> None:
    """It comes back, and is as large as promised."""
    data = compress(model, text)
    assert decompress(model, data) == normalise(text)
    expected = 0.0
    if text:
        score = perplexity(model, text=text)
        expected = score.bits_per_character * score.characters / 8  # bytes
    assert abs(len(data) - expected) <= 0.001 * expected + 32


@pytest.mark.parametrize("kind", KINDS)
@given(text=TEXTS)
@example("The Time\r\nTraveller\r")
def test_every_text_comes_back_and_is_as_large_as_promised(kind: str, text: str) -> None:
    assert_kept(make(kind), text)


LONG = {
    "its own": TEXT,
    "repeated": "machine " * 500,
    "emoji": "😀🎉𝄞" * 300,
    "Chinese": "".join(map(chr, range(0x4E00, 0x4E00 + 900))),
    "one character again and again": "q" * 2000,
    "one": "e",
    "empty": "",
}


@pytest.mark.exact
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *((kind, "its own") for kind in ("lstm", "two layers", "6-gram")),
        *itertools.product(["lstm", "6-gram"], list(LONG)[1:]),
    ],
)
def test_long_texts_of_many_kinds_are_as_large_as_promised(kind: str, text: str) -> None:
    """What is restored asks the model again, and must get every bit of what was written with."""
    assert_kept(make(kind), LONG[text])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "threads"), [("timemachine-lstm", 1), ("timemachine-lstm", 5), ("python-lstm", 2)]
)
def test_another_process_restores_text_without_torch(tmp_path: Path, name: str, threads: int) -> None:
    model = checkpoint.load(name)
    (tmp_path / "text").write_bytes(compress(model, TEXT))
    program = (
        "import sys; from rnnviz.networks import checkpoint; from rnnviz.scoring import compression; "
        "model = checkpoint.load_numpy(sys.argv[1]); "
        "text = compression.decompress(model, open(sys.argv[2], 'rb').read()); "
        "assert 'torch' not in sys.modules; sys.stdout.write(text)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, checkpoint.find(name), tmp_path / "text"],
        capture_output=True,
        encoding="utf-8",
        check=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)},
    )
    assert done.stdout == TEXT


def test_compressing_and_decompressing_report_every_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rnnviz.networks.progress.REPORT_INTERVAL_S", 0.0)
    model = make("3-gram")
    ways: list[Callable[..., Any]] = [
        partial(compress, model, "machine"),
        partial(decompress, model, compress(model, "machine")),
    ]
    for way in ways:
        shares: list[Share] = []
        way(progress=shares.append)
        assert shares == [Share(pytest.approx(n / 7), n) for n in range(8)]


def sealed(body: bytes) -> bytes:
    """A whole file, as somebody could make it."""
    return b"rnz\x04" + zlib.crc32(body).to_bytes(4, "little") + body


FAULTS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "nothing": (lambda d: b"", "rnnviz did not compress this text"),
    "another program's": (lambda d: b"\x1f\x8b" + d, "rnnviz did not compress this text"),
    "a text": (lambda d: b"The Time Machine, by H. G. Wells", "rnnviz did not compress this text"),
    "newer": (lambda d: d[:3] + b"\x09" + d[4:], "has format 9"),
    "no format": (lambda d: d[:3] + b"\0" + d[4:60], "cut off or damaged"),
    "longer": (lambda d: d + b"x", "cut off or damaged"),
    "a bit turned": (lambda d: d[:-3] + bytes([d[-3] ^ 4]) + d[-2:], "cut off or damaged"),
    "another model's name": (lambda d: d[:8] + bytes(8) + d[16:], "cut off or damaged"),
    "a length beyond the limit": (lambda d: sealed(d[8:24] + b"\xff" * 4 + d[28:]), "cut off or damaged"),
    "a shorter length": (lambda d: sealed(d[8:24] + bytes([d[24] ^ 2]) + d[25:]), "can't be restored here"),
    "another text's digest": (lambda d: sealed(d[8:16] + bytes(8) + d[24:]), "can't be restored here"),
    "another text": (lambda d: sealed(d[8:-3] + bytes([d[-3] ^ 4]) + d[-2:]), "can't be restored here"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_uncompressed_text_is_refused(fault: str) -> None:
    model = make("gru")
    damage, message = FAULTS[fault]
    with pytest.raises(DecodingError, match=message):
        decompress(model, damage(compress(model, TEXT)))


@pytest.mark.parametrize("kind", ["gru", "6-gram"])
@given(payload=st.binary(max_size=60), characters=st.integers(0, 60))
def test_random_payload_is_refused(kind: str, payload: bytes, characters: int) -> None:
    """The file is whole, and what comes out is no text, or another one."""
    named = compress(make(kind), "")[8:16]
    with pytest.raises(DecodingError, match="can't be restored here"):
        decompress(make(kind), sealed(named + b"\1" * 8 + bytes([characters, 0, 0, 0]) + payload))


@pytest.mark.parametrize("by", [1e-5, 1e-3, 1.0])
def test_other_arithmetic_restores_no_other_text(by: float, monkeypatch: pytest.MonkeyPatch) -> None:
    model = make("gru")
    data, exact = compress(model, TEXT), compression._log_probs
    tilt = by * np.linspace(0, 1, model.vocabulary.size)
    monkeypatch.setattr(compression, "_log_probs", lambda *arguments: exact(*arguments) - tilt)
    with pytest.raises(DecodingError, match="can't be restored here"):
        decompress(model, data)


def claiming(characters: int, payload: bytes) -> bytes:
    """A whole file of the 3-gram that says how long its text is."""
    return sealed(compress(make("3-gram"), "")[8:24] + characters.to_bytes(4, "little") + payload)


def test_claimed_length_is_bounded_by_file_size() -> None:
    """A character takes 2^-14 bits at least, and 4 bytes of zeros at the end may have been left out."""
    for characters, payload in ((2 * 10**9, b"\1"), (32 * 2**14 + 1, b"")):
        with pytest.raises(DecodingError, match="cut off or damaged"):
            read_header(claiming(characters, payload))
    assert read_header(claiming(32 * 2**14, b"")).characters == 32 * 2**14
    assert read_header(claiming(40 * 2**14, b"\1")).characters == 40 * 2**14


def test_payload_is_padded_to_its_least_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a character took 16 bits at least, more than it does."""
    monkeypatch.setattr(compression, "MIN_CHARACTER_BITS", 16.0)
    data = compress(make("3-gram"), TEXT)
    assert len(read_header(data).payload) == 2 * len(TEXT) - 4
    assert decompress(make("3-gram"), data) == TEXT


def test_renamed_model_decompresses() -> None:
    assert decompress(tiny("gru", name="another name"), compress(make("gru"), TEXT)) == TEXT


def test_missing_coder_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "constriction", None)
    with pytest.raises(ConfigError, match=r'pip install ".*\[compress\]"'):
        compress(make("gru"), "x")


# What stands below: symbols under any probabilities


SHAPES = [  # 60,000 are more symbols than 2^-14 goes into one; many of many sharp ones are passed over singly
    (size, sharpness)
    for size in (2, 3, 50, 4000, 60_000)
    for sharpness in (0.0, 1.0, 10.0, 100.0, 2000.0)
    if size * sharpness < 1e6
]


@given(shape=st.sampled_from(SHAPES), seed=st.integers(0, 2**32))
def test_coder_restores_symbols_of_any_distribution(shape: tuple[int, float], seed: int) -> None:
    """The symbols are drawn alike, whatever their probability, so that the improbable ones come too."""
    size, sharpness = shape
    random = np.random.default_rng(seed)
    distributions, symbols, bits = [], [], 0.0
    encoder = Encoder()
    symbol_code = SymbolCode(encoder)
    for _ in range(30):
        logits = random.normal(size=size) * sharpness
        logits -= logits.max()
        log_p = logits - math.log(np.exp(logits).sum())
        symbol = int(random.integers(size))
        assert symbol_code.symbol(log_p, symbol) == symbol
        distributions.append(log_p)
        symbols.append(symbol)
        bits -= log_p[symbol] / math.log(2)
    payload = encoder.finish()
    symbol_code = SymbolCode(Decoder(payload))
    assert [symbol_code.symbol(log_p) for log_p in distributions] == symbols
    assert abs(len(payload) - bits / 8) <= 0.001 * bits / 8 + 11


@given(
    alphabet=st.sets(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30),
    points=st.lists(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30),
)
def test_unknown_characters_are_numbered_without_gaps(alphabet: set[str], points: list[str]) -> None:
    vocabulary = Vocabulary(tuple(sorted(alphabet)))
    unknown = [ord(c) for c in points if c not in vocabulary]
    code = UnknownCode(vocabulary).code
    encoder = Encoder()
    for point in unknown:
        assert code(encoder, point) == point
    payload = encoder.finish()
    decoder = Decoder(payload)
    assert [code(decoder) for _ in unknown] == unknown
    bits = len(unknown) * math.log2(UNICODE_SCALAR_VALUES - len(alphabet))
    assert abs(len(payload) - bits / 8) <= 0.001 * bits / 8 + 9
