"""The lab: what trains networks, with torch, and what researches them, with scikit-learn.

It registers its engine, its commands and its pages for look, which imports nothing of it.
"""

from rnnviz import registry
from rnnviz.errors import Phrase
from rnnviz.networks import engines


def _commands() -> tuple[registry.Command, ...]:
    from rnnviz.lab.cli import ablate, attribute, connectivity, match, patch, perturb, probe, train, units

    return (
        train.train,
        units.units,
        probe.probe,
        match.match,
        patch.patch,
        attribute.attribute,
        connectivity.connectivity,
        ablate.ablate,
        perturb.perturb,
    )


def _dev_commands() -> tuple[registry.Command, ...]:
    from rnnviz.lab.cli import dev

    return dev.sketch, dev.check_models


engines.register("rnnviz.lab.engines.torch_model")
registry.register(
    registry.Page(
        "inside",
        "rnnviz.lab.pages.inside.page",
        Phrase("Inside"),
        "neurology",
        Phrase("Ask the network's units what they respond to, what is remembered, and what depends on them."),
        of_model=True,
    ),
    registry.Page(
        "train",
        "rnnviz.lab.pages.train.page",
        Phrase("Train"),
        "model_training",
        Phrase("Train a network of your own and watch its hidden state take shape."),
        of_model=False,
    ),
    commands=_commands,
    dev_commands=_dev_commands,
)
