"""`python -m rnnviz train`: the one way a model is trained, from a terminal or from the app.

A run is a folder (see rnnviz.runs). Ctrl-C ends it after the step it is in,
saves, and says how to go on.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from rnnviz.errors import ConfigError, TrainingError

EXIT_INTERRUPTED = 130


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the `train` command. Its recipe options are added only when it is asked for: they need torch."""
    parser = subparsers.add_parser(
        "train",
        help="train a model on a text",
        description="Train a character model and write it as one file, with its recipe recorded in it.",
        epilog="Ctrl-C stops after the current step and saves; go on with --resume RUN_DIR.",
    )
    parser.add_argument(
        "--corpus", help="a corpus's name (python-source, python-docs, machine, …) or a text file"
    )
    parser.add_argument("--name", help="the model's name (letters, digits, '-', '_', '.')")
    parser.add_argument("--output", type=Path, help="the model file to write (default: NAME.safetensors)")
    parser.add_argument("--run-dir", type=Path, help="the run's folder (default: runs/NAME)")
    parser.add_argument(
        "--resume", type=Path, metavar="RUN_DIR", help="go on with a stopped run; needs nothing else"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda (default: auto)")
    parser.add_argument("--threads", type=int, help="processor threads (default: torch's choice)")
    parser.add_argument("--half", action="store_true", help="store the weights as float16")
    parser.add_argument("--title", help="the text's title, for the card")
    parser.add_argument(
        "--language", help="the text's language as a BCP 47 code (en, zh, python), for the card"
    )
    parser.add_argument(
        "--ngram", metavar="NAME", help="the n-gram model to compare with on the held-out text"
    )
    parser.add_argument("--example", help="the text the app shows first with this model")
    parser.add_argument("--probe", default="", help="the beginning of each report's sample")
    parser.add_argument(
        "--order", type=int, default=6, help="with --cell ngram: the order, 1 to 6 (default: 6)"
    )
    recipe = parser.add_argument_group("recipe (defaults of rnnviz.TrainConfig)")
    recipe.add_argument("--cell", default="gru", choices=("mlp", "rnn", "gru", "lstm", "ngram"))
    for flag, kind, text in RECIPE:
        if kind is bool:
            recipe.add_argument(flag, action="store_true", default=None, help=text)
        else:
            recipe.add_argument(flag, type=kind, help=text)
    parser.set_defaults(run=main)


RECIPE: tuple[tuple[str, Any, str], ...] = (
    ("--hidden-size", int, "H, units per layer"),
    ("--layers", int, "L, layers"),
    ("--embedding-size", int, "width of X_t; 0 for one-hot"),
    ("--activation", str, "tanh or relu, for mlp and rnn"),
    ("--tied", bool, "W_hq is the embedding's transpose"),
    ("--train-on", str, "train (85 %%, best on the next 5 %%) or train+validation (90 %%)"),
    ("--epochs", float, "passes over the training text"),
    ("--batch", int, "streams read side by side"),
    ("--steps", int, "time steps that gradients flow back through"),
    ("--learning-rate", float, "AdamW's highest"),
    ("--weight-decay", float, "AdamW's"),
    ("--clip", float, "largest gradient norm"),
    ("--dropout-embedding", float, "probability of dropping a character's embedding"),
    ("--dropout-weight", float, "probability of dropping an entry of W_hh"),
    ("--dropout-output", float, "probability of dropping an entry of H_t before the readout"),
    ("--min-count", int, "rarer characters are read as <unk>"),
    ("--evaluate-every", int, "steps between reports; 0: once an epoch"),
    ("--seed", int, "where randomness starts"),
    ("--precision", str, "auto, float32 or bfloat16"),
)


def main(args: argparse.Namespace) -> int:
    """Run `train` with parsed arguments; returns the exit status."""
    import torch

    from rnnviz import corpora

    if args.threads is not None:
        if args.threads < 1:
            raise ConfigError(
                f"--threads counts processor threads and is at least 1; received {args.threads}"
            )
        torch.set_num_threads(args.threads)
    tune_process()
    if args.resume is not None:
        return _train(args, resume=True)
    if not args.corpus or not args.name:
        raise ConfigError("train needs --corpus and --name, or --resume RUN_DIR")
    if args.cell == "ngram":
        return _count(args, corpora.open_corpus(args.corpus, title=args.title, language=args.language))
    return _train(args, resume=False)


def tune_process() -> None:
    """Settings of this process that make CPU training faster and change no result that matters.

    Denormal numbers are flushed to zero, and glibc is asked to keep freed
    memory: it hands large tensors back to the system after every step
    otherwise, which costs 10 to 25 % of the time.
    """
    import torch

    torch.set_flush_denormal(True)
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4
            mallopt(M_MMAP_MAX, 0)
            mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
            mallopt(M_TOP_PAD, 256 * 2**20)


def _config(args: argparse.Namespace) -> Any:
    from rnnviz.config import TrainConfig

    given = {
        f.name: getattr(args, f.name) for f in fields(TrainConfig) if getattr(args, f.name, None) is not None
    }
    return TrainConfig(**given)


def _command() -> str:
    """The command that was given, as it can be typed again."""
    return "python -m rnnviz " + shlex.join(sys.argv[1:])


def _count(args: argparse.Namespace, corpus: Any) -> int:
    """`--cell ngram`: count instead of train."""
    from rnnviz import checkpoint, overlap
    from rnnviz.cards import make_card
    from rnnviz.ngram import NgramModel
    from rnnviz.vocabulary import Vocabulary

    split = corpus.split()
    text = split.train + split.validation
    began = time.perf_counter()
    vocabulary = Vocabulary.from_text(text, min_count=args.min_count or 2)
    model = NgramModel.fit(text, order=args.order, vocabulary=vocabulary, name=args.name)
    recipe = {
        "cell": "ngram",
        "order": args.order,
        "smoothing": "interpolated modified Kneser-Ney",
        "min_count": args.min_count or 2,
    }
    model.card = make_card(
        model,
        corpus,
        trained_on="first 90 %",
        recipe=recipe,
        seed=None,
        seconds=time.perf_counter() - began,
        command=_command(),
        parameters=model.parameter_count,
        example=args.example,
    )
    path = args.output or Path(f"{args.name}.safetensors")
    _finish(checkpoint.save(model, path, sketch=overlap.sketch(text)), model.card)
    return 0


def _train(args: argparse.Namespace, *, resume: bool) -> int:
    from rnnviz import checkpoint, corpora, overlap
    from rnnviz.cards import make_card
    from rnnviz.model import CharModel
    from rnnviz.runs import RunFolder
    from rnnviz.training import Trainer

    folder = RunFolder(
        args.resume if resume else args.run_dir or Path("runs") / checkpoint.check_name(args.name)
    )
    if resume:
        config, about = folder.description()
    else:
        config = _config(args)
        kept = ("name", "corpus", "title", "language", "half", "ngram", "example", "probe")
        about = {key: getattr(args, key) for key in kept}
        about["output"] = os.fspath((args.output or Path(f"{args.name}.safetensors")).absolute())
        about["command"] = _command()
    corpus = corpora.open_corpus(about["corpus"], title=about["title"], language=about["language"])
    trainer = Trainer(config, corpus, device=args.device, name=about["name"])
    if resume:
        folder.restore(trainer)
    else:
        folder.begin(config, about)
    with progress_bar(trainer) as (on_step, on_report), stop_on_interrupt(trainer) as interrupted:
        for report in trainer.run(probe=about["probe"], on_step=on_step):
            folder.record(report)
            if report.best:
                checkpoint.save(report.model, folder.best)
            folder.save(trainer)
            on_report(report)
    if trainer.step_index < trainer.total_steps:
        folder.save(trainer)
        print(
            f"Stopped at step {trainer.step_index:,} of {trainer.total_steps:,} and saved. "
            f"Go on with:\n  python -m rnnviz train --resume {shlex.quote(os.fspath(folder.path))}",
            file=sys.stderr,
        )
        return EXIT_INTERRUPTED if interrupted() else 1
    best = checkpoint.load(folder.best)
    if not isinstance(best, CharModel):
        raise TrainingError(f"{folder.best} was replaced by another model while training; start a new run")
    if about["half"]:  # measured as it will be stored
        best.half().float()
    together = config.train_on == "train+validation"
    best.card = make_card(
        best,
        corpus,
        trained_on="first 90 %" if together else "first 85 %",
        recipe=config.to_json(),
        seed=config.seed,
        seconds=trainer.seconds,
        command=about["command"],
        parameters=best.parameter_count,
        yardstick=about["ngram"],
        example=about["example"],
    )
    split = corpus.split()
    sketch = overlap.sketch(split.train + split.validation if together else split.train)
    _finish(checkpoint.save(best, Path(about["output"]), half=about["half"], sketch=sketch), best.card)
    return 0


def _finish(path: Path, card: dict[str, Any]) -> None:
    held_out = card.get("held_out")
    figures = f"; held-out perplexity {held_out['perplexity']:.4f}" if held_out else ""
    if held_out and "ngram" in held_out:
        figures += f" ({held_out['ngram_name']}: {held_out['ngram']:.4f})"
    print(f"Wrote {path} ({path.stat().st_size:,} bytes){figures}")


@contextmanager
def stop_on_interrupt(trainer: Any) -> Iterator[Callable[[], bool]]:
    """While open, a Ctrl-C or SIGTERM asks the trainer to stop; a second Ctrl-C interrupts at once."""
    seen: list[int] = []

    def handle(number: int, frame: object) -> None:
        if seen and number == signal.SIGINT:
            raise KeyboardInterrupt
        seen.append(number)
        trainer.stop()

    before = {s: signal.signal(s, handle) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(seen)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def progress_bar(trainer: Any) -> Iterator[tuple[Callable[[Any], None], Callable[[Any], None]]]:
    """A bar with time left and perplexities on a terminal's standard error; elsewhere a line a report."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    def line(report: Any) -> str:
        held_out = "–" if report.held_out_perplexity is None else f"{report.held_out_perplexity:.3f}"
        speed = f"{report.characters_per_second:,.0f} char/s"
        return f"train {report.train_perplexity:.3f}  held out {held_out}  {speed}"

    console = Console(stderr=True)
    if not console.is_terminal:

        def plain(report: Any) -> None:
            left = (report.total_steps - report.step) * report.seconds / max(1, report.step)
            print(
                f"step {report.step}/{report.total_steps}  {line(report)}  {left:.0f} s left",
                file=sys.stderr,
                flush=True,
            )

        yield lambda _: None, plain
        return
    columns = (
        BarColumn(),
        TextColumn("{task.percentage:3.0f}%"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[line]}"),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("training", total=trainer.total_steps, completed=trainer.step_index, line="")
        yield (
            lambda t: bar.update(task, completed=t.step_index),
            lambda report: bar.update(task, line=line(report)),
        )
