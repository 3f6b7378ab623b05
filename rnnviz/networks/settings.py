"""A setting of a training run, stated once: its help, its limits, its control on the Train page.

Settings are fields of two dataclasses, `rnnviz.TrainConfig` and, for what isn't part of a recipe,
`rnnviz.lab.run.folder.Description`. So a further setting is one field, and what it does in the trainer:

    warm_up: float = field(
        default=0.02,
        metadata=setting(
            "share of the steps that the learning rate rises in",
            limits=(0.0, 1.0),
            control=SettingControl(N_("Warm-up"), N_("…"), OPTIMISATION, 4, numbers=(0.0, 0.5), step=0.01),
        ),
    )

This alone makes it

    an option, --warm-up, of `python -m rnnviz train`               rnnviz.cli.bind: FieldOptions
    refused outside its limits                                      rnnviz.networks.config: check_settings
    a control of the Train page, a column of its table of runs      rnnviz.lab.pages.train.settings
    a reason to measure the speed anew                              rnnviz.lab.pages.train.forecast
    an entry of run.json and of the recipe on the model's card      to_json of the two dataclasses
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from rnnviz.i18n import N_

NETWORK = N_("Network")
OPTIMISATION = N_("Optimisation")
BATCHES = N_("Batches")
REGULARISATION = N_("Regularisation")
LENGTH = N_("Length and seed")
"""The groups of controls on the Train page."""

SHARE = (0.0, 0.95)
"""The limits of a share, whose control is a slider. At 1 a dropout would leave nothing to learn from."""


@dataclass(frozen=True)
class SettingControl:
    """A setting's control on the Train page.

    label, help  its words, in English; the page translates them
    group        NETWORK, OPTIMISATION, BATCHES, REGULARISATION or LENGTH
    place        its place in the group, from 1; the groups and places also order the table of runs
    words        the words of its choices, by value
    numbers      the lowest and the highest number that the page offers; the setting's limits may be wider
    step         by how much a click changes the number, for one that isn't whole
    digits       decimals shown
    """

    label: str
    help: str
    group: str
    place: int
    words: Mapping[str, str] | None = None
    numbers: tuple[float, float] | None = None
    step: float | None = None
    digits: int = 0


@dataclass(frozen=True)
class Setting:
    """What a field of a run's settings says of itself; its name, type and default are the field's own.

    help          of its option; the default is added
    limits        the lowest and the highest value; two ints mean that the setting is a whole number
    choices       its words, for a setting that is one of some words
    control       on the Train page; None for a setting that the page leaves at the preset's value
    affects_speed whether a step may take longer or shorter with another value: the page then measures anew
    applies       whether it does anything in a recipe with these other settings
    resumable     whether a resumed run may change it
    names         other names of the option, as "-o"; a long one replaces the field's
    metavar       the placeholder of the option's value
    parse         makes the option's word a value, for a type that can't
    off           the number that stands for None in the control
    """

    help: str
    limits: tuple[float, float] | None = None
    choices: Collection[str] = ()
    control: SettingControl | None = None
    affects_speed: bool = True
    applies: Callable[[Any], bool] = lambda recipe: True
    resumable: bool = False
    names: tuple[str, ...] = ()
    metavar: str | None = None
    parse: Callable[[str], Any] | None = None
    off: float | None = None

    @property
    def is_share(self) -> bool:
        """Whether it is a share of something, 0 for none of it."""
        return self.limits is SHARE

    def option(self, name: str) -> str:
        """The option of the field of that name, without its dashes."""
        return next((other[2:] for other in self.names if other.startswith("--")), name.replace("_", "-"))


def setting(help: str, **values: Any) -> dict[str, Setting]:
    """The metadata of a dataclass's field that is a setting: `Setting` with these values."""
    return {"setting": Setting(help, **values)}


@cache
def settings_of(kind: Any) -> Mapping[str, Setting]:
    """The settings among a dataclass's fields, by name, in the fields' order."""
    return {field.name: field.metadata["setting"] for field in fields(kind) if "setting" in field.metadata}
