"""What cannot be read, scored, sampled or kept is refused in a sentence."""

import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rnnviz
from rnnviz.errors import CheckpointError, ConfigError, DecodingError, EmptyTextError, ExportError, TextError
from rnnviz.networks.ngram import NgramModel
from rnnviz.scoring.compression import compress, decompress
from rnnviz.scoring.perplexity import UniformModel, perplexity, score
from rnnviz.scoring.sampling import resume, sample, stream
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import Tracer, trace
from rnnviz.text.vocabulary import Vocabulary
from tests.support import needs
from tests.support.models import TEXT, tiny, with_tensors
from tests.support.paper import AB, ConstantModel
from tests.support.refused import assert_refused
from tests.support.rows import row_file, score_file_rows
from tests.support.traces import spread_network

GRU, LSTM, PAIRS = tiny("gru", name="gru"), tiny("lstm"), NgramModel.fit(TEXT, order=2, name="pairs")
THREES = NgramModel.fit(TEXT, order=3)
UNIFORM = UniformModel(Vocabulary(("a",)))
OLD_PERPLEXITY: Any = perplexity  # with the arguments of 2.0.0, for rows
READ = trace(spread_network(), "abc")
SAMPLING_REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"length": -1}, r"^length counts characters and is at least 0; received -1$"),
    ({"temperature": -0.1}, r"^temperature is a number from 0 on; received -0\.1$"),
    ({"temperature": math.nan}, r"temperature is a number from 0 on; received nan"),
    ({"temperature": math.inf}, r"temperature is a number from 0 on; received inf"),
    ({"top_k": 0}, r"^top_k is at least 1, or None for all characters; received 0$"),
    ({"top_p": 0}, r"^top_p is above 0 and at most 1, or None for all characters; received 0$"),
    ({"top_p": 1.5}, r"top_p is above 0 and at most 1, or None for all characters; received 1\.5"),
    ({"top_p": math.nan}, r"top_p is above 0 and at most 1.*received nan"),
    ({"seed": -1}, r"^seed is a whole number from 0 or None; received -1$"),
]
TRACE_REFUSALS: list[tuple[Callable[[Trace], Any], str]] = [
    (lambda t: t.log_probs_at(0, 5), r"rows 0 to 5 were asked for; this trace has 4 predictions"),
    (lambda t: t.gates_at(-1, 2), r"rows -1 to 2 were asked for; this trace has 3 characters"),
    (lambda t: t.top(4, 1), r"rows 4 to 5 were asked for; this trace has 4 predictions"),
    (lambda t: t.top(0, 0), r"^top needs k >= 1 symbols; received 0"),
    (lambda t: t.state_after(-1), r"^rows -1 to 0 were asked for; this trace has 4 states, from 0 on$"),
    (lambda t: t.state_after(4), r"^rows 4 to 5 were asked for; this trace has 4 states, from 0 on$"),
    (lambda t: resume(t, -1, 5), r"^rows -1 to 0 were asked for; this trace has 4 states"),
    (lambda t: resume(t, 4, 5), r"^rows 4 to 5 were asked for; this trace has 4 states"),
    (lambda t: resume(t, 1, 5, temperature=-1), "temperature is a number"),
    (lambda t: t[::2], r"^a part of a trace is trace\[start:stop\], without a step; received slice"),
    (lambda t: t[3], r"trace\[start:stop\].*received 3"),  # type: ignore[index]
    (
        lambda t: t.values("charm"),
        r"^a network of gru cells has hidden, reset, update, candidate; received 'charm'$",
    ),
    (lambda t: t.frame(k=-1), "received -1"),
    (lambda t: t.states_frame(layer=2), "this trace has 2 layers, 0 to 1; received 2"),
    (lambda t: t.states_frame(units=[0, -1]), "this trace has 10 units, 0 to 9; received -1"),
    (lambda t: t.states_frame(units=[1.5]), "received 1.5"),  # type: ignore[list-item]
    (lambda t: t.states_frame(units=[True]), "received True"),
    (lambda t: t.states_frame(layer=False), "received False"),
    (lambda t: t.states_frame("cell"), "has hidden, reset, update, candidate; received 'cell'"),
]


def biased(name: str, by: float) -> Any:
    """The network with one of its logits raised."""
    bias = tiny("gru").tensors["readout.bias"].copy()
    bias[2] += by
    return with_tensors(tiny("gru", name=name), readout_bias=bias)


MODEL_PAIRS: list[tuple[Any, Any]] = [
    (LSTM, GRU),
    (biased("nudged", 1e-6), GRU),
    (THREES, GRU),
    (tiny("gru", embedding_size=7), GRU),
    (PAIRS, THREES),
]

