"""Score: the finding on a scored text, or on a file of rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from rnnviz.findings import Bars, Json, Number, Panel, Said, Table, count, say, words
from rnnviz.reprs import Pictured
from rnnviz.scoring.contamination import Contamination
from rnnviz.scoring.interval import METHOD, SHORTEST, Averages, Interval
from rnnviz.scoring.perplexity import Report
from rnnviz.scoring.rows import RowsReport
from rnnviz.sentences import BEYOND
from rnnviz.text.vocabulary import Vocabulary

FEW = 200
"""Characters of a text below which one word matters."""

MANY = 0.1
"""The share of unknown characters from which the known ones hardly count."""

MATTERS = 1.01
"""Unknown characters are mentioned from this multiple of the known ones' perplexity on."""

NOTABLE = 0.02
"""The share of a text that a model may have met before by chance: idioms, licences."""


@dataclass(frozen=True)
class Compared:
    """A file's cost under one model or baseline.

    kind   model, n-gram, uniform, unigram or compressor
    about  describes the model or baseline
    best   whether this row has the fewest bits; never the unigram, which is no code

    Costs are the whole text's, unknown characters' included.
    """

    name: str
    kind: str
    about: str
    perplexity: float
    bits_per_character: float
    best: bool = False


def best(rows: Sequence[Compared]) -> list[Compared]:
    """The rows with the best one marked: never the unigram, which was told the file's own frequencies."""
    codes = [n for n, row in enumerate(rows) if row.kind != "unigram"]
    fewest = min(codes, key=lambda n: rows[n].bits_per_character, default=None)
    return [replace(row, best=n == fewest) for n, row in enumerate(rows)]


def uniform(vocabulary: Vocabulary, report: Report) -> float:
    """The perplexity of a uniform guess, which pays for unknown characters as the model does."""
    nats = math.log(vocabulary.size) + vocabulary.unknown_cost * report.unknown / report.characters
    return math.exp(nats)


@dataclass(frozen=True, eq=False, repr=False)
class Score(Pictured):
    """A scored text.

    interval  the interval of as many characters again; None for rows, which aren't one text
    guess     the perplexity of a uniform guess
    compared  the text's cost under the model, then under other models and baselines
    overlap   the share of the text that the model was trained on, where known
    learned   whether the model learned from the text as it read it
    normaliser  the text's normalisation before it was read, of rnnviz.text.characters.NORMALISERS

    >>> import rnnviz
    >>> from rnnviz.scoring.interval import interval
    >>> trace = rnnviz.trace(rnnviz.load("timemachine-gru"), "The Time Traveller smiled.")
    >>> report = rnnviz.perplexity(rnnviz.load("timemachine-gru"), text=trace.text)
    >>> [said.code for said in Score(report, interval(trace.nll), guess=71.0).sentences()][:2]
    ['score.hesitated', 'score.few']
    """

    report: Report
    interval: Interval | None = None
    guess: float = math.inf
    compared: Sequence[Compared] = ()
    overlap: Contamination | None = None
    learned: bool = False
    normaliser: str = "newlines"

    def facts(self) -> Json:
        """The report with its interval, and the figures that it was compared with."""
        low = None if self.interval is None else self.interval.low
        found = {
            **self.report.to_json(),
            "interval": None if self.interval is None or low is None else [low, self.interval.high],
            "interval_method": METHOD,
            "interval_why_not": "rows" if self.interval is None else self.interval.reason or None,
        }
        return {**found, "compared": [asdict(one) for one in self.compared]} if self.compared else found

    def heading(self) -> Said:
        """The text's name with its figures."""
        report = self.report
        return words(
            "score.text",
            file=report.file,
            perplexity=_perplexity(report.perplexity),
            characters=count(report.characters),
            unknown=count(report.unknown),
            bits=Number(report.bits_per_character),
            bits_a_byte=Number(report.bits_per_byte),
        )

    def table(self) -> Table:
        """The text's cost under the model, and under the models and baselines compared."""
        columns = [words(f"score.{head}") for head in ("file", "best", "under", "kind", "perplexity", "bits")]
        own = Compared(self.report.model, "model", "", self.report.perplexity, self.report.bits_per_character)
        return Table(
            columns,
            [
                [
                    self.report.file,
                    "*" if one.best else "",
                    one.name,
                    words(f"score.kind.{one.kind}" if n or one.kind != "model" else "score.kind.own"),
                    _perplexity(one.perplexity),
                    Number(one.bits_per_character),
                ]
                for n, one in enumerate(self.compared or [own])
            ],
        )

    def sentences(self) -> list[Said]:
        """The number of characters that the model hesitated between, its interval, and its reasons."""
        report, lies = self.report, self.interval
        low, high = (None, None) if lies is None else (lies.low, lies.high)
        first, second = (lies and lies.halves) or (None, None)
        return say(
            self._codes(),
            choices=_perplexity(report.perplexity, 0 if report.perplexity >= 3 else 1),
            share=Number(report.unknown / report.characters, "percent"),
            known=_perplexity(report.perplexity_known),
            model=report.model,
            characters=count(report.characters),
            shortest=count(SHORTEST),
            about_low=_outward(low, math.floor),
            about_high=_outward(high, math.ceil),
            low=_perplexity(low),
            high=_perplexity(high),
            first=_perplexity(first),
            second=_perplexity(second),
            overlap=Number(None if self.overlap is None else self.overlap.share, "percent"),
            unsettled=count(report.unsettled),
            word=_perplexity(report.word_perplexity),
            words=count(report.words),
            n=count(report.normalised),
            seconds=Number(report.seconds, digits=2),
        )

    def _codes(self) -> Iterator[str]:
        report, known = self.report, self.report.perplexity_known
        if report.unknown < MANY * report.characters and report.perplexity < BEYOND:
            yield "score.hesitated"
        if known is None:
            yield "score.all-unknown"
        elif report.perplexity > MATTERS * known:
            yield "score.some-unknown"
        if report.perplexity > self.guess:
            yield "score.worse-than-guessing"
        if self.learned:
            yield "score.learned"
        yield from self._range()
        if self.overlap is not None and self.overlap.share - 2 * self.overlap.error >= NOTABLE:
            yield "score.trained-on"
        if report.unsettled:
            yield from ("score.last-digits", "score.rounding")
        if report.word_perplexity is not None:
            yield "score.words"
        if report.normalised:
            rule = "" if self.normaliser == "newlines" else f"-{self.normaliser}"
            yield f"score.converted{rule}"
        elif report.encoding is not None:
            yield "score.unchanged"
        yield "score.made-precisely" if report.precise else "score.made"

    def _range(self) -> Iterator[str]:
        if self.interval is None:
            return
        reason = self.interval.reason or "range"
        yield "score.few" if self.interval.characters < FEW else f"score.{reason}"
        yield f"score.why.{reason}"

    def panels(self) -> list[Panel]:
        """The bits a character under the model and the others compared; no picture without a comparison."""
        if not self.compared:
            return []
        (chosen,) = [n for n, one in enumerate(self.compared) if one.best]
        picture = Bars(
            [one.name for one in self.compared],
            [one.bits_per_character for one in self.compared],
            x=words("score.bits"),
            chosen=chosen,
        )
        notice = say(
            ["score.predicts-best"], name=self.compared[chosen].name, bits=Number(picture.values[chosen])
        )
        return [Panel("compared", words("score.title"), picture, notice, words("score.limits"))]


