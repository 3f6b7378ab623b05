"""Perplexity: the one place that defines it.

    perplexity = exp( -(1/n) Σ_{t=1..n} log P(x_t | x_{t-1}, …, x_1) )

n is the number of characters after normalising; the first is predicted from the start symbol. A character
outside the vocabulary is read as `<unk>` and costs

    -log P(<unk>) + log(number of Unicode scalar values outside the vocabulary)

so the probabilities of all strings as read sum to one, no text has an infinite perplexity, and models with
different vocabularies compare in bits per character. A model whose normaliser replaces characters reads
several strings as one, and needn't tell them apart. Memory does not grow with the text.

Of a model that knows where texts end, an end counts as one of the n: it has a probability, so those of all
texts with their ends sum to one. A text that isn't said to have ended has none.

The cut of a text and the machine move no figure by more than 1e-4 of itself, except on texts that make a
network magnify rounding with every step: one letter repeated for ever, say, or a language it never read.
`Score.unsettled` counts the characters where that was noticed; `precise=True` computes in float64.
"""

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles, Floats, Ids, Mask
from rnnviz.checks import F, checked, renamed, text_or_file
from rnnviz.errors import CheckpointError, ConfigError, EmptyTextError
from rnnviz.networks.batched_scoring import CharScorer, NumpyEngine
from rnnviz.networks.numpy_engine import StateChange, combined
from rnnviz.networks.numpy_model import weights_of
from rnnviz.networks.prediction import Scorer, Stepwise
from rnnviz.networks.progress import Progress, Reporter
from rnnviz.scoring.language_model import PIECE_CHARS, advance_in_pieces, scorer_of
from rnnviz.scoring.language_model import LanguageModel as LanguageModel
from rnnviz.scoring.language_model import UniformModel as UniformModel
from rnnviz.scoring.rows import RowScore, perplexity_of_rows
from rnnviz.scoring.score import Score
from rnnviz.scoring.totals import Rewriting, Totals, character_costs
from rnnviz.text.characters import normalise
from rnnviz.text.decoding import Source, SourceText, warn_of_guess
from rnnviz.text.row_files import is_packed_rows
from rnnviz.text.vocabulary import UNKNOWN_ID, Vocabulary


@dataclass(frozen=True)
class Piece:
    """A stretch of a scored text, n characters.

    nll       (n,) nats, -log P, the unknown characters' whole cost included
    is_known  (n,) whether each character is in the vocabulary
    rank      (n,) one plus the number of more probable symbols; None unless asked for
    entropy   (n,) nats, of the prediction before the character came; None unless asked for
    """

    text: str
    nll: Doubles
    is_known: Mask
    bytes_read: int
    rank: npt.NDArray[np.int32] | None = None
    entropy: Floats | None = None


def running_perplexity(nll: npt.ArrayLike) -> Doubles:
    """The perplexity of each prefix, (T,), of costs in nats (T,)."""
    nll = np.asarray(nll, np.float64)
    with np.errstate(over="ignore"):  # beyond float64 a perplexity is infinite, as in a score
        return np.asarray(np.exp(np.cumsum(nll) / np.arange(1, len(nll) + 1)))


def _accept_rows(function: F) -> F:
    """`perplexity` as of 2.0.0, which read files of rows, too: it hands them to `perplexity_of_rows` and says
    so. To be removed after one version, with the errors for arguments that don't go together.
    """

    @wraps(function)
    def call(
        model: LanguageModel,
        text: Any = None,
        *,
        path: Any = None,
        column: str | None = None,
        each: Callable[[RowScore], None] | None = None,
        **named: Any,
    ) -> Score:
        text, path = text_or_file(text, path)
        if path is None and column is not None:
            raise ConfigError("column=… names a column of a file of rows; received a text")
        if path is not None and (column is not None or is_packed_rows(path, named.get("name"))):
            if named.pop("costs", None) is not None:
                raise ConfigError("costs= goes with one text, whose characters have an order; rows have none")
            if named.pop("change", None) is not None:
                raise ConfigError("change= goes with one text; rows are read without it")
            warnings.warn(
                "perplexity reads one text now: for a file of rows write "
                "perplexity_of_rows(model, file, column=…, on_row=…)",
                DeprecationWarning,
                stacklevel=3,  # past `renamed`, to the caller's line
            )
            context = named.pop("context", None) or None
            return perplexity_of_rows(
                model, path, column=column or None, context=context, on_row=each, **named
            )
        if each is not None:
            raise ConfigError("each=… is called with rows, and goes with column=…; received a text")
        result: Score = function(model, text, path=path, **named)
        return result

    return call  # type: ignore[return-value]


