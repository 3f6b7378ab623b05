"""`python -m rnnviz trace`: a network's prediction at every character of a text; or, with --quantity, its
states and gates.

Without --quantity a row a character; with it a row a character, layer, unit and quantity, as in
`Trace.states_frame`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
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
BINARY = ("npz", "parquet")
ROWS = 1 << 18  # rows at a time: one row group of a Parquet file


def trace(
    source: TextArg,
    of: ModelArg,
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
    from rnnviz.scoring import frames

    chosen = _format(quantity, layer, format, output)
    if output is not None:
        files.check_output(output, f".{chosen}", source.file)
    model = load_network(of)
    traced = rnnviz.trace(model, read_text_arg(source))
    asked = {name: traced.values(name) for name in quantity or ()}
    if asked:
        # Raises for an absent layer before any file is written.
        frames.columns("", {name: values[:0] for name, values in asked.items()}, layer, None)
    _write(chosen, traced, asked, layer, output)
    if output is not None:
        print(f"Wrote {output} ({Path(output).stat().st_size:,} bytes): {len(traced):,} characters")


def _write(chosen: str, traced: rnnviz.Trace, asked: Columns, layer: int | None, output: str | None) -> None:
    from rnnviz.figures import export

    stretches = _values(traced, asked, layer) if asked else iter([_expected(traced)])
    with files.replacing(sys.stdout.buffer if output is None else output) as file:
        if chosen == "npz":
            file.write(traced.to_bytes(*asked))
        elif chosen == "json":
            file.write(f"{json_line(_object(traced, asked, layer))}\n".encode())
        elif chosen == "csv":
            export.write_csv(file, stretches)
        else:
            export.write_parquet(file, stretches)


def _format(quantity: list[str] | None, layer: int | None, format: str | None, output: str | None) -> str:
    """The requested format. Raises ConfigError for one that doesn't fit the other options."""
    ending = Path(output or "").suffix.lower().removeprefix(".")
    chosen: str = format or (ending if ending in FORMATS else "csv")
    if layer is not None and not quantity:
        raise ConfigError(
            "--layer {layer} chooses among the values of --quantity; add --quantity hidden", layer=layer
        )
    if layer is not None and chosen == "npz":
        raise ConfigError(
            "an npz file holds all layers; leave out --layer {layer}, or write csv, json or parquet",
            layer=layer,
        )
    if output is None and chosen in BINARY and sys.stdout.isatty():
        raise ConfigError(
            "{format} is no text and would garble the terminal; name a file with --output", format=chosen
        )
    return chosen


# what to write


def _expected(traced: rnnviz.Trace) -> Columns:
    """The columns (T,) of `Trace.frame` without the most probable characters; `position` counts from 1."""
    found = {name: values.tolist() for name, values in traced.columns(k=0).items()}
    return {**found, "position": range(1, len(traced) + 1), "index": found["position"]}


def _values(traced: rnnviz.Trace, asked: Columns, layer: int | None) -> Iterator[Columns]:
    """The rows of `Trace.states_frame`, at most ROWS at a time or those of one character."""
    from rnnviz.scoring import frames

    for name, values in asked.items():
        each = values.shape[2] * (values.shape[1] if layer is None else 1)
        step = max(1, ROWS // each)
        for start in range(0, max(1, len(traced)), step):  # no characters give a table without rows
            stop = start + step
            rows = frames.columns(traced.text[start:stop], {name: values[start:stop]}, layer, None)
            yield {**rows, "position": rows["position"] + start}


def _object(traced: rnnviz.Trace, asked: Columns, layer: int | None) -> Columns:
    about = {"model": traced.model_name, "text": traced.text}
    if not asked:
        columns = _expected(traced)
        rows = zip(*columns.values(), strict=True)
        return {**about, "characters": [dict(zip(columns, row, strict=True)) for row in rows]}
    layers = list(range(traced.hidden.shape[1])) if layer is None else [layer]
    return {
        **about,
        "layers": layers,
        "quantities": {name: values[:, layers].tolist() for name, values in asked.items()},
    }