@dataclass(frozen=True, eq=False, repr=False)
class RowsScore(Score):
    """The rows of a scored file together: each is a text by itself, and none has an interval."""

    report: RowsReport

    def sentences(self) -> list[Said]:
        """The number of rows scored, and the faults of the others."""
        report = self.report
        left_out = [words(f"rows.{kind}", number=count(n)) for kind, n in report.rows_left_out.items()]
        return say(
            self._codes(),
            file=report.file,
            n=count(report.rows_scored),
            rows=count(report.rows),
            left=count(report.rows - report.rows_scored),
            kinds=left_out,
            characters=count(report.characters),
            unknown=count(report.unknown),
            column=report.column,
            given=report.given,
            context=count(report.given_characters),
            word=_perplexity(report.word_perplexity),
            words=count(report.words),
            model=report.model,
            seconds=Number(report.seconds, digits=2),
        )

    def _codes(self) -> Iterator[str]:
        report = self.report
        yield "rows.scored"
        if report.given is not None:
            yield "rows.after-context"
        if self.learned:
            yield "score.learned"
        if report.rows_left_out:
            yield "rows.left-out"
        if report.word_perplexity is not None:
            yield "score.words"
        yield "rows.column-found" if report.column_found else "rows.column"
        yield "score.made-precisely" if report.precise else "score.made"


def averaged(found: Averages) -> Said:
    """Both averages of several texts, in a sentence."""
    micro, macro = _perplexity(found.micro), _perplexity(found.macro)
    return words("score.averages", texts=count(found.texts), micro=micro, macro=macro)


def _perplexity(value: float | None, digits: int = 2) -> Number:
    return Number(value, "perplexity", digits)


def _outward(value: float | None, rounding: Callable[[float], int]) -> Number:
    """A perplexity with its first two digits: a range that is rounded outward still holds."""
    if value is None:
        return Number(None)
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return _perplexity(rounding(value / step) * step, 1 if value < 10 else 0)
