"""Typed functions as commands of argparse.

    def sample(model_arg: ModelOnDevice, *, prompt: Annotated[str, Help("continue this", "-p")] = "") -> None:
        '''Continue a text.'''

A parameter becomes an option of the same name, and its type decides the parsing: a bool is a flag, a Literal
a choice, a list a repeatable option; any other type converts the word. A parameter without a default is
required; None stands for an absent option.

A dataclass stands for its fields as options. Where it is optional and no option is given, the parameter is
None. FieldOptions keeps only the given settings, as a dict. The docstring's first paragraph describes the
command; the rest stands below its options.
"""

import argparse
import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from rnnviz.errors import ConfigError
from rnnviz.networks.settings import settings_of


@dataclass(frozen=True, eq=False)
class ExclusiveGroup:
    """Options that exclude each other; `required`: one of them must be given."""

    required: bool = False


class Help:
    """An option's help and parsing, in Annotated.

    about       its help; the default is added
    names       other names, as "-p"; a long one replaces the parameter's
    metavar     placeholder of its value
    convert     parses a word; for a list, the whole list
    least       the lowest number; a lower one raises ConfigError, which names the parameter
    positional  without dashes
    one_of      its group of options that exclude each other
    action      an argparse.Action such as Removed, with `about` as its constant
    """

    def __init__(
        self,
        about: str,
        *names: str,
        metavar: str | None = None,
        convert: Callable[[str], Any] | None = None,
        least: int | None = None,
        positional: bool = False,
        one_of: ExclusiveGroup | None = None,
        action: type[argparse.Action] | None = None,
    ) -> None:
        self.about, self.names, self.metavar, self.convert = about, names, metavar, convert
        self.least, self.positional, self.one_of, self.action = least, positional, one_of, action


class FieldOptions:
    """In Annotated, for a dict: the given settings (rnnviz.networks.settings) among a dataclass's fields, by
    name, without those in `but`. The dataclass itself checks the values, so a Literal is parsed as a word.
    `title` heads their options; "" puts them among the command's others.
    """

    def __init__(self, kind: Any, title: str = "", *, but: Sequence[str] = ()) -> None:
        self.title, self.hints = title, get_type_hints(kind)
        self.settings = {name: about for name, about in settings_of(kind).items() if name not in but}
        self.defaults = {field.name: field.default for field in fields(kind)}


class Removed(argparse.Action):
    """A removed option: prints `const`, the replacement, and exits with 2."""

    def __init__(self, option_strings: Any, dest: str, const: str) -> None:
        super().__init__(option_strings, dest, nargs="?", const=const, help=argparse.SUPPRESS)

    def __call__(
        self, parser: argparse.ArgumentParser, _args: object, _value: object, option: str | None = None
    ) -> None:
        parser.exit(2, f"rnnviz: {option} is gone: {self.const}\n")


class UsageError(Exception):
    """Options that contradict each other: prints usage, and exits with 2."""


def add_command(commands: Any, function: Callable[..., int | None]) -> argparse.ArgumentParser:
    """Add a function as a command; returns its parser. The default `run` calls the function, and returns its
    exit status, None for success.
    """
    about, _, epilog = inspect.cleandoc(function.__doc__ or "").partition("\n\n")
    parser: argparse.ArgumentParser = commands.add_parser(
        function.__name__.replace("_", "-"),
        help=_escape_percent(about),  # shell completion generators read it
        description=_escape_percent(about),
        epilog=_escape_percent(epilog),
        formatter_class=argparse.RawDescriptionHelpFormatter if epilog else argparse.HelpFormatter,
    )
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    groups: dict[ExclusiveGroup, Any] = {}
    for parameter in parameters:
        option, kind = _split_hint(hints[parameter.name])
        if isinstance(option, FieldOptions):
            _add_field_options(parser, option)
        elif is_dataclass(kind):
            field_hints = get_type_hints(kind, include_extras=True)
            for field in fields(kind):
                required = parameter.default is parameter.empty
                _add_option(
                    parser, field.name, *_split_hint(field_hints[field.name]), field.default, groups, required
                )
        else:
            default = MISSING if parameter.default is parameter.empty else parameter.default
            _add_option(parser, parameter.name, option, kind, default, groups)

    def run(namespace: argparse.Namespace) -> int | None:
        try:
            return function(
                **{
                    parameter.name: _parse_value(parameter.name, hints[parameter.name], namespace)
                    for parameter in parameters
                }
            )
        except UsageError as error:
            parser.error(str(error))

    parser.set_defaults(run=run)
    return parser


