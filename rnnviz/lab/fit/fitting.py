"""Training in one call: `fit` returns the best model with its card, as a run of `rnnviz train` does."""

import os
from collections.abc import Callable, Sequence

from rnnviz.checks import checked, renamed
from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.lab.fit.card import score_and_card
from rnnviz.lab.fit.step_report import StepReport
from rnnviz.lab.fit.trainer import make_trainer
from rnnviz.networks.config import TrainConfig
from rnnviz.text.corpora import Corpus, as_corpus


@renamed(probe="watch_text")
@checked
def fit(
    config: TrainConfig,
    corpus: str | os.PathLike[str] | Sequence[str] | Corpus,
    *,
    name: str = "",
    device: str = "auto",
    watch_text: str = "",
    sample_length: int = 200,
    on_report: Callable[[StepReport], object] | None = None,
) -> CharModel:
    """Train a model on `corpus` by `config`, and return the best with its card; `rnnviz.save` writes both.

    config     the recipe
    corpus     a corpus's name, the `pathlib.Path` of a text file, the text, a list of texts that
               end, or a `rnnviz.Corpus`
    name       the model's
    device     "auto", "cpu" or "cuda"
    watch_text begins each report's sample, of `sample_length` characters
    on_report  called with each report, as `rnnviz.train` yields them: step, train_perplexity,
               validation_perplexity, best, sample, model and more

    The best model has the lowest perplexity on the validation text, 5 % of the corpus. Where the recipe
    trains on that text too, the last model is the best. The card has the perplexity on the last 10 %, which
    the model never read: `model.card["held_out"]`. Raises the errors of `rnnviz.train`.

    >>> import rnnviz, torch
    >>> torch.set_num_threads(1)  # so small a network only waits for more
    >>> config = rnnviz.TrainConfig(cell="rnn", hidden_size=8, epochs=3, batch=4, steps=20)
    >>> model = rnnviz.fit(config, "the machine that remembers " * 40, name="tiny")
    >>> model.name, model.card["held_out"]["characters"]
    ('tiny', 108)
    """
    text: Corpus = as_corpus(corpus)
    trainer = make_trainer(config, text, device=device, name=name)
    model = trainer.model
    best = {}
    for report in trainer.run(prompt=watch_text, sample_length=sample_length):
        if report.best:
            # Cloned, because training goes on to change these tensors in place.
            best = {part: weights.clone() for part, weights in model.state_dict().items()}
        if on_report is not None:
            on_report(report)
    model.load_state_dict(best)
    model.requires_grad_(False).eval()
    score_and_card(model, text, config, seconds=trainer.seconds, compute_facts=trainer.compute_facts())
    return model
