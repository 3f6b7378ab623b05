"""What a model's card records beside its figures, and the cards as a Markdown page, `models/README.md`.

Findings on units, which a run, or `rnnviz units --card`, searched. And hyperparameters and their choice:
candidates, each trained on the first 85 % of the text and scored on the next 5 %, the validation text. The
held-out tenth has no part in it. A file of candidates is a JSON list of objects:

    settings               by the names of TrainConfig, or of an n-gram model's recipe; "corpus" names the
                           text, and is not compared
    validation_perplexity  at the end of the candidate's training
    characters             characters it was trained on
"""

from __future__ import annotations

import json
import math
import textwrap
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Floats
from rnnviz.checks import restore
from rnnviz.errors import ConfigError
from rnnviz.findings import Number, Sentence, count, interval_words, make_sentences, words
from rnnviz.networks import checkpoint
from rnnviz.networks.verdicts import (
    MIN_LEAD,
    MIN_VERDICT_CHARS,
    SIGNIFICANCE_LEVEL,
    UNTRAINED_COPIES,
    Evidence,
    Measure,
    Rival,
    Verdict,
    measured,
    verdict,
)
from rnnviz.sentences import catalogue
from rnnviz.text import files

UNITS_KEY = "units"
"""The card's entry: {"command": the command that made it, "text": the text searched, "findings": the searches
that remember, "others": the rest, both lists of Recorded, "unanswered": {target: why it has no search}}.
Cards of 0.1.0 have "command" and "findings" only, without evidence.
"""

SOUGHT = ("quotes", "py-string", "brackets", "py-brackets", "speaker", "line-position", "word-start")
"""Targets that a run searches for, as far as they suit its text."""

Why = Literal["absent", "throughout", "short", "same text", "costly"]
"""The reason for no search of a target.

absent      the text has none of it
throughout  constant over the text
short       the text has fewer than `rnnviz.networks.verdicts.MIN_VERDICT_CHARS` characters
same text   too rare to be in every part of the text
costly      the search took more than its time, or more memory than there is
"""

Part = Literal["validation", "validation and held-out", "held-out"]
"""The part of the text, never used in training, that was searched."""


@dataclass(frozen=True, eq=False)
class WeightedSum:
    """A weighted sum of one layer's units, as a linear probe reads them: 0 where it decides, and rarely
    beyond -1 and 1. `weights` (H,) float16.
    """

    layer: int
    weights: npt.NDArray[np.float16]
    bias: float

    def along(self, states: npt.NDArray[np.floating]) -> Floats:
        """The values (n,) at states (n, H) of the layer."""
        return np.asarray(states @ self.weights.astype(np.float32) + np.float32(self.bias), np.float32)


