"""`python -m rnnviz train`: trains a model, from a terminal or from the app. A run is a folder (see
rnnviz.runs). Ctrl-C ends it after its step, saves, and says how to resume.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from rnnviz.cli.bind import flatten
from rnnviz.cli.output import Quiet, command_line, complain, progress_bar
from rnnviz.errors import ConfigError, CorpusError, TrainingError
from rnnviz.networks import checkpoint, has_torch, modelfile
from rnnviz.networks.cells import CELLS
from rnnviz.networks.config import TrainConfig, gone
from rnnviz.runs import choice, process, tensorboard
from rnnviz.runs.folder import Description, RunFolder, home
from rnnviz.runs.stop import EXIT_INTERRUPTED


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the `train` command."""
    parser = subparsers.add_parser(
        "train",
        help="train a model on a text",
        description="Train a character model and write it as one file, with its recipe recorded in it.",
        epilog="Ctrl-C stops after the current step and saves; go on with --resume RUN_DIR. Precision, "
        "threads and engine that aren't given are found by a trial of a second as the run begins.",
    )
    _add(parser, OPTIONS)
    flatten(parser, Quiet)
    parser.add_argument(
        "--resume", type=Path, metavar="RUN_DIR", help="resume a stopped run; no other option is needed"
    )
    parser.add_argument(
        "--ngram", metavar="NAME", help="the n-gram model to compare with on the held-out text"
    )
    parser.add_argument(
        "--choice",
        type=Path,
        metavar="FILE",
        help="the candidates that these settings were chosen from on validation text, as JSON, for the card",
    )
    parser.add_argument(
        "--watch",
        "--probe",
        dest="probe",
        metavar="SENTENCE",
        help="the sentence to watch: its hidden states are kept while the model learns, and each sample text "
        "goes on from it (--probe is the same)",
    )
    parser.add_argument(
        "--log-to",
        metavar="tensorboard",
        help="write the figures for TensorBoard too, which an extra of the same name installs",
    )
    parser.add_argument("--lock", type=int, help=argparse.SUPPRESS)  # the lock's descriptor, from the app
    recipe = parser.add_argument_group("recipe (defaults of rnnviz.TrainConfig)")
    recipe.add_argument(
        "--cell",
        type=_cell,
        choices=(*CELLS, "ngram"),
        help=f"the network's cell; ngram counts instead (default: {TrainConfig.cell})",
    )
    _add(recipe, tuple((flag, kind, text + _default(flag)) for flag, kind, text in RECIPE))
    parser.set_defaults(run=main, device="auto", half=False, probe="", queued=False, order=6)


def _cell(name: str) -> str:
    if (error := gone(name)) is not None:
        raise argparse.ArgumentTypeError(str(error))
    return name


def _default(flag: str) -> str:
    """What the recipe has where this option is not given."""
    value = getattr(TrainConfig, flag[2:].replace("-", "_"))
    said = "no" if value is False else value if isinstance(value, str) else f"{value:g}"
    return f" (default: {said})"


def _add(group: Any, options: tuple[tuple[str, Any, str], ...]) -> None:
    for flag, kind, text in options:
        how: dict[str, Any] = {"action": "store_true"} if kind is bool else {"type": kind}
        group.add_argument(flag, default=None, help=text, **how)


