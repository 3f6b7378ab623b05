"""Model cards as a Markdown page: `models/README.md`."""

from collections.abc import Mapping
from typing import Any

from rnnviz.networks import checkpoint, hyperparameters, model_card
from rnnviz.networks.verdicts import COPIES, ENOUGH, MARGIN, Verdict

INTRODUCTION = """# The shipped models

Each text is cut in order: the first 85 % are to train on, the next 5 % are the validation text, by which
settings are chosen, and the last 10 % are held out: neither trained on nor chosen by. With the settings
chosen, a model is trained on the first 90 % and measured on the held-out text, once. One reservation: up to
version 0.1.0 the last tenth was looked at for choices too (`shakespeare-lstm` got 18 passes instead of 12 by
it, and the presets' recipe was preferred to others), and whoever picked today's candidates knew its figures.
Perplexity is per character, and every character counts, the unknown ones too. *Uniform* is what a uniform
guess gives, |V|.
This page is written by `python -m rnnviz models --markdown`, and `python -m rnnviz dev check-models` computes
its figures again. So that the app can say when a text was trained on, each file holds hashes of some of its
training text's 24-grams (`rnnviz.networks.contamination`), and no text.

`NAME.snapshots.safetensors` shows how a model came about (`rnnviz.lab.run.replay`): what it made of one
sentence at moments of the training below, from the random beginning to the weights that ship, and its
perplexity on the text it was reading, with dropout. Its perplexity on the held-out text is there for the end
only.

| model | perplexity | bits per character | n-gram | uniform | parameters | file |
|---|---|---|---|---|---|---|
"""

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
ranks first: where it is low, other units tell as much. *Typed* is the share of the characters of twenty
sentences that one might type, written down before the networks were trained and each read from the empty
state, at which the unit's sign is right, and in brackets that of the likelier answer given throughout. AUC
is 0.5 for a unit that tells nothing and 1 for one that always tells; a correlation is 0 and 1. What is found
is a correlation, not proof of cause: `rnnviz.units.ablate` asks about that.
"""

ANEW = """
## Making them anew

In a checkout, with `holmes.txt` and `journey.txt` in its folder, Tiny Shakespeare fetched and the old models
moved away, as no run replaces another's model, the candidates come first. A row of a card's table is a model
made by the card's command with the row's settings, of the first 85 % (`--train-on train`, without
`--choice`), and its perplexity on the validation text. A list of them is `choices/NAME.json`, as
`rnnviz.networks.hyperparameters` reads it. Then the commands of the cards, those of the n-gram models first,
as the networks are compared with them; for each network the command above its table of units; for
holmes-lstm, timemachine-gru and python-gru `rnnviz.lab.run.replay.write`, which packs what the run kept into
`models/NAME.snapshots.safetensors`; at last

```
python -m rnnviz models --markdown > models/README.md
python -m rnnviz dev check-models --corpora .
```
"""

SO: dict[Verdict | model_card.Why, str] = {
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
    found = model_card.of(card)
    stand = [one for one in found if one.verdict == "remembers"]
    others = [one for one in (*found, *model_card.others(card)) if one.verdict != "remembers"]
    unanswered = model_card.unanswered(card)
    if not stand and not others and not unanswered:
        return ""
    where = model_card.text(card)
    many = f"{one.characters:,} " if (one := next(iter((*stand, *others)), None)) else ""
    said = f"on {many}characters of {where}" if where else f"on {many}{model_card.part(card)} characters"
    out = RESPONDS.format(where=said, command=model_card.command(card))
    if stand:
        out += TABLE + "".join(map(_row, stand))
    for verdict, so in SO.items():
        names: dict[str, list[str]] = {}
        if left := [target for target, why in unanswered.items() if why == verdict]:
            names[so] = left
        for one in others:
            if one.verdict == verdict:
                k = one.rival.number if one.rival is not None else ""
                names.setdefault(so.format(k=k), []).append(one.target + _cell(one))
        out += "".join(f"\nNo finding: {', '.join(listed)} ({why}).\n" for why, listed in names.items())
    return out


def _cell(one: model_card.Recorded) -> str:
    return "" if one.quantity == "hidden" else f" ({one.quantity})"


def _row(one: model_card.Recorded) -> str:
    kept = one.evidence
    assert kept is not None  # a finding that remembers has evidence
    score = one.score if kept.report is None else kept.report.score
    shown = kept if kept.report is None else kept.report
    low, high = shown.interval or (score, score)
    best = {rival.kind: rival for rival in sorted(shown.rivals, key=lambda rival: rival.score)}
    cells = (
        one.target,
        f"{one.layer}:{one.unit}{_cell(one)}",
        one.measure,
        f"{score:.3f}",
        f"{low:.3f}–{high:.3f}",
        f"{one.chance:.3f}",
        f"{best['character'].score:.3f}" if "character" in best else f"{one.character:.3f}",
        f"{best['context'].number}: {best['context'].score:.3f}",
        f"{best['untrained'].score:.3f}",
        f"{kept.stability or 0:.0%}",
        "–" if one.typed is None else f"{one.typed[0]:.1%} ({one.typed[1]:.0%})",
    )
    return f"| {' | '.join(cells)} |\n"


def to_markdown(models: list[checkpoint.ModelInfo]) -> str:
    """`models/README.md`: a table of all models, then a card for each."""
    values = [_values(info) for info in models]
    rows = "".join(ROW.format(**v) for v in values)
    cards = "".join(
        CARD.format(**v) + hyperparameters.to_markdown(info.card.get("choice")) + responds(info.card)
        for info, v in zip(models, values, strict=True)
    )
    legend = LEGEND.format(copies=COPIES, margin=MARGIN, enough=ENOUGH)
    legend = legend if any(responds(info.card) for info in models) else ""
    return INTRODUCTION + rows + cards + legend + ANEW


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