@dataclass(frozen=True)
class Recorded:
    """One recorded search.

    target      a name of `rnnviz.units.target`
    layer, unit the unit that ranked best on one part; of a weighted sum the number H
    score       its score on another: AUC, or correlation for a graded target, as `measure` says
    chance      the unit stays below this score for 95 of 100 shifted targets
    character   the score of the character just read
    untrained   the score of the best unit of each untrained copy
    characters  of the text
    evidence    intervals, rivals' scores, and the report on a third part; None in cards of 0.1.0
    p           the share of shifted targets with at least this score
    levels      significance levels within its family: see `rnnviz.lab.analysis.search_result.holm`
    direction   1 where the unit rises with the target, -1 where it falls; 0 in cards without it
    typed       two shares of the characters of sentences that one might type, each read from the zero state:
                where the unit's sign matches the target, and where the likelier constant answer does; None
                without sentences
    weights     of a weighted sum: float16 in base64; "" for a unit, which is the sum with one weight
    bias        of a weighted sum
    """

    target: str
    quantity: str
    measure: Measure
    layer: int
    unit: int
    score: float
    chance: float
    character: float
    untrained: tuple[float, ...]
    characters: int
    evidence: Evidence | None = None
    p: float = 0.0
    levels: tuple[float, float] = (SIGNIFICANCE_LEVEL, SIGNIFICANCE_LEVEL)
    direction: int = 0
    typed: tuple[float, float] | None = None
    weights: str = ""
    bias: float = 0.0

    @cached_property
    def weighted(self) -> WeightedSum | None:
        """The weighted sum; None for a unit."""
        if not self.weights:
            return None
        return WeightedSum(self.layer, np.frombuffer(b64decode(self.weights), "<f2"), self.bias)

    def along(self, states: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """The row's values (n,) at states (n, H) of its layer."""
        return states[:, self.unit] if self.weighted is None else self.weighted.along(states)

    @property
    def verdict(self) -> Verdict:
        """The verdict on the unit."""
        return verdict(
            self.score,
            self.chance,
            self.character,
            self.untrained,
            self.characters,
            evidence=self.evidence,
            p=self.p,
            level=self.levels[0],
            lead_level=self.levels[1],
        )

    @property
    def rival(self) -> Rival | None:
        """The simplest measured rival that the unit doesn't beat; None without one."""
        return None if self.evidence is None else self.evidence.unbeaten(self.score, self.levels[1])

    @property
    def strongest(self) -> Rival | None:
        """The highest-scoring rival that the unit doesn't beat, as measured where `reported` is; None without
        one.
        """
        if self.evidence is None:
            return None
        rival = self.evidence.strongest(self.score, self.levels[1])
        rivals = self.evidence.report.rivals if self.evidence.report is not None else ()
        same = (
            other for other in rivals if rival and (other.kind, other.number) == (rival.kind, rival.number)
        )
        return next(same, rival)

    @property
    def reported(self) -> float:
        """The score on text that neither ranked nor confirmed, if there is one; else the confirming score."""
        report = self.evidence.report if self.evidence is not None else None
        return self.score if report is None else report.score

    @property
    def lead(self) -> float:
        """The unit's score less the highest of chance and all rivals."""
        if self.evidence is not None and self.evidence.report is not None:
            report = self.evidence.report
            return report.score - max(self.chance, *(rival.score for rival in report.rivals))
        rivals = self.evidence.rivals if self.evidence is not None else ()
        return self.score - max(
            self.chance, self.character, *self.untrained, *(rival.score for rival in rivals)
        )

    def follows(self) -> list[Sentence]:
        """The unit's target, and its score beside its rivals', in words; for a unit that remembers."""
        report = self.evidence.report if self.evidence is not None else None
        if report is None:
            named = {"unit": words("unit", n=self.unit), "n": count(self.characters)}
            return make_sentences(("recorded.confirmed", "recorded.less"), **named)
        rivals_by_kind = {rival.kind: rival for rival in sorted(report.rivals, key=lambda rival: rival.score)}
        context, untrained = rivals_by_kind.get("context"), rivals_by_kind.get("untrained")
        kind = "" if self.weighted is None else "-weighted"
        codes = [f"recorded.follows{kind}", *([f"recorded.beside{kind}"] if context and untrained else [])]
        return make_sentences(
            codes,
            unit=self.unit,
            units=count(self.unit),
            target=described(self.target),
            measure=measured(self.measure),
            score=Number(report.score),
            interval=interval_words(*report.interval),
            k=context.number if context else None,
            context=Number(context.score if context else None),
            untrained=Number(untrained.score if untrained else None),
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON object that a card can hold."""
        return asdict(self)


def described(target: str) -> Sentence | str:
    """A target's description in words; a pattern stands for itself."""
    code = f"target.{target}"
    return words(code) if code in catalogue() else target


def unit_findings(card: Mapping[str, Any]) -> tuple[Recorded, ...]:
    """The findings in a card, in their order, without damaged ones."""
    return _listed(card, "findings")


def remembering(card: Mapping[str, Any]) -> list[Recorded]:
    """The findings of a card whose verdict is "remembers"."""
    return [finding for finding in unit_findings(card) if finding.verdict == "remembers"]


def other_searches(card: Mapping[str, Any]) -> tuple[Recorded, ...]:
    """The searches in a card that don't remember."""
    return _listed(card, "others")


def search_command(card: Mapping[str, Any]) -> str:
    """The command that made the findings, or ""."""
    command = _entry(card).get("command")
    return command if isinstance(command, str) else ""


def unanswered(card: Mapping[str, Any]) -> dict[str, Why]:
    """The targets without a search, and the reasons."""
    reasons = _entry(card).get("unanswered")
    return (
        {name: why for name, why in reasons.items() if why in get_args(Why)}
        if isinstance(reasons, dict)
        else {}
    )


def searched_text(card: Mapping[str, Any]) -> str:
    """The name of the searched text; "" for a held-out part of the model's own text."""
    text = _entry(card).get("text")
    if not isinstance(text, dict) or text.get("held_out") is not False or searched_part(card) != "held-out":
        return ""
    name = text.get("name")
    return name if isinstance(name, str) and name else "another text"


def searched_part(card: Mapping[str, Any]) -> Part:
    """The searched part of the model's own text."""
    text = _entry(card).get("text")
    name = text.get("part") if isinstance(text, dict) else None
    return next((searched_part for searched_part in get_args(Part) if searched_part == name), "held-out")


def _entry(card: Mapping[str, Any]) -> Mapping[str, Any]:
    entry = card.get(UNITS_KEY)
    return entry if isinstance(entry, dict) else {}


def _listed(card: Mapping[str, Any], key: str) -> tuple[Recorded, ...]:
    listed = _entry(card).get(key)
    if not isinstance(listed, list):
        return ()
    return tuple(finding for record in listed if (finding := _finding(record)) is not None)


def _finding(record: object) -> Recorded | None:
    """The restored record; None for a damaged one."""
    try:
        finding: Recorded = restore(Recorded, record)
        sound = finding.weighted is None or np.isfinite(finding.weighted.weights).all()
    except (TypeError, LookupError, ValueError, AttributeError):
        return None
    # A card may come from anywhere: a negative unit would count from the end of the state.
    counts = (finding.layer, finding.unit, finding.characters)
    return finding if min(counts) >= 0 and finding.untrained and sound else None


Candidate = dict[str, Any]


def read_candidates(path: str | Path, recipe: Mapping[str, Any]) -> list[Candidate]:
    """The table for the card of a model with this `recipe`, the best candidate first.

    A row has `settings` (those in which candidates differ), `validation_perplexity` and `characters`; the row
    of this recipe is `chosen`. Raises ConfigError if the file can't be used or another candidate is best.
    """
    # The file's order is the order of training; the best one comes first on the page.
    rows = sorted(_candidates(Path(path)), key=lambda row: float(row["validation_perplexity"]))
    # A candidate is this recipe if all its settings agree; a recipe has more. That another candidate is
    # better means that the settings were not chosen by this table, and the card would claim it.
    chosen = [row for row in rows if all(recipe.get(k) == v for k, v in row["settings"].items())]
    if not chosen or chosen[0]["validation_perplexity"] > rows[0]["validation_perplexity"]:
        raise ConfigError(
            "this model's settings aren't the best candidate of {path}, which has {best}; give the file from "
            "which they were chosen",
            path=path,
            best=settings_in_words(rows[0]["settings"]) if rows else "none",
        )
    chosen[0]["chosen"] = True
    return [{**row, "settings": _differing_settings(row, rows)} for row in rows]


def _candidates(path: Path) -> list[Candidate]:
    try:
        rows: list[Candidate] = [
            {
                "settings": {k: v for k, v in candidate["settings"].items() if k != "corpus"},
                "validation_perplexity": float(candidate["validation_perplexity"]),
                "characters": int(candidate["characters"]),
            }
            for candidate in json.loads(files.read(path, 1 << 24))
        ]
    except OSError as error:
        raise ConfigError("{path} can't be read: {strerror}", path=path, strerror=error.strerror) from None
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as error:
        raise ConfigError(
            "{path} is not a list of candidates with settings, validation_perplexity and characters "
            "({error})",
            path=path,
            error=error,
        ) from None
    return [row for row in rows if math.isfinite(row["validation_perplexity"])]  # else diverged


def _differing_settings(row: Candidate, rows: Sequence[Candidate]) -> dict[str, Any]:
    """The settings of one row in which the rows differ."""
    settings = row["settings"]
    return {k: v for k, v in settings.items() if any(candidate["settings"].get(k) != v for candidate in rows)}


def settings_in_words(settings: Mapping[str, Any]) -> str:
    """Settings in one line.

    >>> settings_in_words({"epochs": 12, "learning_rate": 0.004})
    'epochs 12, learning_rate 0.004'
    """
    return ", ".join(
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in settings.items()
    )


def sound_candidates(rows: Any) -> list[Candidate]:
    """The well-formed rows of a card's table; a card may come from anywhere."""
    return [
        row
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict)
        and isinstance(row.get("settings"), dict)
        and type(row.get("validation_perplexity")) in (int, float)
        and type(row.get("characters")) is int
    ]


CANDIDATES_HEAD = """
Settings chosen by perplexity on the validation text, each candidate trained on the first 85 %:

| settings | validation perplexity | characters trained on |
|---|---|---|
"""


def candidates_table(rows: Any) -> str:
    """A card's table as Markdown, the chosen row in bold; "" without rows."""
    lines = []
    for row in sound_candidates(rows):
        figures = (
            settings_in_words(row["settings"]),
            f"{row['validation_perplexity']:.4f}",
            f"{row['characters']:,}",
        )
        bold = "**" if row.get("chosen") else ""
        lines.append(f"| {' | '.join(bold + figure + bold for figure in figures)} |\n")
    return CANDIDATES_HEAD + "".join(lines) if lines else ""


INTRODUCTION = """# The shipped models

Each text is cut in order: the first 85 % are to train on, the next 5 % are the validation text, by which
settings are chosen, and the last 10 % are held out: neither trained on nor chosen by. A model with the
settings chosen is measured on the held-out text, once.

{trained_on}

One reservation: up to version 0.1.0 the last tenth was looked at for choices too (`shakespeare-lstm` got 18
passes instead of 12 by it, and the presets' recipe was preferred to others), and whoever picked today's
candidates knew its figures. Perplexity is per character, and every character counts, the unknown ones too.
*Uniform* is what a uniform guess gives, |V|.

This page is written by `python -m rnnviz models --markdown`, and `python -m rnnviz dev check-models` computes
its figures again. So that the app can say when a text was trained on, each file holds hashes of some of its
training text's 24-grams (`rnnviz.networks.contamination`), and no text.

`NAME.snapshots.safetensors` shows how a model came about (`rnnviz.lab.run.replay`): what it made of one
sentence at moments of the training below, from the random beginning to the weights that ship, and its
perplexity on the text it was reading, with dropout; of a run on the first 85 %, on the validation text too.
Its perplexity on the held-out text is there for the end only.

| model | perplexity | bits per character | n-gram | uniform | parameters | file |
|---|---|---|---|---|---|---|
"""

WHY_TRAINED_ON = {
    "first 90 %": ", with the validation text",
    "first 85 %": " alone, so that the validation text, which no weight has read, tells also since when rows "
    "have a meaning",
}
"""What the page adds to a part of a text that a model was trained on."""

ROW = (
    "| [{name}](#{name}) | {perplexity} | {bits} | {ngram} | {uniform:,} | {parameters:,} | {size:.2f} MB |\n"
)

CARD = """
## {name}

- Text: {title} ({licence}), {characters:,} characters, sha256 `{sha256}`.
- Split: {split}; trained on the {trained_on}; held out: sha256 `{sha256_held_out}`.
- Held out, {held_out_characters:,} characters, {unknown:,} of them unknown: perplexity {perplexity},
  {bits} bits per character; `{ngram_name}` {ngram}; uniform {uniform:,}.
- {parameters:,} {what}; training took {seconds:,.0f} s; {versions}.

```
{command}
```
"""

RESPONDS = """
What units respond to, {where}, ranked on one part, confirmed on a second and measured on a third:

```
{command}
```
"""

TABLE = """
| what | unit | measure | score | interval | by chance | character | context | untrained | stable | typed |
|---|---|---|---|---|---|---|---|---|---|---|
"""

LEGEND = """
## What the tables of units say

A search ranks all units of a network by how well they tell where something holds, on one part of a text,
tests that which ranked best on a second, and measures it on a third, which had no say in it, with a 95 %
interval (`rnnviz.lab.analysis.evidence`). *By chance* is what that unit reaches on the second, either way,
for 95 of 100 shifted targets; *character* is what the character just read tells by itself, *context* what
the last 2, 4 or 8 tell by a linear model of their n-grams, the best of the three; *untrained* is what the
same search finds in the same network before any training, the best of {copies} random ones, whose units echo
what was just read. A table holds only units that remember: that beat all of these on the second part by more
than {margin}, by intervals that exclude zero, on {enough:,} characters or more, with all searches of a
command held to Holm's levels. *Stable* is the share of texts drawn anew from the first part in which the unit
ranks first: where it is low, other units tell as much. A row with Σ is no unit but a direction: all units of
that layer, weighted by a linear model that was fitted to the training part of the searched corpus, with its
penalty chosen on the first part; its rivals were fitted to that text too, and *by chance* is then also what
weights fitted to random labels reach for such. *Typed* is the share of the characters of twenty sentences
that one might type, written down before the networks were trained and each read from the empty state, at
which the unit's sign is right, and in brackets that of the likelier answer given throughout. AUC is 0.5 for a
unit that tells nothing and 1 for one that always tells; a correlation is 0 and 1. After what has no finding
stand, in square brackets, its score and that of the strongest of what tells as much. What is found
is a correlation, not proof of cause: `rnnviz.units.ablate` asks about that.
"""

ANEW = """
## Making them anew

In a checkout, with `holmes.txt` and `journey.txt` in its folder, Tiny Shakespeare fetched and the old models
moved away, as no run replaces another's model, the candidates come first. A row of a card's table is a model
made by the card's command with the row's settings, of the first 85 % (`--train-on train`, without
`--choice`), and its perplexity on the validation text. A list of them is `choices/NAME.json`, as
`rnnviz.networks.model_card` reads it. `python-5gram` had no order above 5 to choose: with 6 it would have
3.3364 on the validation text, and a file of 4.8 MB. Then the commands of the cards, those of the n-gram
models first, as the networks are compared with them; for each network the command above its table of units;
for those with a `models/NAME.snapshots.safetensors` the function `rnnviz.lab.run.replay.write`, which packs
what the run kept into that file; at last

```
python -m rnnviz models --markdown > models/README.md
python -m rnnviz dev check-models --corpora .
```
"""

SO: dict[Verdict | Why, str] = {
    "absent": "the text has none",
    "throughout": "the same at every character",
    "costly": "too much time or memory was needed",
    "short": "too little of it to say",
    "same text": "too rare for two halves",
    "nothing": "nothing found",
    "open": "not measured beside the last few characters",
    "character": "not surely more than the character just read tells",
    "context": "not surely more than the last {k} characters tell",
    "untrained": "not surely more than the network untrained tells",
    "chance": "hardly above chance",
    "remembers": "remembers",
}
"""The page's words for each verdict, and for each reason for no search."""


def responds(card: Mapping[str, Any]) -> str:
    """The findings on a model's units as a Markdown table, and the targets without a finding; "" without any
    search.
    """
    findings = unit_findings(card)
    stand = [finding for finding in findings if finding.verdict == "remembers"]
    searched = (*findings, *other_searches(card))
    rejected = [finding for finding in searched if finding.verdict != "remembers"]
    left_out = unanswered(card)
    if not stand and not rejected and not left_out:
        return ""
    where = searched_text(card)
    first = next(iter((*stand, *rejected)), None)
    count = f"{first.characters:,} " if first else ""
    place = f"on {count}characters of {where}" if where else f"on {count}{searched_part(card)} characters"
    out = RESPONDS.format(where=place, command=search_command(card))
    if not stand:
        out += "\nNothing holds.\n"
    if stand:
        out += TABLE + "".join(map(_row, stand))
    for reason, so in SO.items():
        names: dict[str, list[str]] = {}
        if targets := [target for target, why in left_out.items() if why == reason]:
            names[so] = targets
        for finding in rejected:
            if finding.verdict == reason:
                k = finding.rival.number if finding.rival is not None else ""
                row = finding.target + (" Σ" if finding.weighted else "") + _cell(finding) + _beside(finding)
                names.setdefault(so.format(k=k), []).append(row)
        out += "".join(f"\nNo finding: {', '.join(listed)} ({why}).\n" for why, listed in names.items())
    return out


def _cell(finding: Recorded) -> str:
    return "" if finding.quantity == "hidden" else f" ({finding.quantity})"


def _beside(finding: Recorded) -> str:
    """The score of a search without a finding, and that of the strongest of what tells as much."""
    rival = finding.strongest
    if rival is None or finding.verdict in ("short", "same text"):
        return ""
    name = {"character": "the last character", "context": f"the last {rival.number} characters"}
    return f" [{finding.reported:.3f}; {name.get(rival.kind, rival.kind)} {rival.score:.3f}]"


def _row(finding: Recorded) -> str:
    evidence = finding.evidence
    assert evidence is not None  # a finding that remembers has evidence
    score = finding.score if evidence.report is None else evidence.report.score
    measured = evidence if evidence.report is None else evidence.report
    low, high = measured.interval or (score, score)
    best = {rival.kind: rival for rival in sorted(measured.rivals, key=lambda rival: rival.score)}
    cells = (
        finding.target,
        f"{finding.layer}:{'Σ' if finding.weighted else finding.unit}{_cell(finding)}",
        finding.measure,
        f"{score:.3f}",
        f"{low:.3f}–{high:.3f}",
        f"{finding.chance:.3f}",
        f"{best['character'].score:.3f}" if "character" in best else f"{finding.character:.3f}",
        f"{best['context'].number}: {best['context'].score:.3f}",
        f"{best['untrained'].score:.3f}",
        "–" if finding.weighted else f"{evidence.stability or 0:.0%}",
        "–" if finding.typed is None else f"{finding.typed[0]:.1%} ({finding.typed[1]:.0%})",
    )
    return f"| {' | '.join(cells)} |\n"


def models_page(models: list[checkpoint.ModelInfo]) -> str:
    """`models/README.md`: a table of all models, then a card for each."""
    values = [_values(info) for info in models]
    rows = "".join(ROW.format(**v) for v in values)
    cards = "".join(
        CARD.format(**v) + candidates_table(info.card.get("choice")) + responds(info.card)
        for info, v in zip(models, values, strict=True)
    )
    legend = LEGEND.format(copies=UNTRAINED_COPIES, margin=MIN_LEAD, enough=MIN_VERDICT_CHARS)
    legend = legend if any(responds(info.card) for info in models) else ""
    introduction = INTRODUCTION.format(trained_on=_trained_parts(models))
    return introduction + rows + cards + legend + ANEW


def _trained_parts(models: list[checkpoint.ModelInfo]) -> str:
    """The sentences on the part of its text that each model was trained on, the largest part first."""
    names: dict[str, list[str]] = {}
    for info in models:
        names.setdefault(str(info.card.get("trained_on") or ""), []).append(f"`{info.name}`")
    sentences = (
        f"Trained on {f'the {part}' if part else 'a part unknown'}{WHY_TRAINED_ON.get(part, '')}: "
        f"{', '.join(names[part])}."
        for part in sorted(names, reverse=True)
    )
    return "\n".join(textwrap.fill(sentence, 110, break_on_hyphens=False) for sentence in sentences)


def _values(info: checkpoint.ModelInfo) -> dict[str, Any]:
    def number(value: float | None) -> str:
        return "–" if value is None else f"{value:.4f}"

    card, held_out = info.card, info.card.get("held_out", {})
    return {
        **{
            key: card.get(key) or "–"
            for key in ("title", "licence", "sha256", "sha256_held_out", "split", "trained_on", "command")
        },
        "name": info.name,
        "characters": card.get("characters", 0),
        "held_out_characters": held_out.get("characters", 0),
        "unknown": held_out.get("unknown", 0),
        "perplexity": number(held_out.get("perplexity")),
        "bits": number(held_out.get("bits_per_character")),
        "ngram": number(held_out.get("ngram")),
        "ngram_name": held_out.get("ngram_name", "n-gram"),
        "uniform": info.vocabulary_size,
        "parameters": card.get("parameters", 0),
        "what": "n-grams" if info.kind == "ngram" else "parameters",
        "seconds": card.get("training_seconds", 0),
        "size": info.bytes / 1e6,
        "versions": ", ".join(f"{name} {version}" for name, version in card.get("versions", {}).items()),
    }