OPTIONS: tuple[tuple[str, Any, str], ...] = (
    ("--corpus", str, "a corpus's name (python-source, python-docs, machine, …) or a text file"),
    ("--name", str, "the model's name (letters, digits, '-', '_', '.')"),
    ("--output", Path, "the model file to write (default: NAME.safetensors)"),
    ("--run-dir", Path, "the run's folder (default: runs/NAME, or in RNNVIZ_RUNS)"),
    ("--device", str, "auto, cpu or cuda (default: auto)"),
    ("--threads", int, "processor threads, to resume bit for bit (default: as many as prove fastest now)"),
    (
        "--engine",
        str,
        "whose backward pass computes: torch, numba, or auto: the fastest in a trial",
    ),
    ("--half", bool, "store the weights as float16"),
    ("--title", str, "the text's title, for the card"),
    ("--licence", str, "the text's licence, for the card"),
    ("--language", str, "the text's language as a BCP 47 code (en, zh, python), for the card"),
    ("--example", str, "the text the app shows first with this model"),
    ("--minutes", float, "train for this long instead of --epochs; the speed is measured first"),
    ("--queued", bool, "wait in the queue for a turn, and leave the processor to other programs"),
    ("--no-units", bool, "don't look for units that respond to something in the finished network"),
    ("--order", int, "with --cell ngram: the order, 1 to 6 (default: 6)"),
)
RECIPE: tuple[tuple[str, Any, str], ...] = (
    ("--hidden-size", int, "H, units per layer"),
    ("--layers", int, "L, layers"),
    ("--embedding-size", int, "width of X_t; 0 for one-hot"),
    ("--activation", str, "tanh or relu, for mlp and rnn"),
    ("--tied", bool, "W_hq is the embedding's transpose"),
    ("--train-on", str, "train (85 %%, best on the next 5 %%) or train+validation (90 %%)"),
    ("--epochs", float, "passes over the training text"),
    ("--characters", int, "characters to train on in all; 0: as --epochs says"),
    ("--batch", int, "batch size: stretches of text read side by side"),
    ("--steps", int, "time steps that gradients flow back through"),
    ("--truncation", str, "regular, or random: cut after half to one and a half times --steps"),
    ("--learning-rate", float, "AdamW's highest"),
    ("--weight-decay", float, "AdamW's"),
    ("--clip", float, "largest gradient norm"),
    ("--dropout-embedding", float, "probability of dropping a character's embedding"),
    ("--dropout-weight", float, "probability of dropping an entry of W_hh"),
    ("--dropout-output", float, "probability of dropping an entry of H_t before the readout"),
    ("--dropout-layer", float, "probability of dropping an entry of H_t before the next layer"),
    ("--fresh-rows", float, "share of the batch that begins at a random paragraph at every step"),
    (
        "--normaliser",
        str,
        "newlines, typography (“ ” – read as straight ones) or corner-brackets (「」 as “ ”)",
    ),
    ("--min-count", int, "rarer characters are read as <unk>"),
    ("--evaluate-every", int, "steps between reports; 0: once an epoch"),
    ("--seed", int, "where randomness starts"),
    ("--precision", str, "float32, bfloat16, or auto: the faster of them here, which is then recorded"),
)


HEEDED_AT_FIRST = (
    "corpus", "name", "run_dir", "half", "title", "language", "ngram", "example", "probe", "minutes",
    "log_to", "engine",
)  # fmt: skip
"""Options that say what a run is, beside its recipe: none of them can change where it goes on."""


MEASURING = "Measuring it on text it never read"


def main(args: argparse.Namespace) -> int:
    """Run `train`; returns the exit status."""
    if args.threads is not None and args.threads < 1:
        raise ConfigError(
            "--threads counts processor threads and is at least 1; received {threads}", threads=args.threads
        )
    if args.cell != "ngram":
        has_torch.require()  # before a run's folder is there
    if int(os.environ.get("RANK", "0")) > 0 and "TORCHELASTIC_RUN_ID" in os.environ:
        from rnnviz.runs import distributed

        return distributed.help_train(args.device)
    folder = args.resume if args.resume is not None else args.run_dir
    if args.resume is not None or (args.queued and folder is not None and not args.corpus):
        return _go_on(args, RunFolder(folder))
    if not args.corpus or not args.name:
        raise ConfigError("train needs --corpus and --name, or --resume RUN_DIR")
    if args.cell == "ngram":
        return _count(args)
    return _begin(args)


def _config(args: argparse.Namespace) -> Any:
    given = {
        f.name: getattr(args, f.name) for f in fields(TrainConfig) if getattr(args, f.name, None) is not None
    }
    return TrainConfig(**given)


