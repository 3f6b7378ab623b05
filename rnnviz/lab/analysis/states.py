"""States of a network over a whole corpus, streamed into one array on disk.

Shape letters: T characters, L layers, H hidden units.
"""

import os
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from numpy.lib.format import write_array_header_1_0

from rnnviz.checks import checked, text_or_file
from rnnviz.errors import EmptyTextError
from rnnviz.networks.config import check_layer, check_quantity
from rnnviz.networks.numpy_engine import NetworkReader, Weights
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.networks.progress import Progress, Reporter
from rnnviz.text import files
from rnnviz.text.decoding import Source, SourceText, warn_of_guess
from rnnviz.text.vocabulary import Vocabulary

PIECE_CHARS = 2048
"""Characters that are read at a time."""


@checked
def states(
    model: Network,
    text: str | os.PathLike[str] | BinaryIO | None = None,
    *,
    output: str | os.PathLike[str],
    path: Source | None = None,
    encoding: str | None = None,
    layer: int | None = None,
    quantity: str = "hidden",
    progress: Progress | None = None,
) -> npt.NDArray[np.float32]:
    """Write a network's states over a text, or a file, to one .npy file; return it as a read-only memory map.

    text      T characters; a str is the text itself; a `pathlib.Path` or a seekable binary file is a file
    output    the path of the new .npy file, of 4 T L H bytes, which replaces an older one once it is whole; a
              file of another kind stays
    path      a file in place of `text`; here a str is a path, too
    encoding  the file's encoding; None: found from the file
    layer     one layer, counted from 0; None: all layers
    quantity  "hidden", "cell" of an LSTM, or a gate's name
    progress  called about ten times a second with the share that is done, `.fraction`

    Returns (T, L, H) float32, or (T, H) for one layer. Row t is the state after character t, exactly that of
    `rnnviz.trace`. Neither the text of a file nor the states are ever in memory as a whole;
    `numpy.load(output, mmap_mode="r")` opens the file again. Raises ConfigError for an absent layer or
    quantity, TextError and DecodingError for an unreadable file, EmptyTextError for no text, ExportError
    where `output` can't be written.

    >>> import tempfile
    >>> import rnnviz
    >>> folder = tempfile.mkdtemp()
    >>> h = rnnviz.states(rnnviz.load("timemachine-gru"), "machine", output=f"{folder}/h.npy")
    >>> h.shape, h.dtype
    ((7, 1, 256), dtype('float32'))
    """
    text, path = text_or_file(text, path)
    output, weights = files.check_output(output, ".npy", path), weights_of(model)
    check_quantity(quantity, weights.cell)
    if layer is not None:
        check_layer(layer, len(weights.layers))
    source = SourceText(path, text, encoding, None, model.normaliser, model.vocabulary.characters)
    warn_of_guess(source.name, source.encoding, source.certainty)
    with files.replacing(output) as file:
        _write(file, weights, model.vocabulary, source, layer, quantity, Reporter(progress))
    written: npt.NDArray[np.float32] = np.load(output, mmap_mode="r")
    return written


def _write(
    file: BinaryIO,
    weights: Weights,
    vocabulary: Vocabulary,
    source: SourceText,
    layer: int | None,
    quantity: str,
    report: Reporter,
) -> None:
    reader, T = NetworkReader(weights), 0
    L, H = len(weights.layers), weights.layers[0].units
    described = {"descr": "<f4", "fortran_order": False, "shape": (0, L, H) if layer is None else (0, H)}
    write_array_header_1_0(file, described)
    reader.states(np.array([vocabulary.start]))
    for piece in source.pieces(PIECE_CHARS):
        values = reader.values(vocabulary.encode(piece), quantity)
        file.write(np.ascontiguousarray(values if layer is None else values[:, layer], "<f4").data)
        T += len(piece)
        report(source.bytes_read / max(1, source.bytes_total))
    if not T:
        raise EmptyTextError("{name} has no characters; choose another text", name=source.name)
    # The number of characters is known now; numpy's header leaves room for a first axis that has grown.
    file.seek(0)
    write_array_header_1_0(file, {**described, "shape": (T, *described["shape"][1:])})  # type: ignore[index]
    report.end()
