"""`rnnviz page`: the live view of networks as static files that need no server."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from rnnviz.cli.bind import Help
from rnnviz.errors import ConfigError, install
from rnnviz.text import files

Language = Annotated[Literal["en", "zh"], "of one file's words; a folder has both languages"]


@contextmanager
def require_packages(command: str) -> Iterator[None]:
    """Raise ConfigError where an import shows that a package of the extra "app" is missing."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] == "rnnviz":
            raise
        raise ConfigError(
            "{command} needs {name}, which isn't installed: {installing} installs it",
            command=command,
            name=missing.name,
            installing=install("app"),
        ) from missing


def page(
    *,
    output: Annotated[Path, Help("the folder to write, or NAME.html for one file", "-o")],
    model: Annotated[
        list[str] | None,
        Help(
            "a network of the page, by name or file; may be repeated (default: all)",
            "-m",
            metavar="NAME",
        ),
    ] = None,
    language: Language = "en",
) -> None:
    """Write the live view of networks as static files: a folder for any web server, or one HTML file.

    One file holds one network, and opens without a server too.
    """
    with require_packages("page"):
        _write(output, model or (), language)


def _write(output: Path, model: Sequence[str], language: str) -> None:
    from rnnviz import i18n
    from rnnviz.networks import checkpoint, modelfile
    from rnnviz.page import build, folder

    infos = [checkpoint.read_info(checkpoint.find(name)) for name in model] or build.networks()
    if output.suffix != ".html":
        written = folder.write(output, build.folder_files(infos))
        print(f"Wrote {output}: {len(written)} files, {sum(written.values()):,} bytes, {len(infos)} networks")
        return
    if len(infos) != 1:
        raise ConfigError(
            "one HTML file holds one network; received {n}. Name one with --model, or write a folder",
            n=len(infos),
        )
    file = files.check_output(output, ".html", parents=True)
    with i18n.speaking(language):
        content = build.single_file(infos[0]).encode()
    modelfile.write_atomic(file, content)
    print(f"Wrote {file}: {len(content):,} bytes, {infos[0].name}")