def _add_field_options(parser: argparse.ArgumentParser, field_options: FieldOptions) -> None:
    """Add options whose help names their defaults, but which are MISSING where not given: None is a value."""
    group = parser.add_argument_group(field_options.title) if field_options.title else parser
    for name, setting in field_options.settings.items():
        _option, kind = _split_hint(field_options.hints[name])
        option = Help(setting.help, *setting.names, metavar=setting.metavar, convert=setting.parse)
        default = None if field_options.defaults[name] is MISSING else field_options.defaults[name]
        _add_option(group, name, option, str if get_origin(kind) is Literal else kind, default, {})
    parser.set_defaults(**dict.fromkeys(field_options.settings, MISSING))


def _parse_value(name: str, kind: Any, namespace: argparse.Namespace) -> Any:
    """The value given for a parameter or a field. Raises ConfigError for a number that is too low."""
    option, bare = _split_hint(kind)
    if isinstance(bare, type) and is_dataclass(bare):
        hints = get_type_hints(bare, include_extras=True)
        field_values = {
            field.name: _parse_value(field.name, hints[field.name], namespace) for field in fields(bare)
        }
        # An optional dataclass of which no option was given is None, not one of defaults.
        is_given = any(value is not None for value in field_values.values())
        return bare(**field_values) if kind is bare or is_given else None
    if isinstance(option, FieldOptions):
        values = {name: getattr(namespace, name) for name in option.settings}
        return {name: value for name, value in values.items() if value is not MISSING}
    value, least = getattr(namespace, name), option.least
    if least is not None and value is not None:
        check_minimum(name, value, least)
    return value


def check_minimum(name: str, value: float, least: float) -> None:
    """Raise ConfigError for an option's value below `least`."""
    if value < least:
        raise ConfigError("{name} is at least {least}; received {value}", name=name, least=least, value=value)


def _split_hint(kind: Any) -> tuple[Any, Any]:
    """A parameter's Help, and its type without Annotated and None."""
    option: Any = ""
    if get_origin(kind) is Annotated:
        kind, option, *_rest = get_args(kind)
    if get_origin(kind) in (Union, UnionType):
        kind = next(member for member in get_args(kind) if member is not NoneType)
    return Help(option) if isinstance(option, str) else option, kind


def _add_option(
    parser: Any,
    name: str,
    option: Help,
    bare: Any,
    default: Any,
    groups: dict[ExclusiveGroup, Any],
    required: bool = True,
) -> None:
    optional = default is not MISSING
    arguments: dict[str, Any] = {"help": _escape_percent(option.about) + _default_note(option.about, default)}
    if option.action is not None:
        arguments = {"action": option.action, "const": option.about}
    elif bare is bool:
        arguments["action"] = "store_false" if default is True else "store_true"
    elif get_origin(bare) is Literal:
        arguments |= {"type": option.convert, "choices": get_args(bare), "metavar": option.metavar}
    else:
        repeatable = get_origin(bare) is list and option.convert is None
        arguments |= {
            "type": option.convert or (get_args(bare)[0] if repeatable else bare),
            "metavar": option.metavar,
        }
        if repeatable:
            # Positional words follow each other; an option is given again for each value, since a list after
            # it would swallow the positional words behind it.
            arguments |= {"nargs": "+"} if option.positional else {"action": "append"}
    if option.one_of is not None:
        if option.one_of not in groups:
            groups[option.one_of] = parser.add_mutually_exclusive_group(
                required=option.one_of.required and required
            )
        parser, optional = groups[option.one_of], True
    if option.positional:
        parser.add_argument(name, **({"nargs": "?"} if optional else {}), **arguments)
        return
    long = [written for written in option.names if written.startswith("--")]
    short = [written for written in option.names if written not in long]
    names = [*(long or [f"--{name.replace('_', '-')}"]), *short]
    if default is not MISSING and option.action is None:
        arguments["default"] = default
    if not optional:
        arguments["required"] = True
    parser.add_argument(*names, dest=name, **arguments)


def _default_note(about: str, default: Any) -> str:
    """A default for the help; "" where the help words it."""
    if "default:" in about or default == "" or isinstance(default, bool):
        return ""
    if not isinstance(default, int | float | str):
        return ""
    number = (
        f"{default:,}"
        if isinstance(default, int)
        else f"{default:g}"
        if isinstance(default, float)
        else default
    )
    return f" (default: {number})"


# argparse fills %(prog)s and the like into a help text, and fails at a lone percent sign.
def _escape_percent(text: str) -> str:
    return text.replace("%", "%%")
