"""A model card in plain words, safe as Markdown; entries that are missing or invalid are left out."""

import re
from collections.abc import Mapping
from typing import Any

from rnnviz.i18n import _, ngettext
from rnnviz.training import hyperparameters
from rnnviz.ui.error_messages import plain


def in_words(card: Mapping[str, Any]) -> list[str]:
    """Sentences on the model's training, in the order of a reader's questions."""
    recipe = card.get("recipe")
    recipe = recipe if isinstance(recipe, dict) else {}
    sentences = [
        _text(card),
        _chosen(card),
        _passes(recipe),
        _fresh(recipe),
        _step_size(recipe),
        _dropout(recipe),
        _time(card),
        _versions(card),
    ]
    return [sentence for sentence in sentences if sentence]


def _numbers(facts: Mapping[str, Any], *names: str) -> list[float]:
    values = [facts.get(name) for name in names]
    if any(isinstance(v, bool) or not isinstance(v, int | float) for v in values):
        return []
    return [float(v) for v in values if v is not None]


def _text(card: Mapping[str, Any]) -> str:
    if not (numbers := _numbers(card, "characters")):
        return ""
    count = f"{numbers[0]:,.0f}"
    part = re.fullmatch(r"first (\d+) %", str(card.get("trained_on")))
    if part:
        return _("Trained on the first {percent} % of a text of {count} characters.").format(
            percent=part[1], count=count
        )
    return _("Trained on a text of {count} characters.").format(count=count)


def _chosen(card: Mapping[str, Any]) -> str:
    rows = hyperparameters.sound(card.get("choice"))
    if not rows:
        return ""
    listed = []
    for row in rows:
        bold = "**" if row.get("chosen") is True else ""
        figure = f"{row['validation_perplexity']:.2f}"
        listed.append(f"{bold}{plain(hyperparameters.in_words(row['settings']))}: {figure}{bold}")
    return ngettext(
        "Its settings come from {n} candidate, by its perplexity on validation text: {list}.",
        "Its settings were chosen among {n} candidates, by their perplexity on validation text: {list}.",
        len(rows),
    ).format(n=len(rows), list="; ".join(listed))


def _passes(recipe: Mapping[str, Any]) -> str:
    if not (numbers := _numbers(recipe, "epochs", "batch", "steps")):
        return ""
    epochs, batch, steps = numbers
    return _(
        "It read that text {epochs} times, with batch size {batch}; every update looks "
        "back {steps} characters."
    ).format(epochs=f"{epochs:g}", batch=f"{batch:.0f}", steps=f"{steps:.0f}")


def _fresh(recipe: Mapping[str, Any]) -> str:
    if not (numbers := [share for share in _numbers(recipe, "fresh_rows") if share]):
        return ""
    return _(
        "In every update, {percent} % of the batch began at a random paragraph, with an empty state, as what "
        "you type does."
    ).format(percent=f"{100 * numbers[0]:.0f}")


def _step_size(recipe: Mapping[str, Any]) -> str:
    if not (numbers := _numbers(recipe, "learning_rate", "clip")):
        return ""
    rate, clip = numbers
    return _(
        "AdamW with a learning rate of up to {rate}, falling to almost nothing by the end; "
        "gradients clipped at {clip}."
    ).format(rate=f"{rate:g}", clip=f"{clip:g}")


def _dropout(recipe: Mapping[str, Any]) -> str:
    used = [
        _("{percent} % of {what}").format(percent=f"{100 * share:g}", what=what)
        for what, name in (
            (_("the output"), "dropout_output"),
            (_("what goes from layer to layer"), "dropout_layer"),
            (_("the recurrent weights"), "dropout_weight"),
            (_("whole characters"), "dropout_embedding"),
        )
        for share in _numbers(recipe, name)
        if share
    ]
    return _("Regularisation by dropout: {list}.").format(list=_(", ").join(used)) if used else ""


def _time(card: Mapping[str, Any]) -> str:
    if not (numbers := _numbers(card, "training_seconds")):
        return ""
    if numbers[0] < 90:
        n = max(1, round(numbers[0]))
        return ngettext("Training took {n} second.", "Training took {n} seconds.", n).format(n=n)
    n = round(numbers[0] / 60)
    return ngettext("Training took {n} minute.", "Training took {n} minutes.", n).format(n=n)


def _versions(card: Mapping[str, Any]) -> str:
    versions = card.get("versions")
    if not isinstance(versions, dict):
        return ""
    named = [f"{plain(str(k))} {plain(str(v))}" for k, v in versions.items()]
    return _("Versions: {list}.").format(list=_(", ").join(named)) if named else ""
