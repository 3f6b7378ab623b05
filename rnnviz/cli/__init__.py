"""The command line, `python -m rnnviz COMMAND`: each command is one typed function in its own file.

Results go to standard output, all else to standard error. Exit codes: 0 success; 1 failure, in one line on
standard error; 2 misspelt command; 130 Ctrl-C. Commands import late: `--help` and `models` answer at once.
"""

import argparse
import contextlib
import errno
import os
import sys
import warnings
from collections.abc import Callable, Sequence

from rnnviz import __version__, registry
from rnnviz.cli import bind, export, models, perplexity, sample, trace
from rnnviz.cli.output import complain
from rnnviz.errors import RnnvizError, TorchMissingError

EXIT_INTERRUPTED = 130  # 128 + SIGINT: a shell expects it after Ctrl-C

Command = Callable[..., int | None]

COMMANDS: tuple[Command, ...] = (
    perplexity.perplexity,
    sample.sample,
    trace.trace,
    models.models,
    export.export,
)

COMMANDS_HELP = """\
usage: rnnviz [-h] [--version] COMMAND ...

Train character-level recurrent language models and look inside them.

look     app           open the app in a browser, as rnnviz alone does
         trace         what a network expected at each character, its states
         models        the models on this machine
score    perplexity    score text files
         sample        continue a text
train    train         train a model on a text
inside   units         which units respond to something in a text
         probe         is something held by one unit, or by many together
         match         where else the same units are on as in a passage
         patch         put a state into the reading of another text
         attribute     what each character adds to a prediction
         connectivity  how far back predictions reach
         ablate        how much worse it predicts without each unit
         perturb       how long a changed character is remembered
share    host          show a class the page and the lecture's questions
         page          write the page without a server
         export        write a network as a PyTorch program
dev                    what maintainers use: rnnviz dev --help

rnnviz COMMAND --help says more of one.
"""


def run(*more_commands: Command, develop: Sequence[Command] = ()) -> None:
    """Run the command in sys.argv and exit with its code. `more_commands` are those of higher rooms,
    `develop` those under `dev`.
    """
    warnings.showwarning = lambda message, *_, **__: complain(str(message))  # without path and code
    # Python hides a DeprecationWarning outside a script; here another model would be scored without a word.
    warnings.filterwarnings("once", r"the model \S+ is replaced by", DeprecationWarning)
    sys.exit(main(more_commands=more_commands, develop=develop))


def main(
    arguments: Sequence[str] | None = None,
    more_commands: Sequence[Command] = (),
    develop: Sequence[Command] = (),
) -> int:
    """Run one command. Returns its exit code; a misspelt command exits with 2."""
    # A terminal of Windows, or one with LANG=C, can't show every character of a model's vocabulary.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # an unencodable character becomes its code point
            stream.reconfigure(errors="backslashreplace")
    try:
        parser = _build_parser(more_commands, develop)
        try:
            args = parser.parse_args(arguments)
        finally:
            sys.stdout.flush()  # --help exits here; a closed pipe must fail inside the try
        if args.run is None:
            parser.error("name a command, such as app, which opens the app; rnnviz --help lists them")
        code: int | None = args.run(args)
        sys.stdout.flush()
        return code or 0
    except RnnvizError as error:
        complain(str(error))
        return 1
    except ModuleNotFoundError as error:
        # The lab imports torch only where it computes, so a missing one shows here.
        if error.name != "torch":
            raise
        complain(str(TorchMissingError()))
        return 1
    except KeyboardInterrupt:
        complain("stopped")
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader closed the pipe, as `| head` does
        _discard_output()
        return 0
    except OSError as error:
        # A full disk, a broken one, an exhausted quota: matters of the machine. Any other is a fault of ours.
        if error.errno not in (errno.ENOSPC, errno.EIO, errno.EDQUOT):
            raise
        _discard_output()
        complain(f"the output can't be written: {error.strerror}")
        return 1


def _discard_output() -> None:
    """Discard the remaining output, because standard output takes no more."""
    # Python flushes standard output once more as it exits, and would print a second error.
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _MainParser(argparse.ArgumentParser):
    """The parser of all commands, with hand-written help: argparse has no groups of commands."""

    def format_help(self) -> str:
        return COMMANDS_HELP


def _build_parser(
    more_commands: Sequence[Command] = (), develop: Sequence[Command] = ()
) -> argparse.ArgumentParser:
    parser = _MainParser(prog="rnnviz", usage="rnnviz [-h] [--version] COMMAND ...")
    parser.add_argument("--version", action="version", version=f"rnnviz {__version__}")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(metavar="COMMAND", prog="rnnviz", parser_class=argparse.ArgumentParser)
    for command in (*COMMANDS, *registry.commands(), *more_commands):
        bind.add_command(commands, command)
    dev_commands = commands.add_parser("dev", description="What maintainers use.").add_subparsers(
        metavar="COMMAND", required=True
    )
    for command in (*registry.dev_commands(), *develop):
        bind.add_command(dev_commands, command)
    return parser
