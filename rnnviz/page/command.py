"""`rnnviz page`: the live view of networks as static files that need no server."""

from pathlib import Path
from typing import Annotated, Literal

from rnnviz.cli.bind import Help
from rnnviz.errors import ConfigError
from rnnviz.text import files

Language = Annotated[Literal["en", "zh"], "of one file's words; a folder has both languages"]


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
    from rnnviz import i18n
    from rnnviz.networks import checkpoint, modelfile
    from rnnviz.page import build, folder

    named = [checkpoint.read_info(checkpoint.find(name)) for name in model or ()]
    infos = named or build.networks()
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
