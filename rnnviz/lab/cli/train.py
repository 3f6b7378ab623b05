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
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from rnnviz.cli.bind import FieldOptions, Help, Removed
from rnnviz.cli.output import ProgressOptions, command_line, complain, progress_bar
from rnnviz.errors import ConfigError, CorpusError, TrainingError
from rnnviz.lab.run import process
from rnnviz.lab.run.folder import Description, RunFolder, home
from rnnviz.lab.run.process import EXIT_INTERRUPTED
from rnnviz.networks import checkpoint, engines, modelfile
from rnnviz.networks.config import ModelKind, TrainConfig
from rnnviz.networks.progress import Share
from rnnviz.networks.settings import settings_of
from rnnviz.text.characters import normalise

_COUNTING_SETTINGS = {
    *("name", "corpus", "title", "language", "licence", "output", "example", "choice"),
    *("cell", "min_count", "normaliser", "column", "lines"),
    "units",  # --no-units asks for what counting does anyway, as --quiet does
}
"""Settings of a run that count where n-grams are counted, too."""


def train(
    settings: Annotated[dict[str, Any], FieldOptions(Description)],
    bars: ProgressOptions,
    recipe: Annotated[
        dict[str, Any], FieldOptions(TrainConfig, "recipe (defaults of rnnviz.TrainConfig)", but=["cell"])
    ],
    *,
    run_dir: Annotated[Path | None, "the run's folder (default: runs/NAME, or in RNNVIZ_RUNS)"] = None,
    log_to: Annotated[
        str | None, Help("a run's events.jsonl has every figure, a JSON object a line", action=Removed)
    ] = None,
    cell: Annotated[ModelKind | None, "the network's cell; ngram counts instead (default: gru)"] = None,
    order: Annotated[int | None, "with --cell ngram: the order, 1 to 6 (default: 6)"] = None,
    queued: Annotated[
        bool, "wait in the queue for a turn, and leave the processor to other programs"
    ] = False,
    resume: Annotated[
        Path | None, Help("resume a stopped run; no other option is needed", metavar="RUN_DIR")
    ] = None,
    probe: Annotated[str, Help(argparse.SUPPRESS)] = "",  # the name of --watch in 2.0.0
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
    if probe:
        complain("--probe is called --watch now: write --watch SENTENCE")
        settings = {"watch_text": probe, **settings}
    if order is not None and cell != "ngram":
        raise ConfigError(
            "--order is that of n-grams, which --cell ngram counts; add that, or leave out --order"
        )
    if cell is not None:
        recipe = {"cell": cell, **recipe}
    corpus = None
    if resume is not None:
        folder = RunFolder(resume)
        _update_description(folder, settings, [*recipe, *([] if run_dir is None else ["run_dir"])])
    elif queued and run_dir is not None and "corpus" not in settings:  # the app wrote its description
        folder = RunFolder(run_dir)
        # It has not run yet, but is begun as a resumed run is: the description stands, and no option changes
        # it.
        _update_description(folder, settings, [])
    elif not settings.get("corpus") or not settings.get("name"):
        raise ConfigError("train needs --corpus and --name, or --resume RUN_DIR")
    elif cell == "ngram":
        _refuse_training_options({**settings, **recipe}, run_dir)
        return _count(settings, recipe, order)
    else:
        folder, corpus = _begin(settings, TrainConfig(**recipe), run_dir)
    finished = process.run(
        folder,
        partial(_training_bar, bars),
        queued=queued,
        lock=lock,
        corpus=corpus,
        measuring=lambda: (
            None if bars.quiet else print("Measuring it on text it never read", file=sys.stderr, flush=True)
        ),
    )
    if finished is None:
        print(
            "Stopped and saved. "
            f"Go on with:\n  python -m rnnviz train --resume {shlex.quote(os.path.relpath(folder.path))}",
            file=sys.stderr,
        )
        return EXIT_INTERRUPTED
    _print_result(*finished)
    return 0


def _corpus(settings: Mapping[str, Any]) -> Any:
    from rnnviz.text import corpora

    names = "title", "language", "licence", "column", "lines"
    about = {name: settings[name] for name in names if name in settings}
    return corpora.named_or_file(settings["corpus"], **about)


def _refuse_training_options(options: Mapping[str, Any], run_dir: Path | None) -> None:
    """Raise ConfigError for an option, by its field's name, that does nothing where n-grams are counted."""
    settings_by_name = {**settings_of(Description), **settings_of(TrainConfig)}
    unused = [settings_by_name[name].option(name) for name in options if name not in _COUNTING_SETTINGS]
    if unused or run_dir is not None:
        raise ConfigError(
            "--{option} is of a network's training, and --cell ngram counts; leave out --{option}",
            option=[*unused, "run-dir"][0],
        )


def _count(settings: Mapping[str, Any], recipe_settings: Mapping[str, Any], order: int | None) -> int:
    """Count n-grams instead of training, for `--cell ngram`."""
    from rnnviz.lab.fit.card import make_card
    from rnnviz.networks import contamination
    from rnnviz.networks.ngram import MAX_ORDER, NgramModel
    from rnnviz.text.vocabulary import Vocabulary, usual_min_count

    path = checkpoint.check_target(
        settings.get("output") or f"{settings['name']}{modelfile.SUFFIX}", replaces=lambda path: False
    )
    corpus = _corpus(settings)
    split = corpus.split()
    rule = recipe_settings.get("normaliser", TrainConfig.normaliser)
    text = normalise(split.train + split.validation, rule)
    order = MAX_ORDER if order is None else order
    began = time.perf_counter()
    rare = recipe_settings.get("min_count") or usual_min_count(len(text))
    vocabulary = Vocabulary.from_text(text, min_count=rare, ends=corpus.ends)
    _say_dropped(vocabulary.dropped(text))
    model = NgramModel.fit(text, order=order, vocabulary=vocabulary, name=settings["name"], normaliser=rule)
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
        command=_command(settings, None),
        parameters=model.parameter_count,
        choice=_candidates(settings, recipe),
        example=settings.get("example"),
    )
    _print_result(checkpoint.save(model, path, sketch=contamination.sketch(text)), model.card)
    return 0


