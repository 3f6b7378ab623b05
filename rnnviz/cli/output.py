"""Common parts of the commands: models, files, progress, and printing."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shlex
import sys
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal

import rnnviz
from rnnviz.cli.bind import ExclusiveGroup, Help
from rnnviz.errors import ConfigError, EmptyTextError, TextError
from rnnviz.findings import Finding, Number, Sentence, stack_tables
from rnnviz.networks import engines
from rnnviz.networks.cells import CELLS
from rnnviz.networks.checkpoint import load_numpy
from rnnviz.text.files import printable, without_folders

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import Model, NumpyModel

STANDARD_INPUT = "-"


def complain(message: str) -> None:
    """Print one line on standard error."""
    print(f"rnnviz: {printable(message)}", file=sys.stderr)


def command_line(*paths: str | os.PathLike[str] | None) -> str:
    """This command as given, for a shared card: `paths` are shortened to their names."""
    # A card is shared with the model: folders would tell a reader's name and how their disk is arranged.
    file_names = {Path(path): Path(path).name for path in paths if path}

    def shorten(word: str) -> str:
        option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
        return option + equals + file_names.get(Path(value), value)

    return without_folders("python -m rnnviz " + shlex.join(map(shorten, sys.argv[1:])))


def warn_guessed_encoding(file: str, encoding: str | None, certainty: str | None) -> None:
    """Warn that a file's encoding was guessed: a wrong guess gives plausible figures too."""
    if certainty == "guessed":
        complain(
            f"{file} is not UTF-8 and says no other encoding; it is read as {encoding}, a guess; if that is "
            "wrong, name it with --encoding"
        )


@dataclass(frozen=True)
class ModelArg:
    """A model, by name or file."""

    model: Annotated[str, Help("a name that `rnnviz models` lists, or a file", "-m", metavar="NAME")]


@dataclass(frozen=True)
class ModelOnDevice(ModelArg):
    """A model, and where torch runs it."""

    device: Annotated[str, "auto, cpu or cuda (default: auto, a GPU where there is one)"] = "auto"


TEXT_OR_FILE, CORPUS_OR_FILE = ExclusiveGroup(required=True), ExclusiveGroup(required=True)
"""Options of which one is required: TEXT or --file, and --corpus or --file."""


@dataclass(frozen=True)
class TextArg:
    """A text, or a file of one."""

    text: Annotated[
        str | None, Help("the text to read", metavar="TEXT", positional=True, one_of=TEXT_OR_FILE)
    ] = None
    file: Annotated[
        str | None, Help("read the text from a file; - reads standard input", "-f", one_of=TEXT_OR_FILE)
    ] = None
    encoding: Annotated[str | None, "the file's encoding (default: found)"] = None


@dataclass(frozen=True)
class CorpusArg:
    """A text to search: a corpus's held-out part, or a whole file."""

    corpus: Annotated[
        str | None,
        Help(
            "a corpus's name or the text file of one: its held-out part, the last 10 %, is read",
            one_of=CORPUS_OR_FILE,
        ),
    ] = None
    file: Annotated[
        str | None,
        Help("a text file, of which all is read; - reads standard input", "-f", one_of=CORPUS_OR_FILE),
    ] = None
    encoding: Annotated[str | None, "the file's encoding (default: found)"] = None


@dataclass(frozen=True)
class ProgressOptions:
    """Whether to show progress."""

    quiet: Annotated[bool, Help("show no progress; results, errors and warnings stay", "-q")] = False


@dataclass(frozen=True)
class JsonOptions:
    """The form of a command's results."""

    json: Annotated[bool, "print JSON: one object for each result, with more in it"] = False


@dataclass(frozen=True)
class OutputOptions(JsonOptions, ProgressOptions):
    """The same for a command with progress."""


Unclosed = Annotated[
    Literal["paragraph", "line"],
    "where quotes and brackets end that are never closed: paragraph or line",
]


def read_text_arg(source: TextArg) -> str:
    """The text of a positional TEXT, or of --file."""
    return source.text or "" if source.file is None else read_text(source.file, source.encoding)


def parse_integers(text: str) -> list[int]:
    """Whole numbers with commas between them, for argparse."""
    return [int(number) for number in text.split(",")]


def load(model_arg: ModelOnDevice, name: str | None = None, *, one_text: bool = False) -> Model:
    """The model of --model, or the one called `name`, to score texts, or to read one (`one_text`).

    Without a GPU torch, whose import takes seconds, computes it only where it is faster.
    """
    from rnnviz.networks.ngram import NgramModel

    model_name = model_arg.model if name is None else name
    # numpy reads one short text at once; torch pays off for many texts, where its cell's layer is faster.
    if model_arg.device == "cpu" or (model_arg.device == "auto" and not engines.gpu_driver()):
        model = load_numpy(model_name)
        if one_text or isinstance(model, NgramModel) or not CELLS[model.config.cell].faster_in_torch:
            return model
    return rnnviz.load(model_name, device=model_arg.device)


