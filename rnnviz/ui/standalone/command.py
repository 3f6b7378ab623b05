"""`python -m rnnviz page`: the Explore view of a model as one HTML file that needs no server."""

from pathlib import Path
from typing import Annotated, Literal

from rnnviz.cli.output import Named
from rnnviz.errors import ConfigError


def page(
    of: Named,
    *,
    output: Annotated[Path, "the HTML file to write"],
    check: Annotated[bool, "write nothing; exit status 1 if the file isn't what would be written"] = False,
    language: Annotated[Literal["en", "zh"], "of its words"] = "en",
) -> int:
    """Write the live view of a network as one HTML file, which any browser opens without a server."""
    from rnnviz import i18n
    from rnnviz.networks import checkpoint, modelfile
    from rnnviz.ui.standalone import build

    info = checkpoint.read_info(checkpoint.find(of.model))
    with i18n.speaking(language):
        made = build.page(info, build.yardstick(info))
    content = made.encode()
    # What is packed may be other bytes elsewhere; a file that holds the same is left as it is.
    there = output.read_text("utf-8", errors="replace") if output.is_file() else ""
    current = build.contents(there) == build.contents(made)
    if check and not current:
        raise ConfigError(
            "{file} isn't current; rebuild it: python -m rnnviz page --model {model} --output {file}",
            file=str(output),
            model=of.model,
        )
    if not current:
        modelfile.write_atomic(output, content)
    done = "Current" if current else "Wrote"
    print(f"{done}: {output} ({len(content):,} bytes), {info.name}")
    return 0
