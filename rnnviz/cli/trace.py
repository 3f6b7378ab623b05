"""`python -m rnnviz trace`: a network's prediction at every character of a text; or, with --quantity, its
states and gates.

Without --quantity a row a character; with it a row a character, layer, unit and quantity, as in
`Trace.states_frame`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import rnnviz
from rnnviz.cli.bind import Help
from rnnviz.cli.output import ModelArg, TextArg, json_line, load_network, read_text_arg
from rnnviz.errors import ConfigError
from rnnviz.text import files

Columns = dict[str, Any]
"""A stretch of a table: columns (n,) by name."""

FORMATS = ("csv", "json", "npz", "parquet")
BINARY_FORMATS = ("npz", "parquet")
ROWS_PER_CHUNK = 1 << 18  # one row group of a Parquet file


def trace(
    source: TextArg,
    model_arg: ModelArg,
    *,
    quantity: Annotated[
        list[str] | None,
        Help(
            "write these values of the units instead: hidden, cell, or a gate's name, again for more "
            "(default: what the network expected)",
            metavar="NAME",
        ),
    ] = None,
    layer: Annotated[int | None, "with --quantity: one layer, counted from 0 (default: all)"] = None,
    format: Annotated[
        Literal["csv", "json", "npz", "parquet"] | None,
        "csv, json, npz or parquet (default: as the ending of --output says, or csv)",
    ] = None,
    output: Annotated[
        str | None,
        Help("the file to write (default: standard output)", "-o", metavar="FILE"),
    ] = None,
) -> None:
    """Show what a network expected at every character of a text.

    examples:
      python -m rnnviz trace "machine" --model timemachine-gru
      python -m rnnviz trace --file book.txt --model timemachine-gru --quantity hidden --quantity update \\
          --layer 0 --output states.parquet
      python -m rnnviz trace "machine" --model timemachine-gru --output machine.npz

    Without --quantity, a row a character: position, which counts from 1, character, nll, rank, entropy, and
    index, the position counted from 0. nll and entropy are in nats, entropy is that of the prediction which
    the character met, rank 1 is the most probable.

    With --quantity, a row for each value: position, character, layer, unit, quantity, value; positions,
    layers and units count from 0. JSON has instead a list of characters x layers x units by quantity. An npz
    file is the whole trace, for rnnviz.Trace.load or numpy.load, with the gates that --quantity names.
    """
    from rnnviz.figures import export

    file_format = _choose_format(quantity, layer, format, output)
    if output is not None:
        files.check_output(output, f".{file_format}", source.file)
    network_trace = rnnviz.trace(load_network(model_arg), read_text_arg(source))
    table = States(network_trace, tuple(quantity), layer) if quantity else Predictions(network_trace)
    with files.replacing(sys.stdout.buffer if output is None else output) as file:
        if file_format == "npz":
            file.write(network_trace.to_bytes(*quantity or ()))
        elif file_format == "json":
            about = {"model": network_trace.model_name, "text": network_trace.text}
            file.write(f"{json_line({**about, **table.to_json()})}\n".encode())
        elif file_format == "csv":
            export.write_csv(file, table.chunks())
        else:
            export.write_parquet(file, table.chunks())
    if output is not None:
        print(f"Wrote {output} ({Path(output).stat().st_size:,} bytes): {len(network_trace):,} characters")


def _choose_format(
    quantity: list[str] | None, layer: int | None, format: str | None, output: str | None
) -> str:
    """The requested format. Raises ConfigError for one that doesn't fit the other options."""
    ending = Path(output or "").suffix.lower().removeprefix(".")
    file_format: str = format or (ending if ending in FORMATS else "csv")
    if layer is not None and not quantity:
        raise ConfigError(
            "--layer {layer} chooses among the values of --quantity; add --quantity hidden", layer=layer
        )
    if layer is not None and file_format == "npz":
        raise ConfigError(
            "an npz file holds all layers; leave out --layer {layer}, or write csv, json or parquet",
            layer=layer,
        )
    if output is None and file_format in BINARY_FORMATS and sys.stdout.isatty():
        raise ConfigError(
            "{format} is no text and would garble the terminal; name a file with --output", format=file_format
        )
    return file_format


# The tables. Each format's writer takes either one: `chunks` for CSV and Parquet, which are written piece by
# piece because a book's states outgrow the memory as rows, and `to_json` for JSON, which is one object.


@dataclass(frozen=True)
class Predictions:
    """What the network expected: a row for each character."""

    trace: rnnviz.Trace

    def chunks(self) -> Iterator[Columns]:
        """The columns (T,) of `Trace.frame` without the likeliest characters; `position` counts from 1."""
        columns = {name: values.tolist() for name, values in self.trace.columns(k=0).items()}
        yield {**columns, "position": range(1, len(self.trace) + 1), "index": columns["position"]}

    def to_json(self) -> Columns:
        """The rows as a list of objects."""
        (columns,) = self.chunks()
        rows = zip(*columns.values(), strict=True)
        return {"characters": [dict(zip(columns, row, strict=True)) for row in rows]}


@dataclass(frozen=True)
class States:
    """The values of the units, by quantity; of one `layer`, or None for all.

    Raises ConfigError for an absent quantity or layer, so that no file is begun for it.
    """

    trace: rnnviz.Trace
    quantities: Sequence[str]
    layer: int | None

    def __post_init__(self) -> None:
        self._columns(0, 0, *self.quantities)

    def _columns(self, start: int, stop: int, *quantities: str) -> Columns:
        from rnnviz.scoring import frames

        values = {name: self.trace.values(name)[start:stop] for name in quantities}
        return frames.columns(self.trace.text[start:stop], values, self.layer, None)

    def chunks(self) -> Iterator[Columns]:
        """The rows of `Trace.states_frame`: at most ROWS_PER_CHUNK at a time, or those of one character."""
        for name in self.quantities:
            _, L, H = self.trace.values(name).shape
            characters = max(1, ROWS_PER_CHUNK // (H * (L if self.layer is None else 1)))
            for start in range(0, max(1, len(self.trace)), characters):  # no text gives a table without rows
                columns = self._columns(start, start + characters, name)
                yield {**columns, "position": columns["position"] + start}

    def to_json(self) -> Columns:
        """Lists of characters x layers x units, by quantity."""
        layers = list(range(self.trace.hidden.shape[1])) if self.layer is None else [self.layer]
        values = {name: self.trace.values(name)[:, layers].tolist() for name in self.quantities}
        return {"layers": layers, "quantities": values}
