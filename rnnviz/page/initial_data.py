"""The live view's unchanging data: words, colours, symbols, axes. Like live_session.py, this module imports
no Streamlit, because a notebook shows the same view.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rnnviz.figures import live
from rnnviz.figures.themes import LEVELS, REASON_FULL, SURPRISAL_FULL, THEMES
from rnnviz.i18n import _, language
from rnnviz.networks import contamination
from rnnviz.page import named_units, units
from rnnviz.page.examples import examples, for_view
from rnnviz.page.formatting import titles
from rnnviz.page.live_session import LIMIT
from rnnviz.page.strings import captioned, words
from rnnviz.page.themes import themes
from rnnviz.page.unit_order import FEW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rnnviz.networks.checkpoint import ModelInfo
    from rnnviz.networks.ngram import NgramModel
    from rnnviz.networks.numpy_model import Network, NumpyModel


def opening(model: Any) -> str:
    """The text to begin with: the example in the model's card, else the first of `examples()`."""
    example = model.card.get("example")
    if isinstance(example, str) and example.strip():
        return example[:LIMIT]
    return examples()[0].text


def first(found: tuple[named_units.Named, ...]) -> dict[str, Any]:
    """The heat map's first quantity and layer, and the unit that colours the text: those of the first named
    unit. Without one: hidden states of layer 0, and surprisal (`unit` None).
    """
    one = found[0] if found else None
    return {
        "quantity": one.quantity if one else "hidden",
        "layer": one.layer if one else 0,
        "unit": one.unit if one else None,
    }


def fixed(
    model: Network,
    yardstick: NgramModel | None,
    temperature: float,
    listed: Sequence[ModelInfo] = (),
    memoryless: NumpyModel | None = None,
) -> tuple[dict[str, Any], str]:
    """The unchanging part of the answers, in the session's language (see types.d.ts), and its digest.

    yardstick    the n-gram model to compare with, or None
    temperature  the sampling temperature to begin with
    listed       the models that can be chosen
    memoryless   the MLP that can be shown beside this model, or None
    """
    config, vocabulary, found = model.config, model.vocabulary, named_units.of(model)
    quantities = {name: asdict(live.scale(name, config.span)) for name in live.quantities(config.cell)}
    colours = themes(diverging=LEVELS, sequential=LEVELS, surprisal=LEVELS, reason=LEVELS)
    for name, theme in THEMES.items():
        colours[name]["figure"] = live.skeleton(theme, vocabulary_size=vocabulary.size, columns=live.COLUMNS)
    made = {
        "words": words(),
        "examples": for_view(model.card, model.name, listed),
        "language": language(),
        "model": model.name,
        "titles": titles(listed),
        "usual": contamination.usual(model.card),
        "advises": bool(listed),
        "cell": config.cell,
        "layers": config.layers,
        "units": config.hidden_size,
        "few": min(FEW, config.hidden_size),
        "listed": live.NEXT,
        "quantities": quantities,
        "named": [captioned(one, model) for one in found],
        "unnamed": "" if found else units.unnamed(model.card),
        "first": first(found),
        "symbols": list(vocabulary.characters),
        "ngram": _("{order}-gram").format(order=yardstick.order) if yardstick else None,
        "order": yardstick.order if yardstick else 0,
        "memoryless": memoryless.name if memoryless else None,
        "themes": colours,
        "surprisalFull": SURPRISAL_FULL,
        "reasonFull": REASON_FULL,
        "limit": LIMIT,
        "temperature": temperature,
    }
    return made, hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()[:12]
