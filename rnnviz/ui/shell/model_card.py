"""A model card in plain words, safe as Markdown; entries that are missing or invalid are left out."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rnnviz.i18n import _, ngettext
from rnnviz.networks import hyperparameters
from rnnviz.ui.shell.error_messages import plain


def in_words(card: Mapping[str, Any]) -> Iterator[str]:
    """Sentences on the model's training, in the order of a reader's questions."""
    recipe = card.get("recipe")
    recipe = recipe if isinstance(recipe, dict) else {}
    if numbers := _numbers(card, "characters"):
        count, part = f"{numbers[0]:,.0f}", re.fullmatch(r"first (\d+) %", str(card.get("trained_on")))
        if part:
            yield _("Trained on the first {percent} % of a text of {count} characters.").format(
                percent=part[1], count=count
            )
        else:
            yield _("Trained on a text of {count} characters.").format(count=count)
    if rows := hyperparameters.sound(card.get("choice")):
        yield ngettext(
            "Its settings come from {n} candidate, by its perplexity on validation text: {list}.",
            "Its settings were chosen among {n} candidates, by their perplexity on validation text: {list}.",
            len(rows),
        ).format(n=len(rows), list="; ".join(map(_candidate, rows)))
    if numbers := _numbers(recipe, "epochs", "batch", "steps"):
        epochs, batch, steps = numbers
        yield _(
            "It read that text {epochs} times, with batch size {batch}; every update looks "
            "back {steps} characters."
        ).format(epochs=f"{epochs:g}", batch=f"{batch:.0f}", steps=f"{steps:.0f}")
    if any(numbers := _numbers(recipe, "fresh_rows")):
        yield _(
            "In every update, {percent} % of the batch began at a random paragraph, with an empty state, as "
            "what you type does."
        ).format(percent=f"{100 * numbers[0]:.0f}")
    if numbers := _numbers(recipe, "learning_rate", "clip"):
        rate, clip = numbers
        yield _(
            "AdamW with a learning rate of up to {rate}, falling to almost nothing by the end; "
            "gradients clipped at {clip}."
        ).format(rate=f"{rate:g}", clip=f"{clip:g}")
    if used := list(_dropout(recipe)):
        yield _("Regularisation by dropout: {list}.").format(list=_(", ").join(used))
    if numbers := _numbers(card, "training_seconds"):
        if numbers[0] < 90:
            n = max(1, round(numbers[0]))
            yield ngettext("Training took {n} second.", "Training took {n} seconds.", n).format(n=n)
        else:
            n = round(numbers[0] / 60)
            yield ngettext("Training took {n} minute.", "Training took {n} minutes.", n).format(n=n)
    if isinstance(versions := card.get("versions"), dict) and versions:
        named = [f"{plain(str(k))} {plain(str(v))}" for k, v in versions.items()]
        yield _("Versions: {list}.").format(list=_(", ").join(named))


def _numbers(facts: Mapping[str, Any], *names: str) -> list[float]:
    """The values of these entries; [] if one of them is no number."""
    values = [facts.get(name) for name in names]
    if any(isinstance(v, bool) or not isinstance(v, int | float) for v in values):
        return []
    return [float(v) for v in values if v is not None]


def _candidate(row: Mapping[str, Any]) -> str:
    """A row of the comparison of settings, in bold if it was chosen."""
    bold = "**" if row.get("chosen") is True else ""
    settings = plain(hyperparameters.in_words(row["settings"]))
    return f"{bold}{settings}: {row['validation_perplexity']:,.2f}{bold}"


def _dropout(recipe: Mapping[str, Any]) -> Iterator[str]:
    """Each kind of dropout that the recipe uses, with its share."""
    for what, name in (
        (_("the output"), "dropout_output"),
        (_("what goes from layer to layer"), "dropout_layer"),
        (_("the recurrent weights"), "dropout_weight"),
        (_("whole characters"), "dropout_embedding"),
    ):
        if any(numbers := _numbers(recipe, name)):
            yield _("{percent} % of {what}").format(percent=f"{100 * numbers[0]:g}", what=what)