def _begin(settings: Mapping[str, Any], config: TrainConfig, run_dir: Path | None) -> tuple[RunFolder, Any]:
    """A new run's folder, with its description, and its corpus."""
    from rnnviz.text import corpora

    name, named_or_path = settings["name"], settings["corpus"]
    folder = RunFolder(run_dir or home() / modelfile.check_name(name))
    corpus = _corpus(settings)
    output = settings.get("output") or Path(f"{name}{modelfile.SUFFIX}")
    described = {
        **settings,
        "config": config,
        "corpus": named_or_path if named_or_path in corpora.names() else os.path.abspath(named_or_path),
        "choice": _candidates(settings, config.to_json()),
        "output": os.fspath(output.absolute()),
        "command": _command(settings, run_dir),
        "sha256": corpus.sha256,
    }
    description = Description(**described)
    _check(description, corpus)
    checkpoint.check_target(description.output, replaces=folder.owns_model)
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


def _command(settings: Mapping[str, Any], run_dir: Path | None) -> str:
    paths = (settings.get(name) for name in ("corpus", "output", "ngram", "choice"))
    return command_line(*paths, run_dir)


def _candidates(settings: Mapping[str, Any], recipe: dict[str, Any]) -> list[dict[str, Any]] | None:
    from rnnviz.networks import model_card

    return model_card.read_candidates(settings["choice"], recipe) if "choice" in settings else None


