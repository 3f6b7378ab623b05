"""`python -m rnnviz train`: train a model, from a terminal or from the app.

A run is a folder (see rnnviz.lab.run). Ctrl-C lets the step finish, saves, and prints how to resume.
"""

import argparse
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast

from rnnviz.cli.bind import FieldOptions, Help, Removed
from rnnviz.cli.output import ProgressOptions, command_line, complain, progress_bar
from rnnviz.errors import ConfigError, CorpusError, TrainingError
from rnnviz.lab.run import process
from rnnviz.lab.run.folder import Description, RunFolder, home
from rnnviz.lab.run.process import EXIT_INTERRUPTED
from rnnviz.networks import checkpoint, engines, modelfile
from rnnviz.networks.config import Engine, ModelKind, TrainConfig
from rnnviz.networks.progress import Share
from rnnviz.text.characters import normalise


@dataclass(frozen=True)
class About:
    """A run's settings besides its recipe; a resumed run can change none of them."""

    corpus: Annotated[str, "a corpus's name (python-source, python-docs, machine, …) or a text file"] = ""
    name: Annotated[str, "the model's name (letters, digits, '-', '_', '.')"] = ""
    run_dir: Annotated[Path | None, "the run's folder (default: runs/NAME, or in RNNVIZ_RUNS)"] = None
    half: Annotated[bool, "store the weights as float16"] = False
    title: Annotated[str, "the text's title, for the card"] = ""
    language: Annotated[str, "the text's language as a BCP 47 code (en, zh, python), for the card"] = ""
    ngram: Annotated[
        str | None, Help("the n-gram model to compare with on the held-out text", metavar="NAME")
    ] = None
    example: Annotated[str | None, "the text the app shows first with this model"] = None
    probe: Annotated[
        str,
        Help(
            "the sentence to watch: its hidden states are kept while the model learns, and each sample text "
            "goes on from it (--probe is the same)",
            "--watch",
            "--probe",
            metavar="SENTENCE",
        ),
    ] = ""
    minutes: Annotated[
        float | None, "train for this long instead of --epochs; the speed is measured first"
    ] = None
    log_to: Annotated[
        str | None, Help("a run's events.jsonl has every figure, a JSON object a line", action=Removed)
    ] = None
    engine: Annotated[
        str, "whose backward pass computes: torch, numba, or auto: the fastest in a trial (default: auto)"
    ] = ""


@dataclass(frozen=True)
class Now:
    """Settings that a resumed run may change."""

    output: Annotated[
        Path | None, Help("the model file to write (default: NAME.safetensors)", "-o", metavar="FILE")
    ] = None
    device: Annotated[str | None, "auto, cpu or cuda (default: auto)"] = None
    threads: Annotated[
        int | None,
        Help(
            "processor threads, to resume bit for bit (default: as many as prove fastest now)",
            least=1,
        ),
    ] = None
    licence: Annotated[str, "the text's licence, for the card"] = ""
    choice: Annotated[
        Path | None,
        Help(
            "the candidates that these settings were chosen from on validation text, as JSON, for the card",
            metavar="FILE",
        ),
    ] = None
    no_units: Annotated[bool, "don't look for units that respond to something in the finished network"] = (
        False
    )


