"""`python -m rnnviz models`: the models on this machine."""

from typing import Annotated, Any

from rnnviz.cli.bind import ExclusiveGroup, Help
from rnnviz.cli.output import complain, json_line, print_table
from rnnviz.networks.checkpoint import available

FORMATS = ExclusiveGroup()


def models(
    *,
    json: Annotated[bool, Help("one JSON object a model, with its card", one_of=FORMATS)] = False,
    markdown: Annotated[bool, Help("a page of cards, as in models/README.md", one_of=FORMATS)] = False,
) -> None:
    """List the models on this machine."""
    infos, damaged = available()
    if json:
        for info in infos:
            print(json_line({**vars(info), "path": str(info.path)}))
    elif markdown:
        from rnnviz.networks.model_card import models_page

        print(models_page(infos), end="")
    elif infos:
        print_table(
            ("name", "kind", "V", "parameters", "perplexity", "size", "title"),
            [_row(info.card, info.name, info.kind, info.vocabulary_size, info.bytes) for info in infos],
            numbers=range(2, 6),
        )
    for file in damaged:
        complain(file.reason)
    if not infos:
        complain("no models here; train one, or name a folder of models in RNNVIZ_MODELS")


def _row(card: dict[str, Any], name: str, kind: str, symbols: int, size: int) -> tuple[str, ...]:
    held_out = card.get("held_out")
    perplexity = held_out.get("perplexity") if isinstance(held_out, dict) else None
    parameters = card.get("parameters")
    return (
        name,
        kind,
        f"{symbols:,}",
        f"{parameters:,}" if isinstance(parameters, int) else "",
        f"{perplexity:.3f}" if isinstance(perplexity, int | float) else "",
        f"{size / 1e6:.1f} MB",
        str(card.get("title") or card.get("corpus") or ""),
    )
