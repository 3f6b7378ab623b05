"""How the settings of a model were chosen, as a file has it and as a card."""

from typing import Any

RECIPE = {
    "corpus": "smiles.txt",
    "cell": "gru",
    "hidden_size": 8,
    "embedding_size": 4,
    "batch": 2,
    "steps": 10,
}


def candidate(perplexity: float, epochs: int) -> dict[str, Any]:
    settings = {**RECIPE, "epochs": epochs, "seed": 1}
    return {
        "settings": settings,
        "validation_perplexity": perplexity,
        "characters": 400 * epochs,
        "seconds": 1,
    }


CANDIDATES = [candidate(9.5, 2), candidate(9.25, 1), candidate(float("nan"), 4)]

TABLE = [
    {"settings": {"epochs": 1}, "validation_perplexity": 9.25, "characters": 400, "chosen": True},
    {"settings": {"epochs": 2}, "validation_perplexity": 9.5, "characters": 800},
]