REFUSED: dict[str, tuple[Callable[[Path], Any], type[Exception], str]] = {
    # scored
    **{
        f"an empty file {data!r}": (
            lambda _, data=data: perplexity(AB, io.BytesIO(data), name="empty.txt"),
            EmptyTextError,
            r"empty\.txt has no characters, so it has no perplexity",
        )
        for data in (b"", b"\xef\xbb\xbf", b"\xff\xfe")
    },
    "no text": (lambda _: perplexity(AB, text=""), EmptyTextError, "this text has no characters"),
    "a context alone": (lambda _: perplexity(GRU, text="", context="con"), EmptyTextError, "no characters"),
    "half a context": (
        lambda _: perplexity(GRU, text="a", context="\ud800"),
        TextError,
        "half of a surrogate",
    ),
    "no such file": (lambda tmp: perplexity(AB, tmp / "absent.txt"), TextError, "there is no file"),
    "a folder": (lambda tmp: perplexity(AB, tmp), TextError, "is a folder"),
    "no ASCII": (
        lambda _: perplexity(AB, io.BytesIO("né".encode()), encoding="ascii"),
        DecodingError,
        r"is not ascii: byte 1 ",
    ),
    "half a character": (
        lambda _: perplexity(AB, text="a" * 70_000 + "\ud83c"),
        TextError,
        r"character 70,001 is U\+D83C",
    ),
    "nothing": (lambda _: perplexity(AB), ConfigError, "received neither"),
    "a file and a text": (lambda _: perplexity(AB, path="a.txt", text=""), ConfigError, "received both"),
    "a text's encoding": (
        lambda _: perplexity(AB, text="a", encoding="utf-8"),
        ConfigError,
        "no encoding",
    ),
    "pieces of 0": (
        lambda _: score(AB, text="a", piece_chars=0),
        ConfigError,
        "^a piece is at least 1 character; received 0$",
    ),
    "a text's column": (
        lambda _: OLD_PERPLEXITY(UNIFORM, text="a", column="b"),
        ConfigError,
        "^column=… names a column of a file of rows; received a text$",
    ),
    "a text's rows": (
        lambda _: OLD_PERPLEXITY(UNIFORM, "ab", each=print),
        ConfigError,
        "each=… is called with rows, and goes with column=…; received a text",
    ),
    "costs of rows": (
        lambda _: OLD_PERPLEXITY(UNIFORM, io.BytesIO(b"a\nb\n"), name="a.csv", column="a", costs=print),
        ConfigError,
        "^costs= goes with one text, whose characters have an order; rows have none$",
    ),
    "rows under a change": (
        lambda _: OLD_PERPLEXITY(GRU, io.BytesIO(b"a\nb\n"), name="a.csv", column="a", change=[]),
        ConfigError,
        "^change= goes with one text; rows are read without it$",
    ),
    "no number": (
        lambda _: perplexity(ConstantModel(math.nan), text="aab"),
        CheckpointError,
        r"'own' gave no probability .* between 1 and 3: its weights",
    ),
    "no number in rows": (
        lambda _: score_file_rows(ConstantModel(math.nan), row_file([{"text": None}, {"text": "a"}])),
        CheckpointError,
        "'own' gave no probability for a character in row 1 of rows.jsonl: its weights",
    ),
    "no normaliser": (
        lambda _: perplexity(UniformModel(UNIFORM.vocabulary, normaliser="shouting"), text="a"),
        ConfigError,
        "no normaliser is called 'shouting'",
    ),
    "not precise": (
        lambda _: perplexity(ConstantModel(-1.0), text="ab", precise=True),
        ConfigError,
        "'own' has no method precise_scorer",
    ),
    "no rows": (lambda _: score_file_rows(UNIFORM, row_file([])), EmptyTextError, r"rows\.jsonl has no rows"),
    "bad rows": (
        lambda _: score_file_rows(UNIFORM, row_file(["{", "["])),
        EmptyTextError,
        r"no row that can be scored; in the first of 2, row 0: line 1 is not JSON",
    ),
    # traced
    **{
        f"a trace, asked {n}: {words}": (lambda _, read=read: read(READ), ConfigError, words)
        for n, (read, words) in enumerate(TRACE_REFUSALS)
    },
    "half a character typed": (
        lambda _: Tracer(spread_network()).extend("ab\ud83d"),
        TextError,
        "half of a surrogate",
    ),
    "half of many": (lambda _: rnnviz.trace(spread_network(), ["fine", "\ud800"]), TextError, "surrogate"),
    "no file of a trace": (
        lambda tmp: Trace.load(tmp / "a.npz"),
        CheckpointError,
        r"a\.npz is not a trace",
    ),
    "no folder for a trace": (
        lambda tmp: READ.save(tmp / "no" / "folder.npz"),
        ExportError,
        "there is no folder for it",
    ),
    # sampled
    **{
        f"a sample of {settings}": (
            lambda _, settings=settings: stream(spread_network(), "a", **{"length": 3, **settings}),
            ConfigError,
            words,
        )
        for settings, words in SAMPLING_REFUSALS
    },
    "half a prompt": (
        lambda _: stream(spread_network(), "a\ud83d", 3),
        TextError,
        "half of a surrogate pair",
    ),
    "a diverged model": (
        lambda _: sample(biased("broken", math.nan), "a", 3),
        CheckpointError,
        (
            "^the model 'broken' gave no probabilities: its weights are damaged, "
            "or its training diverged; use another model$"
        ),
    ),
    # compressed
    **{
        f"compressed with another model: {n}": (
            lambda _, other=other, model=model: decompress(other, compress(model, TEXT[:50])),
            ConfigError,
            "compressed with another model than",
        )
        for n, (other, model) in enumerate(MODEL_PAIRS)
    },
    "half a character compressed": (
        lambda _: compress(GRU, "ab\ud800c"),
        TextError,
        "half of a surrogate pair",
    ),
    "a broken model's text": (
        lambda _: compress(biased("broken", math.nan), TEXT),
        CheckpointError,
        "'broken' gives no probability",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_value_is_refused_in_a_sentence(case: str, tmp_path: Path) -> None:
    if "compressed" in case or case.startswith("a broken m"):
        needs.coder()
    assert_refused(*REFUSED[case], tmp_path)