def load_network(model_arg: ModelArg) -> NumpyModel:
    """The network of --model, without torch, whose import takes seconds. Raises ConfigError for an n-gram
    model.
    """
    from rnnviz.networks.ngram import NgramModel

    model = load_numpy(model_arg.model)
    if isinstance(model, NgramModel):
        raise ConfigError(
            "this command looks inside a network; {model} counts n-grams and has no hidden state; choose "
            "another that `rnnviz models` lists",
            model=model_arg.model,
        )
    return model


def open_input(file: str) -> str | BinaryIO:
    """The path; of standard input or another pipe, a seekable copy, which moves to disk once it is large.
    Raises TextError for a closed standard input.
    """
    from rnnviz.text.decoding import copied, from_pipe

    if file == STANDARD_INPUT and sys.stdin is None:
        raise TextError("standard input is closed; give a file, or a text by a pipe")
    return copied(sys.stdin.buffer, file) if file == STANDARD_INPUT else from_pipe(file, file)


def read_text(file: str, encoding: str | None) -> str:
    """All of a file, or of standard input."""
    from rnnviz.text.decoding import open_text

    stream = open_text(open_input(file), encoding=encoding)
    warn_guessed_encoding(file, stream.encoding, stream.certainty)
    return "".join(stream)


def read_corpus_arg(source: CorpusArg, *, whole: bool = False) -> str:
    """The whole of --file, or --corpus's held-out part; `whole`: all of it. Raises EmptyTextError,
    ConfigError.
    """
    if source.file is not None:
        text = read_text(source.file, source.encoding)
        if not text:
            raise EmptyTextError(
                "{file} is empty: there is nothing to search; give a longer text", file=source.file
            )
        return text
    from rnnviz.text.corpora import named_or_file

    if source.encoding is not None:
        raise ConfigError(
            "--encoding says how to read --file; it does nothing with --corpus, so leave it out"
        )
    corpus = named_or_file(source.corpus or "")
    return corpus.text if whole else corpus.split().held_out or corpus.text


@contextlib.contextmanager
def progress_bar(
    title: str,
    options: ProgressOptions,
    note: Callable[[Any], str] = lambda step: "",
    *,
    transient: bool = True,
) -> Iterator[Callable[[Any], None] | None]:
    """A callback for `progress=`, which draws the share done, `.fraction`, as a bar on standard error, with
    `note` of a step after it. None without a terminal, or with --quiet.
    """
    if options.quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn(escape(printable(title))),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=transient) as bar:
        task = bar.add_task("", total=1.0, note="")
        yield lambda step: bar.update(task, completed=step.fraction, note=note(step))


def json_line(values: Any) -> str:
    """One line of JSON; NaN and infinities become null."""
    return json.dumps(finite_values(values), allow_nan=False)


def finite_values(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: finite_values(v) for k, v in value.items()}
    if isinstance(value, list):
        return [finite_values(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# Levels of sentences on standard output. Cautions go to standard error; hints are of use on a page alone.
OUTPUT_LEVELS = ("said", "aside", "detail")


def print_findings(
    findings: Sequence[Finding],
    options: JsonOptions,
    heading: Sentence | None = None,
    extra: Callable[[Any], dict[str, Any]] = lambda finding: {},
    *,
    levels: Container[str] = OUTPUT_LEVELS,
    table: bool = True,
    **fixed: object,
) -> None:
    """Print findings of one class: with --json one object each, with the command's `fixed` values first and
    the finding's `extra` ones last. Otherwise a table under a heading, and for a single finding its sentences
    of these `levels`. Cautions go to standard error.
    """
    from rnnviz import sentences

    sentences_said = [sentence for finding in findings for sentence in finding.sentences()]
    for sentence in sentences_said:
        if sentences.level(sentence) == "caution":
            complain(terminal_text(sentence))
    if options.json:
        for finding in findings:
            print(json_line({**fixed, **finding.facts(), **extra(finding)}))
        return
    if heading is not None:
        print(terminal_text(heading))
    if table:
        print_tables(findings)
    if len(findings) == 1:
        for sentence in sentences_said:
            if sentences.level(sentence) in levels:
                print(terminal_text(sentence))


def print_tables(findings: Sequence[Finding]) -> None:
    """Print the tables of findings of one class as one table, if it has rows."""
    table = stack_tables([finding.table() for finding in findings])
    right = {n for row in table.rows for n, cell in enumerate(row) if isinstance(cell, Number)}
    if table.rows:
        rows = [[terminal_text(cell) for cell in row] for row in table.rows]
        print_table([terminal_text(column) for column in table.columns], rows, right)


def terminal_text(value: object) -> str:
    """A sentence, words or a number in the terminal's language."""
    from rnnviz import sentences

    return "" if value is None else sentences.describe(value, sentences.terminal_language(), marked=False)


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Container[int] = ()) -> None:
    """Print a table, never wrapped; columns in `numbers` are right-aligned."""
    from rich.cells import cell_len  # counts cells: a Chinese character is two wide

    table = [[printable(cell) for cell in row] for row in (head, *rows)]
    widths = [max(map(cell_len, column)) for column in zip(*table, strict=True)]
    for row in table:
        padding = [" " * (width - cell_len(text)) for text, width in zip(row, widths, strict=True)]
        cells = [
            p + text if n in numbers else text + p
            for n, (text, p) in enumerate(zip(row, padding, strict=True))
        ]
        print("  ".join(cells).rstrip())
