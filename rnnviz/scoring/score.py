"""Score: the figures of a scored text, or of a file of rows, and what may be said of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace

from rnnviz.errors import ConfigError, RnnvizError, TextError
from rnnviz.findings import Bars, Finding, Json, Number, Panel, Sentence, Table, count, make_sentences, words
from rnnviz.networks.contamination import Contamination
from rnnviz.reprs import Pictured
from rnnviz.scoring.interval import METHOD, MIN_INTERVAL_CHARS, PerplexityInterval
from rnnviz.scoring.totals import Sum, perplexity_from_sum
from rnnviz.sentences import NO_DIGITS_PERPLEXITY

SHORT_TEXT_CHARS = 200
"""Characters of a text below which one word matters."""

UNKNOWN_MATTERS_RATIO = 1.01
"""Unknown characters are mentioned from this multiple of the known ones' perplexity on."""

MIN_SPARED_SHARE = 0.1
"""The share of the unknown characters that a rewriting spares a text, if it is mentioned."""

MIN_OVERLAP_SHARE = 0.02
"""The share of a text that a model may have met before by chance: idioms, licences."""


@dataclass(frozen=True)
class CostRow:
    """A file's cost under one model or baseline.

    kind     model, n-gram, uniform, unigram or compressor
    about    describes the model or baseline
    best     whether this row has the fewest bits; never the unigram, which is no code
    reading  the normaliser that replaced characters of the text; "" where none was replaced

    Costs are the whole text's, unknown characters' included.
    """

    name: str
    kind: str
    about: str
    perplexity: float
    bits_per_character: float
    best: bool = False
    reading: str = ""


def mark_best(rows: Sequence[CostRow]) -> list[CostRow]:
    """The rows with the best one marked: never the unigram, which was told the file's own frequencies."""
    # Frequencies that are known before the text begins would have to be sent along.
    codes = [n for n, row in enumerate(rows) if row.kind != "unigram"]
    fewest = min(codes, key=lambda n: rows[n].bits_per_character, default=None)
    return [replace(row, best=n == fewest) for n, row in enumerate(rows)]


def describe_readings(readings: Sequence[tuple[str, str]]) -> list[Sentence]:
    """A sentence for models that didn't read a text alike, none if they did; from their names and their
    `reading`.
    """
    replacing = [name for name, reading in readings if reading]
    return (
        make_sentences(["score.read-apart"], names=replacing)
        if len({reading for _, reading in readings}) > 1
        else []
    )


