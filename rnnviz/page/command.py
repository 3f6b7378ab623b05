"""`rnnviz page`: the live view of a model as one HTML file that needs no server. `rnnviz dev check-page`: a
test whether such a file is current.
"""

from pathlib import Path
from typing import Annotated, Literal

from rnnviz.cli.bind import Help
from rnnviz.cli.output import ModelArg
from rnnviz.errors import ConfigError
from rnnviz.text import files

Language = Annotated[Literal["en", "zh"], "of its words"]


def page(
    model_arg: ModelArg,
    *,
    output: Annotated[Path, Help("the HTML file to write", "-o")],
    language: Language = "en",
) -> None:
    """Write the live view of a network as one HTML file, which any browser opens without a server."""
    from rnnviz.networks import modelfile

    content, current = _build_page(
        model_arg.model, files.check_output(output, ".html", parents=True), language
    )
    # A page that is current stays byte for byte, so that a build elsewhere makes no change to commit.
    if not current:
        modelfile.write_atomic(output, content)
    done = "Current" if current else "Wrote"
    print(f"{done}: {output} ({len(content):,} bytes), {model_arg.model}")


def check_page(
    model_arg: ModelArg,
    *,
    output: Annotated[Path, Help("the HTML file that `rnnviz page` wrote", "-o")],
    language: Language = "en",
) -> None:
    """Say whether a page is what `rnnviz page` would write now; exit status 1 if it isn't."""
    if not _build_page(model_arg.model, output, language)[1]:
        raise ConfigError(
            "{file} isn't current; rebuild it: python -m rnnviz page --model {model} --output {file}",
            file=str(output),
            model=model_arg.model,
        )
    print(f"Current: {output}")


def _build_page(model: str, output: Path, language: str) -> tuple[bytes, bool]:
    """The page's bytes, and whether `output` has the same contents, see `build.comparable_page`."""
    from rnnviz import i18n
    from rnnviz.networks import checkpoint
    from rnnviz.page import build

    info = checkpoint.read_info(checkpoint.find(model))
    with i18n.speaking(language):
        page = build.page(info, checkpoint.yardstick(info.card))
    current = output.read_text("utf-8", errors="replace") if output.is_file() else ""
    return page.encode(), build.comparable_page(current) == build.comparable_page(page)