@renamed(given="context")
@_accept_rows
@checked
def perplexity(
    model: LanguageModel,
    text: str | os.PathLike[str] | BinaryIO | None = None,
    *,
    path: Source | None = None,
    encoding: str | None = None,
    progress: Progress | None = None,
    name: str | None = None,
    precise: bool = False,
    costs: Callable[[Doubles], None] | None = None,
    context: str = "",
    change: StateChange | Sequence[StateChange] | None = None,
    ended: bool = False,
) -> Score:
    """The perplexity of a text or a file under `model`, as a Score. Rows have `perplexity_of_rows`.

    text      a str is the text itself; a `pathlib.Path` or a seekable binary file is a file
    path      a file in place of `text`; here a str is a path, too
    encoding  the file's encoding; None: found from the file, with a UserWarning where it is a guess, in which
              the model's characters are likelier
    progress  called about ten times a second, and at the end: with `characters`, `perplexity`, `fraction`
    name      the text's name in the score
    precise   read in sequence, in float64 throughout, with the weights as they are stored: many times slower
    costs     called with the nats of the characters, (k,) at a time, in order
    context   read first and not counted: the score is of log P(text | context)
    change    changes a network's states as it reads: `rnnviz.units.Clamp(17, 1.0)`, say, or a list of changes
    ended     the text ends here, and its end counts too, once: of a model that knows where texts end

    Raises TextError for a file that can't be read; DecodingError for a file that is no text; EmptyTextError
    for no characters; ConfigError for a text and a file, and with `precise` for a model of your own without a
    `precise_scorer`.

    >>> import rnnviz
    >>> model = rnnviz.load("timemachine-gru")
    >>> score = rnnviz.perplexity(model, "The Time Traveller smiled.")
    >>> score.characters, score.unknown, round(score.perplexity, 1)
    (26, 0, 2.3)
    >>> traveller = rnnviz.perplexity(model, "Traveller", context="The Time ")
    >>> traveller.given_characters, round(traveller.perplexity, 2)
    (9, 1.09)
    """
    text, path = text_or_file(text, path)
    result = score(
        model,
        path,
        text=text,
        encoding=encoding,
        name=name,
        precise=precise,
        on_costs=costs,
        context=context,
        change=change,
        ended=ended,
        progress=progress,
    )
    warn_of_guess(result.file, result.encoding, result.certainty)
    return result


def score(
    model: LanguageModel,
    path: Source | None = None,
    *,
    text: str | None = None,
    encoding: str | None = None,
    name: str | None = None,
    piece_chars: int | None = None,
    on_piece: Callable[[Piece], None] | None = None,
    precise: bool = False,
    on_costs: Callable[[Doubles], None] | None = None,
    context: str = "",
    change: StateChange | Sequence[StateChange] | None = None,
    ended: bool = False,
    max_characters: int | None = None,
    must_stop: Callable[[], bool] = lambda: False,
    progress: Progress | None = None,
) -> Score:
    """`perplexity` with more to follow it by.

    piece_chars     characters handed to the model at a time; affects the pace alone
    on_piece        called with every Piece, with ranks and entropies
    on_costs        called with the nats of a piece's characters
    max_characters  the text ends after so many, whatever the length of a piece
    must_stop       asked before each further piece, so only if there is one; true: the text ends there
    """
    if piece_chars is not None and piece_chars < 1:
        raise ConfigError("a piece is at least 1 character; received {piece}", piece=piece_chars)
    if change is None:
        scorer = scorer_of(model, details=on_piece is not None, precise=precise)
    else:
        scorer = _changed_scorer(model, change, precise)
    alphabet = model.vocabulary.characters
    source = SourceText(path, text, encoding, name, model.normaliser, alphabet, context)
    totals, rewritings, report = Totals(source), Rewriting(model.vocabulary), Reporter(progress)
    totals.context_characters = _read_context(model, scorer, context)
    length: int = getattr(scorer, "piece", PIECE_CHARS) if piece_chars is None else piece_chars
    texts = source.pieces(length, max_characters, must_stop)
    if ended:
        model.vocabulary.ended("")  # refuses a model without ends before anything is read
        texts = _with_end(model.vocabulary, texts)
    for piece in _pieces(model, scorer, source, totals, texts, report, details=on_piece is not None):
        if on_piece is not None:
            on_piece(piece)
        if on_costs is not None:
            on_costs(piece.nll)
        totals.add(piece.text, piece.nll, piece.is_known)
        rewritings.add(piece.text)
        # The source reads ahead of the model: what a report calls read is what was scored.
        totals.read_to = piece.bytes_read
        totals.report_to(report)
    totals.bytes = source.bytes
    # The text "\n" after the context "one\r": the line end was read with the context.
    if totals.bytes and not totals.characters:
        raise EmptyTextError(
            "{name} is the second half of its context's last line end, so it has no character and no "
            "perplexity; choose another text",
            name=source.name,
        )
    if not totals.characters:
        raise EmptyTextError(
            "{name} has no characters, so it has no perplexity; choose another text", name=source.name
        )
    report.end(totals.characters, totals.perplexity)
    return Score(
        file=source.name,
        model=model.name,
        encoding=source.encoding,
        certainty=source.certainty,
        normalised=source.normaliser.line_ends + source.normaliser.replaced,
        precise=precise,
        # Only networks that read stretches side by side notice such characters.
        unsettled=getattr(scorer, "unsettled", 0),
        normaliser=model.normaliser,
        replaced=source.normaliser.replaced,
        rewritings=rewritings.spared,
        **totals.figures(model.vocabulary),
    )