def _command(args: argparse.Namespace) -> str:
    return command_line(args.corpus, args.output, args.run_dir, args.ngram, args.choice)


def _count(args: argparse.Namespace) -> int:
    """`--cell ngram`: count instead of train."""
    from rnnviz.networks.ngram import NgramModel
    from rnnviz.reports import contamination
    from rnnviz.runs.card import make_card
    from rnnviz.text import corpora
    from rnnviz.text.characters import normalise
    from rnnviz.text.vocabulary import Vocabulary

    corpus = corpora.open_corpus(args.corpus, title=args.title, language=args.language, licence=args.licence)
    split = corpus.split()
    rule = args.normaliser or "newlines"
    text = normalise(split.train + split.validation, rule)
    began = time.perf_counter()
    rare = 2 if args.min_count is None else args.min_count
    vocabulary = Vocabulary.from_text(text, min_count=rare)
    model = NgramModel.fit(text, order=args.order, vocabulary=vocabulary, name=args.name, normaliser=rule)
    recipe = {
        "cell": "ngram",
        "order": args.order,
        "smoothing": "interpolated modified Kneser-Ney",
        "min_count": rare,
    }
    candidates = choice.read(args.choice, recipe) if args.choice else None
    model.card = make_card(
        model,
        corpus,
        trained_on="first 90 %",
        recipe=recipe,
        seed=None,
        seconds=time.perf_counter() - began,
        command=_command(args),
        parameters=model.parameter_count,
        choice=candidates,
        example=args.example,
    )
    path = args.output or Path(f"{args.name}.safetensors")
    _finish(checkpoint.save(model, path, sketch=contamination.sketch(text)), model.card)
    return 0


def _begin(args: argparse.Namespace) -> int:
    from rnnviz.text import corpora

    folder = RunFolder(args.run_dir or home() / modelfile.check_name(args.name))
    corpus = corpora.open_corpus(args.corpus, title=args.title, language=args.language, licence=args.licence)
    output = args.output or Path(f"{args.name}.safetensors")
    config = _config(args)
    description = Description(
        args.name,
        config,
        corpus=args.corpus if args.corpus in corpora.names() else os.path.abspath(args.corpus),
        title=args.title or "",
        language=args.language or "",
        licence=args.licence or "",
        watched=args.probe,
        minutes=args.minutes,
        ngram=args.ngram,
        choice=choice.read(args.choice, config.to_json()) if args.choice else None,
        example=args.example,
        half=args.half,
        device=args.device,
        threads=args.threads,
        engine=args.engine or "auto",
        output=os.fspath(output.absolute()),
        command=_command(args),
        log_to=tensorboard.check(args.log_to or ""),
        units=not args.no_units,
    )
    _check(description, corpus)
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        folder.begin(description)
    except OSError as error:
        raise TrainingError(
            "no run can be kept in {path} ({strerror}); choose another folder with --run-dir or RNNVIZ_RUNS",
            path=folder.path,
            strerror=error.strerror,
        ) from None
    return _run(args, folder, corpus)


def _go_on(args: argparse.Namespace, folder: RunFolder) -> int:
    description = folder.description()
    if description.logged:
        raise TrainingError(
            "the run {id!r} was trained by another program, which logged it here; start that program again",
            id=folder.id,
        )
    unheeded = [name for name in HEEDED_AT_FIRST if getattr(args, name, None) not in (None, "", False)]
    unheeded += [f.name for f in fields(description.config) if getattr(args, f.name, None) is not None]
    if args.resume is not None and unheeded:
        raise ConfigError(
            "--resume goes on with a run as it was begun; leave out --{option}, or begin another run",
            option=unheeded[0].replace("_", "-"),
        )
    changed = description
    if description.log_to == "trackio":  # a run that 1.0.0 began
        complain(str(tensorboard.TRACKIO))
        changed = replace(changed, log_to="")
    if args.threads is not None:
        changed = replace(changed, threads=args.threads)
    if args.device != "auto":
        changed = replace(changed, device=args.device)
    if args.no_units:
        changed = replace(changed, units=False)
    changed = _said_afterwards(args, changed)
    if args.output is not None:
        checkpoint.check_target(args.output)
        changed = replace(changed, output=os.fspath(args.output.absolute()))
    if changed != description:
        folder.describe(changed)
    return _run(args, folder, None)