@dataclass(frozen=True)
class Score(Pictured, Finding):
    """The figures of a text as a model read it, and what is known of them besides.

    perplexity_known      the perplexity without the `unknown` characters; None if there are no others
    bytes                 UTF-8 bytes of the text's own characters, the same under every model
    bits_per_byte         bits per byte of these
    encoding, certainty   None for a text that was not a file
    normalised            the number of characters that normalising changed or removed: line ends converted,
                          and characters `replaced` by others
    precise               whether all was computed in float64, in sequence
    words                 runs of characters between white space; None in languages that don't part words so
    word_perplexity       exp(total cost in nats / words): the cost of all characters, white space too, shared
                          out among the words
    given_characters      characters of the context, which was read before and is not counted
    ends                  ends of texts among the `characters`, which a model that knows them predicts too;
                          in JSON only where there are any
    bits_per_character_without_ends  the bits of the other characters, for a comparison with a model that
                          doesn't know where a text ends; None without ends
    unsettled             characters in stretches of 2,048 and more where the network magnified rounding from
                          one end to the other: another machine gives other costs there. 0 for texts below
                          16,384 characters and precise readings, which are not examined

    interval    the interval of as many characters again; None from `rnnviz.perplexity`: the command and the
                page compute it
    guess       the perplexity of a uniform guess, which pays for unknown characters too
    compared    the text's cost under the model, then under other models and baselines
    overlap     the share of the text that the model was trained on, where known
    normaliser  the text's normalisation before it was read, of rnnviz.text.characters.NORMALISERS
    replaced    the number of characters that it replaced, apart from line ends
    rewritings  the number of unknown characters that the text would be spared if it were rewritten, by the
                names of rnnviz.text.characters.REWRITINGS

    >>> import rnnviz
    >>> score = rnnviz.perplexity(rnnviz.load("timemachine-gru"), "The Time Traveller smiled.")
    >>> print(f"{score.perplexity:.1f} in {score.characters} characters: {score.nll:.1f} nats")
    2.3 in 26 characters: 21.6 nats
    >>> [sentence.code for sentence in score.sentences()][:2]
    ['score.hesitated', 'score.words']
    """

    file: str
    model: str
    characters: int
    unknown: int
    perplexity: float
    perplexity_known: float | None
    bits_per_character: float
    bits_per_byte: float
    encoding: str | None
    seconds: float
    certainty: str | None
    normalised: int
    bytes: int
    precise: bool = False
    unsettled: int = 0
    words: int | None = None
    word_perplexity: float | None = None
    given_characters: int = 0
    # The figures end here: `to_json` and the repr have no field with repr=False.
    ends: int = field(default=0, repr=False)
    bits_per_character_without_ends: float | None = field(default=None, repr=False)
    interval: PerplexityInterval | None = field(default=None, repr=False)
    guess: float = field(default=math.inf, repr=False)
    compared: Sequence[CostRow] = field(default=(), repr=False)
    overlap: Contamination | None = field(default=None, repr=False)
    normaliser: str = field(default="newlines", repr=False)
    replaced: int = field(default=0, repr=False)
    rewritings: Mapping[str, int] = field(default_factory=dict, repr=False)

    @property
    def line_ends(self) -> int:
        """The number of line ends converted."""
        return self.normalised - self.replaced

    @property
    def reading(self) -> str:
        """The normaliser that replaced characters of the text; "" where none was replaced."""
        return self.normaliser if self.replaced else ""

    def row(self, kind: str, about: str, name: str | None = None) -> CostRow:
        """The text's cost as a row of a comparison."""
        figures = self.perplexity, self.bits_per_character
        return CostRow(name or self.model, kind, about, *figures, reading=self.reading)

    @property
    def nll(self) -> float:
        """-log P of the whole text, in nats: of two texts the difference says which is more probable."""
        # From the bits: where the perplexity is infinite its logarithm would be, too.
        return self.bits_per_character * self.characters * math.log(2)

    def to_json(self) -> Json:
        """The figures in their order, as plain values."""
        figures = {field_.name: getattr(self, field_.name) for field_ in fields(self) if field_.repr}
        ends = {name: getattr(self, name) for name in ("ends", "bits_per_character_without_ends")}
        return {**figures, **ends} if self.ends else figures

    def facts(self) -> Json:
        """The figures with their interval, the share known from training, and those compared with."""
        facts = self.to_json()
        if (interval := self.interval) is not None:
            facts["interval"] = None if interval.low is None else [interval.low, interval.high]
            facts["interval_method"] = METHOD
            facts["interval_why_not"] = interval.reason or None
        if self.overlap is not None:
            facts["overlap"] = self.overlap.share
        return {**facts, "compared": [asdict(row) for row in self.compared]} if self.compared else facts

    def heading(self) -> Sentence:
        """The text's name with its figures."""
        return words(
            "score.text",
            file=self.file,
            perplexity=_perplexity(self.perplexity),
            characters=count(self.characters),
            unknown=count(self.unknown),
            bits=Number(self.bits_per_character),
            bits_a_byte=Number(self.bits_per_byte),
        )

    def table(self) -> Table:
        """The text's cost under the model, and under the models and baselines compared."""
        columns = [words(f"score.{head}") for head in ("file", "best", "under", "kind", "perplexity", "bits")]
        return Table(
            columns,
            [
                [
                    self.file,
                    "*" if row.best else "",
                    row.name,
                    words(f"score.kind.{row.kind}" if n or row.kind != "model" else "score.kind.own"),
                    _perplexity(row.perplexity),
                    Number(row.bits_per_character),
                ]
                for n, row in enumerate(self.compared or [self.row("model", "")])
            ],
        )

    def sentences(self) -> list[Sentence]:
        """The number of characters that the model hesitated between, its interval, and its reasons."""
        interval = self.interval
        low, high = (None, None) if interval is None else (interval.low, interval.high)
        first, second = (interval and interval.halves) or (None, None)
        sentences = make_sentences(
            self._codes(),
            # A tenth of a character matters among 2.3, not among 24.
            choices=_perplexity(self.perplexity, 0 if self.perplexity >= 3 else 1),
            share=Number(self.unknown / self.characters, "percent"),
            known=_perplexity(self.perplexity_known),
            model=self.model,
            characters=count(self.characters),
            shortest=count(MIN_INTERVAL_CHARS),
            about_low=_round_outward(low, math.floor),
            about_high=_round_outward(high, math.ceil),
            low=_perplexity(low),
            high=_perplexity(high),
            first=_perplexity(first),
            second=_perplexity(second),
            overlap=Number(None if self.overlap is None else self.overlap.share, "percent"),
            unsettled=count(self.unsettled),
            word=_perplexity(self.word_perplexity),
            words=count(self.words),
            ends=count(self.ends),
            without=Number(self.bits_per_character_without_ends, digits=3),
            seconds=Number(self.seconds, digits=2),
        )
        return [*sentences, *self._reading_sentences()]

    def _reading_sentences(self) -> Iterator[Sentence]:
        """What the model's normaliser changed, and what else another text would gain."""
        changes = {"score.converted": self.line_ends, f"score.replaced.{self.normaliser}": self.replaced}
        for name, n in self.rewritings.items():
            changes[f"score.rewriting.{name}"] = n if n >= MIN_SPARED_SHARE * self.unknown else 0
        yield from (words(code, n=count(n)) for code, n in changes.items() if n > 0)
        yield from describe_readings([(row.name, row.reading) for row in self.compared])

    def _codes(self) -> Iterator[str]:
        perplexity_known = self.perplexity_known
        if perplexity_known is None:
            yield "score.all-unknown"
        elif self.perplexity > UNKNOWN_MATTERS_RATIO * perplexity_known:
            yield "score.some-unknown"
        # Not beyond the uniform guess: nobody hesitates between more characters than there are.
        elif self.perplexity <= self.guess and self.perplexity < NO_DIGITS_PERPLEXITY:
            yield "score.hesitated"
        if self.perplexity > self.guess:
            yield "score.worse-than-guessing"
        yield from self._interval_codes()
        # Two standard errors below the estimate, so that a small sample accuses no model.
        if self.overlap is not None and self.overlap.share - 2 * self.overlap.error >= MIN_OVERLAP_SHARE:
            yield "score.trained-on"
        if self.unsettled:
            yield from ("score.last-digits", "score.rounding")
        if self.ends:
            yield "score.ends"
        if self.word_perplexity is not None:
            yield "score.words"
        if not self.normalised and self.encoding is not None:
            yield "score.unchanged"
        yield "score.made-precisely" if self.precise else "score.made"

    def _interval_codes(self) -> Iterator[str]:
        if self.interval is None:
            return
        reason = self.interval.reason or "range"
        yield "score.few" if self.interval.characters < SHORT_TEXT_CHARS else f"score.{reason}"
        yield f"score.why.{reason}"

    def panels(self) -> list[Panel]:
        """The bits a character under the model and the others compared; no picture without a comparison."""
        if not self.compared:
            return []
        (chosen,) = [n for n, row in enumerate(self.compared) if row.best]
        picture = Bars(
            [row.name for row in self.compared],
            [row.bits_per_character for row in self.compared],
            x=words("score.bits"),
            chosen=chosen,
        )
        notice = make_sentences(
            ["score.predicts-best"], name=self.compared[chosen].name, bits=Number(picture.values[chosen])
        )
        notice += describe_readings([(row.name, row.reading) for row in self.compared])
        return [Panel("compared", words("score.title"), picture, notice, words("score.limits"))]