def _with_end(vocabulary: Vocabulary, pieces: Iterator[str]) -> Iterator[str]:
    """A text's pieces, then its end."""
    piece = ""
    for piece in pieces:
        yield piece
    if piece and (end := vocabulary.ended(piece)[len(piece) :]):
        yield end


def _changed_scorer(
    model: LanguageModel, change: StateChange | Sequence[StateChange], precise: bool
) -> CharScorer:
    """A reader of one text, in sequence, under a change."""
    if precise:
        raise ConfigError("change= reads in float32; leave precise out")
    weights = weights_of(model)  # type: ignore[arg-type]  # refuses a model without states
    engine = NumpyEngine(weights, changes=combined(weights, change))
    return CharScorer(engine, model.vocabulary.start, wide=False)


def _read_context(model: LanguageModel, scorer: Scorer, context: str) -> int:
    """Let the scorer read a context first; returns its length, normalised."""
    ids = model.vocabulary.encode(normalise(context, model.normaliser))
    advance_in_pieces(scorer, ids)
    return len(ids)


def _pieces(
    model: LanguageModel,
    scorer: Scorer,
    source: SourceText,
    totals: Totals,
    texts: Iterator[str],
    report: Reporter,
    *,
    details: bool,
) -> Iterator[Piece]:
    piece_start = 0
    for text in texts:
        ids = model.vocabulary.encode(text)
        unknown_cost = int((ids == UNKNOWN_ID).sum()) * model.vocabulary.unknown_cost
        report_piece = partial(totals.report_to, report)
        log_p, rank, entropy = _scores(scorer, ids, details, report_piece, unknown_cost)
        nll = character_costs(log_p, ids, model.vocabulary)
        # A model of somebody else's may return anything.
        if nll.shape != ids.shape or not np.isfinite(nll).all():
            raise CheckpointError(
                "the model {name!r} gave no probability for a character between {first:,} and "
                "{last:,}: its weights are damaged, or its training diverged; use another model",
                name=model.name,
                first=piece_start + 1,
                last=piece_start + len(text),
            )
        ends = nll[ids == model.vocabulary.end]
        totals.add_ends(len(ends), float(ends.sum()))
        yield Piece(text, nll, ids != UNKNOWN_ID, source.bytes_read, rank, entropy)
        piece_start += len(text)


def _scores(
    scorer: Scorer, ids: Ids, details: bool, report_piece: Callable[[int, float, float], None], cost: float
) -> tuple[Doubles, npt.NDArray[np.int32] | None, Floats | None]:
    """The scores of a piece: log P, and with `details` rank and entropy. `cost` is that of being unknown, of
    all the piece's characters, in nats.
    """
    read, nats = 0, 0.0

    def on_read(characters: int, more_nats: float) -> None:
        nonlocal read, nats
        read, nats = read + characters, nats + more_nats
        report_piece(read, nats + cost * read / len(ids), read / len(ids))

    # A network's piece is long, so it reports on the way; the cost of unknown characters is taken to be
    # spread evenly over the piece.
    if isinstance(scorer, Stepwise):
        scores = scorer.scores(ids, details=details, on_read=on_read)
    elif details:
        scores = scorer.advance_details(ids)
    else:
        return scorer.advance(ids), None, None
    return scores if details else (scores[0], None, None)