def _said_afterwards(args: argparse.Namespace, description: Description) -> Description:
    """The description with --choice and --licence, which change the card alone; the command says so too."""
    command, chosen = description.command, description.choice
    if args.choice is not None:
        command += "" if chosen else f" --choice {shlex.quote(args.choice.name)}"
        chosen = choice.read(args.choice, description.config.to_json())
    if args.licence is not None:
        command += "" if description.licence else f" --licence {shlex.quote(args.licence)}"
    licence = args.licence or description.licence
    return replace(description, command=command, choice=chosen, licence=licence)


def _check(description: Description, corpus: Any) -> None:
    """Refuse what can't be trained before its folder exists."""
    if description.config.precision == "bfloat16" or description.engine == "numba":
        from rnnviz.networks.torch_model import pick_device
        from rnnviz.training import speed

        speed.candidates(description.config, pick_device(description.device), description.engine)
    if len(corpus.split().train) < 2:
        raise CorpusError(
            "training needs at least 2 characters; received {characters}", characters=len(corpus.text)
        )
    if description.ngram:
        checkpoint.find(description.ngram)
    checkpoint.check_target(description.output)


def _run(args: argparse.Namespace, folder: RunFolder, corpus: Any) -> int:
    made = process.run(
        folder,
        partial(_training_bar, args),
        queued=args.queued,
        lock=args.lock,
        corpus=corpus,
        measuring=lambda: None if args.quiet else print(MEASURING, file=sys.stderr, flush=True),
    )
    if made is None:
        print(
            "Stopped and saved. "
            f"Go on with:\n  python -m rnnviz train --resume {shlex.quote(os.path.relpath(folder.path))}",
            file=sys.stderr,
        )
        return EXIT_INTERRUPTED
    _finish(*made)
    return 0


def _finish(path: Path, card: dict[str, Any]) -> None:
    held_out = card.get("held_out")
    figures = f"; held-out perplexity {held_out['perplexity']:.4f}" if held_out else ""
    if held_out and "ngram" in held_out:
        figures += f" ({held_out['ngram_name']}: {held_out['ngram']:.4f})"
    print(f"Wrote {path} ({path.stat().st_size:,} bytes){figures}")
    from rnnviz.runs import unit_findings

    if unit_findings.KEY in card:
        named = ", ".join(f"{one.target} {one.layer}:{one.unit}" for one in unit_findings.of(card))
        print(f"Named units: {named or 'none'}")


@contextmanager
def _training_bar(
    args: argparse.Namespace, trainer: Any
) -> Iterator[tuple[Callable[[Any], None], Callable[[Any], None]]]:
    """A bar with time left and perplexities on a terminal; elsewhere a line a report. On standard error, and
    neither with --quiet.
    """
    said = ""
    with progress_bar("training", args, transient=False) as show:

        def each_step(trainer: Any) -> None:
            if show is not None:
                show(trainer.step_index / trainer.total_steps, said)

        def each_report(report: Any) -> None:
            nonlocal said
            validation = (
                "–" if report.validation_perplexity is None else f"{report.validation_perplexity:.3f}"
            )
            speed = f"{report.characters_per_second:,.0f} char/s"
            said = f"train {report.train_perplexity:.3f}  validation {validation}  {speed}"
            if show is None and not args.quiet:
                left = (report.total_steps - report.step) * report.seconds / max(1, report.step)
                print(
                    f"step {report.step}/{report.total_steps}  {said}  {left:.0f} s left",
                    file=sys.stderr,
                    flush=True,
                )

        each_step(trainer)
        yield each_step, each_report
