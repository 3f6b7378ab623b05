"""`python -m rnnviz sample`: continue a text."""

import sys
from typing import Annotated

from rnnviz.cli.bind import Help
from rnnviz.cli.output import STANDARD_INPUT, ModelOnDevice, load, read_text


def sample(
    model_arg: ModelOnDevice,
    *,
    prompt: Annotated[str, Help("the text to continue; - reads standard input (default: none)", "-p")] = "",
    length: Annotated[int, Help("characters to write", "-n")] = 500,
    temperature: Annotated[float, Help("below 1 tamer, above 1 wilder (default: 1)", "-t")] = 1.0,
    top_k: Annotated[int | None, "choose among the k most probable characters only (default: all)"] = None,
    top_p: Annotated[
        float | None,
        "choose among the fewest characters that hold this share of the probability (default: all)",
    ] = None,
    seed: Annotated[
        int | None, "the same seed writes the same text (default: none, another text each time)"
    ] = None,
) -> None:
    """Continue a text."""
    from rnnviz.scoring.sampling import stream

    model = load(model_arg, one_text=True)
    prompt = read_text(STANDARD_INPUT, None) if prompt == STANDARD_INPUT else prompt
    characters = stream(model, prompt, length, temperature=temperature, top_k=top_k, top_p=top_p, seed=seed)
    sys.stdout.write(prompt)
    for character in characters:
        sys.stdout.write(character)
        sys.stdout.flush()
    sys.stdout.write("\n")