def _update_description(folder: RunFolder, settings: Mapping[str, Any], other_options: Sequence[str]) -> None:
    """Update a begun run's description with the options that may change. Raises ConfigError for others;
    `other_options` are options besides `settings`, none of which may.
    """
    description = folder.description()
    if description.logged:
        raise TrainingError(
            "the run {id!r} was trained by another program, which logged it here; start that program again",
            id=folder.id,
        )
    settings_by_name = settings_of(Description)
    fixed = [settings_by_name[name].option(name) for name in settings if not settings_by_name[name].resumable]
    if fixed or other_options:
        raise ConfigError(
            "--resume goes on with a run as it was begun; leave out --{option}, or begin another run",
            option=[*fixed, *other_options][0].replace("_", "-"),
        )
    changes = dict(settings)
    # --licence and --choice change only the card; so the command in the card gets them, too.
    command = description.command
    if "choice" in settings:
        changes["choice"] = _candidates(settings, description.config.to_json())
        if not description.choice:
            command += f" --choice {shlex.quote(settings['choice'].name)}"
    if settings.get("licence") and not description.licence:
        command += f" --licence {shlex.quote(settings['licence'])}"
    if output := settings.get("output") or description.output:
        checkpoint.check_target(output, replaces=folder.owns_model)
    if "output" in settings:
        changes["output"] = os.fspath(settings["output"].absolute())
    changed = replace(description, **changes, command=command)
    if changed != description:
        folder.write_description(changed)


def _check(description: Description, corpus: Any) -> None:
    """Refuse a run that can't be trained, before its folder exists. Raises ConfigError, CorpusError,
    CheckpointError.
    """
    if description.config.precision == "bfloat16" or description.engine == "numba":
        from rnnviz.lab.engines.torch_model import pick_device
        from rnnviz.lab.fit import optimiser, speed_trial

        device = pick_device(description.device)
        optimiser.precision_on(device, description.config)
        speed_trial.engines_to_try(description.config, device, description.engine)
    if len(corpus.split().train) < 2:
        raise CorpusError(
            "training needs at least 2 characters; received {characters}", characters=len(corpus.text)
        )
    if description.ngram:
        checkpoint.find(description.ngram)


def _say_dropped(dropped: tuple[str, float]) -> None:
    if dropped[0]:
        complain(f"{dropped[0]}; --min-count 1 keeps them")


def _print_result(path: Path, card: dict[str, Any]) -> None:
    held_out = card.get("held_out")
    figures = f"; held-out perplexity {held_out['perplexity']:.4f}" if held_out else ""
    if held_out and "ngram" in held_out:
        figures += f" ({held_out['ngram_name']}: {held_out['ngram']:.4f})"
    print(f"Wrote {path} ({path.stat().st_size:,} bytes){figures}")
    from rnnviz.networks import model_card

    if model_card.UNITS_KEY in card:
        named = ", ".join(
            f"{finding.target} {finding.layer}:{finding.unit}" for finding in model_card.unit_findings(card)
        )
        print(f"Named units: {named or 'none'}")


@contextmanager
def _training_bar(
    bars: ProgressOptions, trainer: Any
) -> Iterator[tuple[Callable[[Any], None], Callable[[Any], None]]]:
    """A bar with time left and perplexities on a terminal; elsewhere a line a report. On standard error;
    nothing with --quiet.
    """
    line = ""
    _say_dropped(trainer.dropped)
    with progress_bar("training", bars, lambda step: line, transient=False) as update_bar:

        def each_step(trainer: Any) -> None:
            if update_bar is not None:
                update_bar(Share(trainer.step_index / trainer.total_steps))

        def each_report(report: Any) -> None:
            nonlocal line
            validation = (
                "–" if report.validation_perplexity is None else f"{report.validation_perplexity:.3f}"
            )
            speed = f"{report.characters_per_second:,.0f} char/s"
            line = f"train {report.train_perplexity:.3f}  validation {validation}  {speed}"
            if update_bar is None and not bars.quiet:
                left = (report.total_steps - report.step) * report.seconds / max(1, report.step)
                print(
                    f"step {report.step}/{report.total_steps}  {line}  {left:.0f} s left",
                    file=sys.stderr,
                    flush=True,
                )

        each_step(trainer)
        yield each_step, each_report
