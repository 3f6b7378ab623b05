"""The networks that a part compares with the one in view: those on this machine, and untrained copies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from rnnviz.i18n import _
from rnnviz.lab.engines.untrained import of_known_start
from rnnviz.lab.pages.inside.page_view import IdentifiedValue, PageView, remember
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.networks.config import TrainConfig
from rnnviz.page.formatting import title, titles
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.shell import model_cache
from rnnviz.ui.shell.fields import Field

MAX_SEED = 2**63 - 1


def list_other_networks(view: PageView) -> list[ModelInfo]:
    """The other networks on this machine, those of the same corpus first."""
    corpus = view.context.info.card.get("corpus")
    # Counts of an n-gram have no states to compare.
    networks = [
        info
        for info in model_cache.list_models()[0]
        if info.path != view.context.info.path and info.kind != "ngram"
    ]
    return sorted(networks, key=lambda info: (info.card.get("corpus") != corpus, info.name))


def list_same_corpus_names(view: PageView) -> list[str]:
    """The names of at most two other networks with memory that were trained on the same corpus."""
    corpus = view.context.info.card.get("corpus")
    networks = [
        info
        for info in list_other_networks(view)
        if corpus and info.card.get("corpus") == corpus and info.kind != "mlp"
    ]
    return [info.path.stem for info in networks[:2]]


@dataclass(frozen=True, eq=False)
class NetworkChoice:
    """The choice of further networks, beside the one in view.

    label        the widget's label
    key          its name among the page's fields
    usual        names chosen at first
    max_choices  further networks, at most
    unsaved      networks without a file: functions by name that return an identity and the network
    help_text    the widget's help
    """

    view: PageView
    label: str
    key: str
    usual: Sequence[str]
    max_choices: int = 2
    unsaved: Mapping[str, Callable[[], tuple[str, Any]]] = field(default_factory=dict)
    help_text: str | None = None

    def render(self) -> IdentifiedValue:
        """Draw the choice. Returns the network in view and those chosen, by name."""
        view = self.view
        # By file names: the titles, which are shown, may be alike.
        files = {info.path.stem: info for info in list_other_networks(view)}
        names = titles(files.values())
        chosen = Field[tuple[str, ...]](f"inside.{self.key}.with", ()).choose(
            self.label,
            names | {name: name for name in self.unsaved},
            tuple(self.usual),
            subject=view.model_digest,
            draw=st.multiselect,
            max_selections=self.max_choices,
            placeholder=_("other networks"),
            help=self.help_text,
        )
        networks: dict[str, tuple[str, Any]] = {title(view.context.info): (view.model_digest, view.model)}
        for name, info in files.items():
            if name in chosen:
                networks[names[name]] = model_cache.digest(info), model_cache.load(info, to_read=True)
        networks |= {name: make() for name, make in self.unsaved.items() if name in chosen}
        # A result depends on which networks, under which names: both are in the identity.
        identities = tuple((name, identity) for name, (identity, _model) in networks.items())
        return IdentifiedValue(identities, {name: model for name, (_identity, model) in networks.items()})


def show_untrained_start(view: PageView) -> None:
    """Show that untrained copies have torch's initial weights, if the network's own are not known."""
    if not of_known_start(view.model):
        st.caption(
            _("Untrained copies have torch's default initial weights: how this network began is not known.")
        )


def make_untrained(view: PageView) -> tuple[str, Any]:
    """An identity, and the network before its training: its shape with initial weights of the card's seed,
    or the default seed.
    """
    from rnnviz.lab.engines.torch_model import untrained

    recipe = view.context.info.card.get("recipe")
    seed = recipe.get("seed") if isinstance(recipe, dict) else None
    # A card is a file from anywhere: its seed may be text, true, or too large for torch.
    seed = seed if type(seed) is int and 0 <= seed <= MAX_SEED else TrainConfig().seed
    model = view.model
    network = remember(
        Key("untrained", rest=(view.model_digest, seed)),
        lambda: untrained(
            model.config, model.vocabulary, seed=seed, name=model.name, normaliser=model.normaliser
        ).eval(),
    )
    return f"untrained {seed} {view.model_digest}", network