def train(
    about: About,
    now: Now,
    bars: ProgressOptions,
    recipe: Annotated[
        dict[str, Any], FieldOptions(TrainConfig, "recipe (defaults of rnnviz.TrainConfig)", but=["cell"])
    ],
    *,
    cell: Annotated[ModelKind | None, "the network's cell; ngram counts instead (default: gru)"] = None,
    order: Annotated[int, "with --cell ngram: the order, 1 to 6"] = 6,
    queued: Annotated[
        bool, "wait in the queue for a turn, and leave the processor to other programs"
    ] = False,
    resume: Annotated[
        Path | None, Help("resume a stopped run; no other option is needed", metavar="RUN_DIR")
    ] = None,
    lock: Annotated[int | None, Help(argparse.SUPPRESS)] = None,  # the lock's descriptor, from the app
) -> int:
    """Train a character model and write it as one file, with its recipe recorded in it.

    Ctrl-C stops after the current step and saves; go on with --resume RUN_DIR. Threads and engine
    that aren't given are found by a trial of a second as the run begins.
    """
    if "TORCHELASTIC_RUN_ID" in os.environ and os.environ.get("WORLD_SIZE") != "1":
        raise ConfigError("a run is one process, and several would write one folder; train without torchrun")
    if cell != "ngram":
        engines.require_torch()  # before making the run's folder
    if cell is not None:
        recipe = {"cell": cell, **recipe}
    corpus = None
    if resume is not None:
        folder = RunFolder(resume)
        _go_on(folder, now, [*(name for name, value in vars(about).items() if value), *recipe])
    elif queued and about.run_dir is not None and not about.corpus:  # the app wrote its description
        folder = RunFolder(about.run_dir)
        _go_on(folder, now, [])
    elif not about.corpus or not about.name:
        raise ConfigError("train needs --corpus and --name, or --resume RUN_DIR")
    elif cell == "ngram":
        return _count(about, now, recipe, order)
    else:
        folder, corpus = _begin(about, now, TrainConfig(**recipe))
    made = process.run(
        folder,
        partial(_training_bar, bars),
        queued=queued,
        lock=lock,
        corpus=corpus,
        measuring=lambda: (
            None if bars.quiet else print("Measuring it on text it never read", file=sys.stderr, flush=True)
        ),
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


def _corpus(about: About, now: Now) -> Any:
    from rnnviz.text import corpora

    return corpora.named_or_file(
        about.corpus, title=about.title, language=about.language, licence=now.licence
    )


def _count(about: About, now: Now, given: Mapping[str, Any], order: int) -> int:
    """Count n-grams instead of training, for `--cell ngram`."""
    from rnnviz.lab.fit.card import make_card
    from rnnviz.networks import contamination
    from rnnviz.networks.ngram import NgramModel
    from rnnviz.text.vocabulary import Vocabulary, usual_min_count

    path = checkpoint.check_target(
        now.output or f"{about.name}{modelfile.SUFFIX}", replaces=lambda there: False
    )
    corpus = _corpus(about, now)
    split = corpus.split()
    rule = given.get("normaliser", TrainConfig.normaliser)
    text = normalise(split.train + split.validation, rule)
    began = time.perf_counter()
    rare = given.get("min_count") or usual_min_count(len(text))
    vocabulary = Vocabulary.from_text(text, min_count=rare)
    _say_dropped(vocabulary.dropped(text))
    model = NgramModel.fit(text, order=order, vocabulary=vocabulary, name=about.name, normaliser=rule)
    recipe = {
        "cell": "ngram",
        "order": order,
        "smoothing": "interpolated modified Kneser-Ney",
        "min_count": rare,
    }
    model.card = make_card(
        model,
        corpus,
        trained_on="first 90 %",
        recipe=recipe,
        seed=None,
        seconds=time.perf_counter() - began,
        command=_command(about, now),
        parameters=model.parameter_count,
        choice=_candidates(now, recipe),
        example=about.example,
    )
    _finish(checkpoint.save(model, path, sketch=contamination.sketch(text)), model.card)
    return 0


def _begin(about: About, now: Now, config: TrainConfig) -> tuple[RunFolder, Any]:
    """A new run's folder, with its description, and its corpus."""
    from rnnviz.text import corpora

    folder = RunFolder(about.run_dir or home() / modelfile.check_name(about.name))
    corpus = _corpus(about, now)
    output = now.output or Path(f"{about.name}{modelfile.SUFFIX}")
    description = Description(
        about.name,
        config,
        corpus=about.corpus if about.corpus in corpora.names() else os.path.abspath(about.corpus),
        title=about.title,
        language=about.language,
        licence=now.licence,
        watched=about.probe,
        minutes=about.minutes,
        ngram=about.ngram,
        choice=_candidates(now, config.to_json()),
        example=about.example,
        half=about.half,
        device=now.device or "auto",
        threads=now.threads,
        engine=cast("Engine", about.engine or "auto"),  # Description checks it
        output=os.fspath(output.absolute()),
        command=_command(about, now),
        units=not now.no_units,
        sha256=corpus.sha256,
    )
    _check(description, corpus)
    checkpoint.check_target(description.output, replaces=folder.made)
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        if os.listdir(folder.path) and not folder.description_file.exists():
            raise TrainingError(
                "{path} has files that are no run's; choose a new folder with --run-dir", path=folder.path
            )
        folder.begin(description)
    except OSError as error:
        raise TrainingError(
            "no run can be kept in {path} ({strerror}); choose another folder with --run-dir or RNNVIZ_RUNS",
            path=folder.path,
            strerror=error.strerror,
        ) from None
    return folder, corpus


def _command(about: About, now: Now) -> str:
    return command_line(about.corpus, now.output, about.run_dir, about.ngram, now.choice)


def _candidates(now: Now, recipe: dict[str, Any]) -> list[dict[str, Any]] | None:
    from rnnviz.networks import model_card

    return None if now.choice is None else model_card.read_candidates(now.choice, recipe)


def _go_on(folder: RunFolder, now: Now, unheeded: Sequence[str]) -> None:
    """Update the description of a resumed run. Raises ConfigError for settings that can't change."""
    description = folder.description()
    if description.logged:
        raise TrainingError(
            "the run {id!r} was trained by another program, which logged it here; start that program again",
            id=folder.id,
        )
    if unheeded:
        raise ConfigError(
            "--resume goes on with a run as it was begun; leave out --{option}, or begin another run",
            option=unheeded[0].replace("_", "-"),
        )
    # --licence and --choice change only the card; so the command in the card gets them, too.
    command = description.command
    if now.choice is not None and not description.choice:
        command += f" --choice {shlex.quote(now.choice.name)}"
    if now.licence and not description.licence:
        command += f" --licence {shlex.quote(now.licence)}"
    if output := now.output or description.output:
        checkpoint.check_target(output, replaces=folder.made)
    changes: dict[str, Any] = {
        "threads": now.threads,
        "device": now.device,
        "units": False if now.no_units else None,
        "choice": _candidates(now, description.config.to_json()),
        "licence": now.licence or None,
        "command": command,
        "output": None if now.output is None else os.fspath(now.output.absolute()),
    }
    changed = replace(description, **{name: value for name, value in changes.items() if value is not None})
    if changed != description:
        folder.describe(changed)


def _check(description: Description, corpus: Any) -> None:
    """Refuse a run that can't be trained, before its folder exists. Raises ConfigError, CorpusError,
    CheckpointError.
    """
    if description.config.precision == "bfloat16" or description.engine == "numba":
        from rnnviz.lab.engines.torch_model import pick_device
        from rnnviz.lab.fit import optimiser, speed_trial

        device = pick_device(description.device)
        optimiser.precision_on(device, description.config)
        speed_trial.engines(description.config, device, description.engine)
    if len(corpus.split().train) < 2:
        raise CorpusError(
            "training needs at least 2 characters; received {characters}", characters=len(corpus.text)
        )
    if description.ngram:
        checkpoint.find(description.ngram)


def _say_dropped(dropped: tuple[str, float]) -> None:
    if dropped[0]:
        complain(f"{dropped[0]}; --min-count 1 keeps them")


def _finish(path: Path, card: dict[str, Any]) -> None:
    held_out = card.get("held_out")
    figures = f"; held-out perplexity {held_out['perplexity']:.4f}" if held_out else ""
    if held_out and "ngram" in held_out:
        figures += f" ({held_out['ngram_name']}: {held_out['ngram']:.4f})"
    print(f"Wrote {path} ({path.stat().st_size:,} bytes){figures}")
    from rnnviz.networks import model_card

    if model_card.UNITS_KEY in card:
        named = ", ".join(f"{one.target} {one.layer}:{one.unit}" for one in model_card.unit_findings(card))
        print(f"Named units: {named or 'none'}")


@contextmanager
def _training_bar(
    bars: ProgressOptions, trainer: Any
) -> Iterator[tuple[Callable[[Any], None], Callable[[Any], None]]]:
    """A bar with time left and perplexities on a terminal; elsewhere a line a report. On standard error;
    nothing with --quiet.
    """
    said = ""
    _say_dropped(trainer.dropped)
    with progress_bar("training", bars, lambda step: said, transient=False) as show:

        def each_step(trainer: Any) -> None:
            if show is not None:
                show(Share(trainer.step_index / trainer.total_steps))

        def each_report(report: Any) -> None:
            nonlocal said
            validation = (
                "–" if report.validation_perplexity is None else f"{report.validation_perplexity:.3f}"
            )
            speed = f"{report.characters_per_second:,.0f} char/s"
            said = f"train {report.train_perplexity:.3f}  validation {validation}  {speed}"
            if show is None and not bars.quiet:
                left = (report.total_steps - report.step) * report.seconds / max(1, report.step)
                print(
                    f"step {report.step}/{report.total_steps}  {said}  {left:.0f} s left",
                    file=sys.stderr,
                    flush=True,
                )

        each_step(trainer)
        yield each_step, each_report
