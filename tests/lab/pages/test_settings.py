"""A setting of a run is stated once: one field of a dataclass is an option, a control and an entry."""

import argparse
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

import pytest

from rnnviz.cli import bind
from rnnviz.errors import ConfigError
from rnnviz.lab.cli.train import train
from rnnviz.lab.pages.train import forecast, settings
from rnnviz.lab.run.folder import Description
from rnnviz.networks.config import TrainConfig
from rnnviz.networks.settings import BATCHES, Setting, SettingControl, setting, settings_of
from tests.support.apptest import Open
from tests.support.lab_pages import pick_text


@dataclass(frozen=True)
class WarmRecipe(TrainConfig):
    """A recipe with a setting more. Nothing but this field knows of it."""

    warm_up: float | None = field(
        default=None,
        metadata=setting(
            "share of the steps that warm up",
            limits=(0.0, 0.5),
            control=SettingControl("Warm-up", "", BATCHES, 6, numbers=(0.0, 0.5), step=0.01, digits=2),
        ),
    )


def options(command: Any) -> argparse.ArgumentParser:
    return bind.add_command(argparse.ArgumentParser().add_subparsers(), command)


def test_new_field_is_an_option_a_control_and_an_entry_and_refuses_what_is_outside_its_limits() -> None:
    def command(recipe: Annotated[dict[str, Any], bind.FieldOptions(WarmRecipe)]) -> None: ...

    assert options(command).parse_args(["--warm-up", "0.1"]).warm_up == 0.1
    recipe = WarmRecipe(warm_up=0.1)
    assert Description("x", recipe).to_json()["config"]["warm_up"] == 0.1
    assert WarmRecipe().to_json()["warm_up"] is None
    with pytest.raises(ConfigError, match=r"^warm_up is a number from 0 to 0\.5; received 2\.0$"):
        WarmRecipe(warm_up=2.0)
    controls = list(settings.setting_controls(settings_of(WarmRecipe)))
    assert controls[controls.index("fresh_rows") + 1] == "warm_up"
    assert forecast.speed_key(recipe, 70) != forecast.speed_key(WarmRecipe(), 70)


KINDS: list[Any] = [TrainConfig, Description]
SETTINGS = {name: (kind, about) for kind in KINDS for name, about in settings_of(kind).items()}


def test_all_but_what_no_reader_sets_is_a_setting() -> None:
    names = {part.name for kind in KINDS for part in fields(kind)}
    assert names - set(SETTINGS) == {"config", "text", "command", "created", "logged", "sha256"}


@pytest.mark.parametrize(("name", "kind", "about"), [(name, *pair) for name, pair in SETTINGS.items()])
def test_setting_is_an_option_with_its_help_and_an_entry_of_the_folder(
    name: str, kind: Any, about: Setting
) -> None:
    shown = " ".join(options(train).format_help().split())
    assert f"--{about.option(name)}" in shown
    assert about.help in shown or name == "cell", "the command's cell may also be ngram"
    description = Description("x", TrainConfig()).to_json()
    assert name in (description["config"] if kind is TrainConfig else description | {"watch_text": 0})


def test_form_draws_every_control(open_app: Open, started: object) -> None:
    app = pick_text(open_app("train"), "python-docs")
    app.button_group(key="train-more").set_value("settings").run()
    for limit in ("minutes", "characters"):
        app.button_group(key="set-until").set_value(limit).run()
        widgets = [*app.selectbox, *app.button_group, *app.number_input, *app.slider]
        keys = {str(widget.key).removeprefix("set-") for widget in widgets}
        assert set(settings.CONTROLS) - keys == {"minutes", "characters"} - {limit}