@dataclass(frozen=True)
class RowsScore(Score):
    """The figures of all rows of a file together, under a model: each row is a text by itself.

    rows, rows_scored  the number of rows, and of rows scored
    rows_left_out      the numbers of other rows, by the kind of their fault
    column, given      the columns of the texts and of the contexts
    column_found       whether the column was found rather than named
    separator_missing  the separator of regions that no text has, or None
    damage             the error that ended the file early, or None
    examples           the first rows left out: their numbers and errors

    `unsettled` stays 0: rounding in long rows is not examined.
    """

    rows: int = 0
    rows_scored: int = 0
    rows_left_out: dict[str, int] = field(default_factory=dict)
    column: str = ""
    given: str | None = None
    column_found: bool = False
    separator_missing: str | None = None
    damage: RnnvizError | None = None
    examples: tuple[tuple[int, TextError], ...] = field(default=(), repr=False)

    def to_json(self) -> Json:
        """The figures in their order, as plain values."""
        # JSON has no exceptions: the sentence stands for it.
        return {**super().to_json(), "damage": self.damage and str(self.damage)}

    def sentences(self) -> list[Sentence]:
        """The number of rows scored, and the faults of the others."""
        left_out = [words(f"rows.{kind}", number=count(n)) for kind, n in self.rows_left_out.items()]
        sentences = make_sentences(
            self._codes(),
            file=self.file,
            n=count(self.rows_scored),
            rows=count(self.rows),
            left=count(self.rows - self.rows_scored),
            kinds=left_out,
            characters=count(self.characters),
            unknown=count(self.unknown),
            column=self.column,
            given=self.given,
            separator=self.separator_missing,
            context=count(self.given_characters),
            word=_perplexity(self.word_perplexity),
            words=count(self.words),
            ends=count(self.ends),
            without=Number(self.bits_per_character_without_ends, digits=3),
            model=self.model,
            seconds=Number(self.seconds, digits=2),
        )
        return [*sentences, *self._reading_sentences()]

    def _codes(self) -> Iterator[str]:
        yield "rows.scored"
        if self.given is not None:
            yield "rows.after-context"
        if self.rows_left_out:
            yield "rows.left-out"
        if self.ends:
            yield "score.ends"
        if self.word_perplexity is not None:
            yield "score.words"
        yield "rows.column-found" if self.column_found else "rows.column"
        if self.separator_missing is not None:
            yield "rows.separator-missing"
        yield "score.made-precisely" if self.precise else "score.made"


