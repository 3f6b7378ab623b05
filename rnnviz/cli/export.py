"""`python -m rnnviz export`: a network as a PyTorch program."""

import filecmp
import sys
from pathlib import Path
from typing import Annotated

from rnnviz.cli.bind import Help
from rnnviz.errors import ConfigError, ExportError


def export(
    model: Annotated[
        str, Help("a name that `rnnviz models` lists, or a file", metavar="NAME", positional=True)
    ],
    *,
    torch: Annotated[Path, Help("the Python file to write; a copy of the weights goes beside it")],
) -> None:
    """Write a network as a PyTorch program.

    The program needs torch and safetensors, and no rnnviz. It prints the perplexity of a text, and writes on.
    """
    from rnnviz.figures import torch_network
    from rnnviz.networks import checkpoint, modelfile
    from rnnviz.text import files

    source = checkpoint.find(model)
    program = torch_network.program(checkpoint.load_numpy(source), source.name)
    file = files.check_output(torch, ".py", source, parents=True)
    if file.stem in {*sys.stdlib_module_names, "numpy", "safetensors", "torch"}:
        raise ConfigError(
            "Python would import {name} in place of the library of this name; call the file otherwise",
            name=file.name,
        )
    weights = file.with_name(source.name)
    if not weights.exists():
        modelfile.write_atomic(weights, files.read(source, modelfile.MAX_FILE))
    elif not filecmp.cmp(source, weights, shallow=False):
        raise ExportError(
            "{path} is there already, with other weights than {model}'s; name a file in another folder",
            path=weights,
            model=model,
        )
    modelfile.write_atomic(file, program.encode())
    print(f"Wrote {file} and {weights}")
