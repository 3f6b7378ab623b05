"""A model's card in plain words.

Cards are data from a file: whatever is missing or odd is left out, and what
is shown is safe as Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rnnviz.ui.i18n import _, ngettext
from rnnviz.ui.trouble import plain


def in_words(card: Mapping[str, Any]) -> list[str]:
    """Sentences about how the model of this card was made, the reader's questions in their usual order."""
    recipe = card.get("recipe")
    recipe = recipe if isinstance(recipe, dict) else {}
    sentences = [
        _text(card),
        _passes(recipe),
        _step_size(recipe),
        _dropout(recipe),
        _time(card),
        _versions(card),
    ]
    return [sentence for sentence in sentences if sentence]


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _text(card: Mapping[str, Any]) -> str:
    characters = _number(card.get("characters"))
    if characters is None:
        return ""
    part = re.fullmatch(r"first (\d+) %", str(card.get("trained_on")))
    if part:
        return _("Trained on the first {percent} % of a text of {count} characters.").format(
            percent=part[1], count=f"{characters:,.0f}"
        )
    return _("Trained on a text of {count} characters.").format(count=f"{characters:,.0f}")


def _passes(recipe: Mapping[str, Any]) -> str:
    epochs, batch, steps = (_number(recipe.get(k)) for k in ("epochs", "batch", "steps"))
    if epochs is None or batch is None or steps is None:
        return ""
    return _(
        "It read that text {epochs} times, as {batch} streams side by side; every update looks "
        "back {steps} characters."
    ).format(epochs=f"{epochs:g}", batch=f"{batch:.0f}", steps=f"{steps:.0f}")


def _step_size(recipe: Mapping[str, Any]) -> str:
    rate, clip = _number(recipe.get("learning_rate")), _number(recipe.get("clip"))
    if rate is None or clip is None:
        return ""
    return _(
        "AdamW with a learning rate of up to {rate}, falling to almost nothing by the end; "
        "gradients clipped at {clip}."
    ).format(rate=f"{rate:g}", clip=f"{clip:g}")


def _dropout(recipe: Mapping[str, Any]) -> str:
    parts = [
        (_("the output"), _number(recipe.get("dropout_output"))),
        (_("the recurrent weights"), _number(recipe.get("dropout_weight"))),
        (_("whole characters"), _number(recipe.get("dropout_embedding"))),
    ]
    used = [_("{percent} % of {what}").format(percent=f"{100 * p:g}", what=what) for what, p in parts if p]
    if not used:
        return ""
    return _("Against learning by heart, dropout: {list}.").format(list=_(", ").join(used))


def _time(card: Mapping[str, Any]) -> str:
    seconds = _number(card.get("training_seconds"))
    if seconds is None:
        return ""
    if seconds < 90:
        n = max(1, round(seconds))
        return ngettext("Training took {n} second.", "Training took {n} seconds.", n).format(n=n)
    n = round(seconds / 60)
    return ngettext("Training took {n} minute.", "Training took {n} minutes.", n).format(n=n)


def _versions(card: Mapping[str, Any]) -> str:
    versions = card.get("versions")
    if not isinstance(versions, dict):
        return ""
    named = [f"{plain(str(k))} {plain(str(v))}" for k, v in versions.items()]
    return _("Versions: {list}.").format(list=_(", ").join(named)) if named else ""