@dataclass(frozen=True)
class Averages:
    """Two averages of the perplexity of `texts` texts with `characters` characters in all.

    micro  every character counts the same: all texts as one, exp(Σ nats / Σ characters)
    macro  every text counts the same, however long: exp of the mean of the nats per character, which is the
           geometric mean of the perplexities. One hopeless text would decide their arithmetic mean
    """

    micro: float
    macro: float
    texts: int
    characters: int


def averages(scores: Sequence[Score]) -> Averages:
    """The averages of scored texts, unknown characters included. Raises ConfigError for none.

    >>> import rnnviz
    >>> model = rnnviz.load("timemachine-6gram")
    >>> texts = ["The Time Traveller smiled.", "time"]
    >>> both = averages([rnnviz.perplexity(model, text=text) for text in texts])
    >>> f"{both.micro:.2f} {both.macro:.2f}", both.texts, both.characters
    ('2.16 4.66', 2, 30)
    """
    if not scores:
        raise ConfigError("an average needs at least one text; received none")
    characters, nats, means = 0, Sum(), Sum()
    for score in scores:
        mean = score.bits_per_character * math.log(2)
        characters += score.characters
        nats.add(mean * score.characters)
        means.add(mean)
    return Averages(
        perplexity_from_sum(nats.value, characters),
        perplexity_from_sum(means.value, len(scores)),
        len(scores),
        characters,
    )


def describe_averages(averages: Averages) -> Sentence:
    """Both averages of several texts, in a sentence."""
    micro, macro = _perplexity(averages.micro), _perplexity(averages.macro)
    return words("score.averages", texts=count(averages.texts), micro=micro, macro=macro)


def _perplexity(value: float | None, digits: int = 2) -> Number:
    return Number(value, "perplexity", digits)


def _round_outward(value: float | None, rounding: Callable[[float], int]) -> Number:
    """A perplexity with its first two digits: a range that is rounded outward still holds."""
    if value is None or math.isinf(value):  # an infinite perplexity has no digits to round
        return _perplexity(value)
    # 5.16 has steps of 0.1 and becomes 5.1, 2345 has steps of 100 and becomes 2400.
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return _perplexity(rounding(value / step) * step, 1 if value < 10 else 0)
