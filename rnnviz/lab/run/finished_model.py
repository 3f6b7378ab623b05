"""The finished model of a run, with its card, and a kept copy."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from rnnviz.errors import TrainingError
from rnnviz.lab.run import event_log
from rnnviz.lab.run.folder import Description, RunFolder
from rnnviz.networks import checkpoint, model_card, modelfile
from rnnviz.text import corpora, files
from rnnviz.text.characters import normalise
from rnnviz.text.corpora import Corpus


def read_corpus(folder: RunFolder, description: Description) -> Corpus:
    """The text of a run. Raises CorpusError, TextError or TrainingError if it is gone, and TrainingError if
    it has changed since the run began: the held-out figures would be of other characters.
    """
    about = {name: getattr(description, name) for name in ("title", "language", "licence")}
    if description.corpus:
        corpus = corpora.named_or_file(
            description.corpus, **about, column=description.column, lines=description.lines
        )
    else:
        try:
            text = folder.text.read_text("utf-8")
        except (OSError, ValueError) as error:
            raise TrainingError(
                "the run's text, {text}, can't be read ({error}); start a new run",
                text=folder.text,
                error=error,
            ) from None
        corpus = replace(corpora.from_text(text, description.name, **about), ends=description.lines)
    if description.sha256 not in ("", corpus.sha256):
        raise TrainingError(
            "the text, {text}, has changed since the run began; put it back as it was, or start a new run",
            text=description.corpus or folder.text,
        )
    return corpus


def keep_model(folder: RunFolder, name: str, target: str | Path | None) -> Path:
    """Copy a run's finished or best model into a folder of models; see `rnnviz.lab.run.runs.keep`."""
    modelfile.check_name(name)
    models_folder = Path(os.path.expanduser(target)) if target is not None else checkpoint.folders()[0]
    path = models_folder / f"{name}{modelfile.SUFFIX}"
    # In any folder of models: a name elsewhere means the first of these that has it.
    if any((f / path.name).exists() for f in (models_folder, *checkpoint.folders())):
        raise TrainingError("there is a model called {name!r} already; choose another name", name=name)
    newest, description = event_log.newest_events(folder.events), folder.description()
    last_state = newest.state_event or {}
    finished = last_state.get("path") if description.logged or last_state.get("event") == "finished" else None
    if finished and Path(finished).is_file():
        return modelfile.copy(Path(finished), path)
    training_seconds = [event.get("seconds") or 0.0 for event in (newest.progress, newest.report) if event]
    return finish(
        folder, description, read_corpus(folder, description), max(training_seconds, default=0.0), path
    )[0]


def finish(
    folder: RunFolder,
    description: Description,
    corpus: Corpus,
    seconds: float,
    path: Path | None = None,
    *,
    naming_seconds: float = 0.0,
) -> tuple[Path, dict[str, Any]]:
    """Score the best model on the held-out text and write it with its card. Returns its path and card.

    `seconds` is the training time. `path` None: the description's, or the run's folder. `naming_seconds`
    limits the search for units with a meaning; 0: no search. Raises TrainingError if there is no model, and
    the errors of scoring and saving.
    """
    from rnnviz.lab.fit.card import score_and_card

    if path is None:
        path = Path(description.output or folder.finished / f"{description.name}{modelfile.SUFFIX}")
    path = checkpoint.check_target(path, replaces=folder.owns_model)
    if not folder.best.exists():
        raise TrainingError(
            "the run in {path} has no model yet; let it train a little longer", path=folder.path
        )
    from rnnviz.lab.engines.torch_model import CharModel

    model = checkpoint.load(folder.best)
    if not isinstance(model, CharModel):
        raise TrainingError(
            "{best} was replaced by another model while training; start a new run", best=folder.best
        )
    if description.half:  # rounded to float16 and back: scored as it will be stored
        model.half().float()
    events, _ = event_log.read(folder.events)
    score_and_card(
        model,
        corpus,
        description.config,
        seconds=seconds,
        compute_facts=next((e for e in reversed(events) if e["event"] == "start"), {}),  # the last start
        threads_fixed=description.threads is not None,
        command=description.command,
        ngram=description.ngram,
        choice=description.choice,
        example=description.example,
    )
    if naming_seconds > 0:
        from rnnviz.lab.run import row_meaning, unit_search

        command = files.without_folders(description.command)
        together = description.config.train_on == "train+validation"
        model.card[model_card.UNITS_KEY] = unit_search.search_units(
            model,
            corpus,
            together=together,
            command=command,
            seconds=naming_seconds,
        )
        text, _part, _count = unit_search.searched_text(model, corpus, together=together)
        row_meaning.follow_rows(folder, model.card, normalise(text, model.normaliser))
    return checkpoint.save(model, path, half=description.half), model.card
