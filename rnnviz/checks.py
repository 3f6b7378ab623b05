"""Arguments, checked by a function's own signature.

    @checked
    def sample(model: Model, prompt: str, length: int, *, seed: int = 0) -> str: ...

    sample(model, "The", np.int64(5))    length is 5, an int of Python's
    sample(model, "The", 5.5)            ConfigError: length is a whole number; received 5.5

The annotations are there already, for type checkers: so a public function states its types once, and no
caller meets a TypeError from deep inside. `checked` reads the annotations at a function's first
call. A parameter may be

    str, bytes, bool        a value of that type
    int, float              a number of Python, numpy or torch, given on as one of Python's; True is none
    Literal["a", "b"]       one of these words
    Callable                a function
    os.PathLike, BinaryIO   a path, an open file
    Sequence, Iterable, Mapping
    a class of rnnviz

or several of these, joined by |, and None. What may be anything else, a model or an array, say, is left to
the function, and so are ranges.
"""

import builtins
import inspect
import os
import pkgutil
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache, wraps
from inspect import Parameter
from itertools import chain
from operator import index
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    BinaryIO,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
)

from rnnviz.errors import ConfigError, Phrase, TextError

F = TypeVar("F", bound=Callable[..., Any])

TEXT_PARAMETERS = {
    "text",
    "corpus",
    "held_out",
    "prompt",
    "context",
    "given",
    "source",
    "into",
    "watch_text",
    "title",
    "example",
}
"""Parameters that take a text of the user's, and no name: `check_text` says what to do."""

SELF_CHECKED = {"cell"}
"""Parameters that the function checks itself: a table says which words there are."""

COUNT_PARAMETERS = {"seed", "controls", "copies"}
"""Parameters that are whole numbers from 0."""

MAX_QUOTED_CHARS = 40
"""Characters of a value that is shown as it is."""


def checked(function: F) -> F:
    """A function, or a class with its methods, whose arguments are checked before each call.

    Raises ConfigError, and TextError where a text is asked for.

    >>> @checked
    ... def again(text: str, times: int = 2, *, spaced: bool = False) -> str:
    ...     return (" " if spaced else "").join([text] * times)
    >>> import numpy as np
    >>> again("ab", np.int64(3), spaced=True)
    'ab ab ab'
    >>> again("ab", 1.5)
    Traceback (most recent call last):
    ...
    rnnviz.errors.ConfigError: times is a whole number; received 1.5
    """
    if isinstance(function, type):
        for name, member in list(vars(function).items()):
            if name == "__init__" or not name.startswith("_"):
                if inspect.isfunction(member):
                    setattr(function, name, checked(member))
                elif isinstance(member, classmethod):
                    setattr(function, name, classmethod(checked(member.__func__)))
        return function
    # Read at the first call: an annotation may name a class of a module that imports this function's own.
    rules: list[Any] = []

    @wraps(function)
    def checking(*arguments: Any, **keywords: Any) -> Any:
        if not rules:
            rules.extend(_rules(function))
        places, further, by_name = rules
        values = list(arguments)
        for place, value in enumerate(arguments):
            rule = places[place] if place < len(places) else further
            # A str for a str is the usual case: one look into a set, as some of these are called at each key.
            if type(value) not in rule.plain:
                values[place] = rule.convert(value)
        for name, value in keywords.items():
            rule = by_name.get(name, _UNCHECKED)
            if type(value) not in rule.plain:
                keywords[name] = rule.convert(value)
        return function(*values, **keywords)

    return checking  # type: ignore[return-value]


def renamed(**new_names: str) -> Callable[[F], F]:
    """A function that also takes parameters by their names of the version before: old=new.

    An old name works for one version, and its DeprecationWarning says what to write.

    >>> import warnings
    >>> @renamed(loud="shout")
    ... def greet(name: str, *, shout: bool = False) -> str:
    ...     return f"Hello, {name}" + "!" * shout
    >>> with warnings.catch_warnings(record=True, action="always") as messages:
    ...     greet("Ada", loud=True)
    'Hello, Ada!'
    >>> print(messages[0].message)
    greet's loud= is called shout= now: write greet(…, shout=…)
    """

    def decorate(function: F) -> F:
        @wraps(function)
        def call(*positional: Any, **named: Any) -> Any:
            for old, new in new_names.items():
                if old in named and new not in named:
                    name = function.__name__
                    warnings.warn(
                        f"{name}'s {old}= is called {new}= now: write {name}(…, {new}=…)",
                        DeprecationWarning,
                        stacklevel=2,
                    )
                    named[new] = named.pop(old)
            return function(*positional, **named)

        return call  # type: ignore[return-value]

    return decorate


def renamed_names(module: str, **new_names: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module that also has its names of the version before: old=new.

    A new name with dots is of another module. An old name works for one version, and its DeprecationWarning
    says what to write.

    >>> import warnings
    >>> get = renamed_names("rnnviz.checks", word_of="received")
    >>> with warnings.catch_warnings(record=True, action="always") as messages:
    ...     get("word_of") is received
    True
    >>> print(messages[0].message)
    rnnviz.checks.word_of is called received now: write rnnviz.checks.received
    """

    def get(name: str) -> Any:
        if name not in new_names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        new = new_names[name]
        path = new if "." in new else f"{module}.{new}"
        warnings.warn(f"{module}.{name} is called {new} now: write {path}", DeprecationWarning, stacklevel=2)
        return pkgutil.resolve_name(path)

    return get


def received(value: object) -> str:
    """A value of a wrong type in a word or two."""
    return "None" if value is None else type(value).__name__


def check_text(text: object) -> str:
    """`text` itself if it is a str. Raises TextError, which tells for bytes and paths what to do."""
    if isinstance(text, str):
        return text
    if isinstance(text, bytes | bytearray):
        raise TextError("a text is a str; received bytes: decode them, as with .decode('utf-8')")
    if isinstance(text, os.PathLike):
        raise TextError("a text is a str; received a path: read the file, as with Path.read_text()")
    if hasattr(text, "text"):
        raise TextError("a text is a str; received a {received}: write its .text", received=received(text))
    if hasattr(text, "__iter__"):
        raise TextError(
            "a text is a str; received {received}: join several texts, as with '\\n'.join(texts)",
            received=received(text),
        )
    raise TextError("a text is a str; received {received}", received=received(text))


def check_path(path: object) -> str:
    """A path as a str. Raises ConfigError for any other value."""
    if isinstance(path, str | os.PathLike) and isinstance(text := os.fspath(path), str):
        return text
    raise ConfigError(
        "a file is given by its path, a str or a Path; received {received}", received=received(path)
    )


def text_or_file(
    text: str | os.PathLike[str] | BinaryIO | None, path: str | os.PathLike[str] | BinaryIO | None
) -> tuple[str | None, str | os.PathLike[str] | BinaryIO | None]:
    """The text and the file, of which one is None: a Path or an open file given as `text` is a file.

    A str is the text itself, whatever files lie around. Raises ConfigError for two files.
    """
    if isinstance(text, os.PathLike) or hasattr(text, "read"):
        if path is not None:
            raise ConfigError("give either a file or text=…; received both")
        return None, text
    return None if text is None else check_text(text), path


class _ValueKind(NamedTuple):
    """Something that a parameter may be: in words, the function that converts a value (_REJECTED: another
    kind), and the types whose values are given on as they are.
    """

    description: str
    convert: Callable[[Any], Any]
    plain: tuple[type, ...] = ()


_REJECTED = object()


def _instance(kind: Any) -> Callable[[Any], Any]:
    return lambda value: value if isinstance(value, kind) else _REJECTED


# The converters ask what a value can do (`__index__`, `__float__`, a dtype's name), not of which class it is:
# so numpy's and torch's numbers pass without an import of torch. An array with an axis is no number, although
# one of a single element would turn into one.


def _truth(value: Any) -> Any:
    of_array = str(getattr(value, "dtype", "")).endswith("bool") and not value.ndim
    return bool(value) if of_array or isinstance(value, bool) else _REJECTED


def _whole(value: Any) -> Any:
    try:
        return index(value) if _truth(value) is _REJECTED else _REJECTED
    except TypeError:
        return _REJECTED


def _real(value: Any) -> Any:
    if not hasattr(value, "__float__") or isinstance(value, str) or getattr(value, "ndim", False):
        return _REJECTED
    try:
        return float(value) if _truth(value) is _REJECTED else _REJECTED
    except (TypeError, ValueError, OverflowError):
        return _REJECTED


def _list(value: Any) -> Any:
    try:
        iter(value)
    except TypeError:  # an array without an axis, too
        return _REJECTED
    return value


_PATH = _ValueKind(Phrase("a path"), _instance(os.PathLike))
_LIST = _ValueKind(Phrase("a list"), _list)
_COUNT = _ValueKind(
    Phrase("a whole number from 0"),
    lambda value: n if (n := _whole(value)) is not _REJECTED and n >= 0 else _REJECTED,
)
_KINDS: Mapping[Any, _ValueKind] = {
    NoneType: _ValueKind("None", _instance(NoneType), (NoneType,)),
    str: _ValueKind(Phrase("a str"), _instance(str), (str,)),
    bytes: _ValueKind(Phrase("bytes"), _instance(bytes), (bytes,)),
    bool: _ValueKind(Phrase("true or false"), _truth, (bool,)),
    int: _ValueKind(Phrase("a whole number"), _whole, (int,)),
    float: _ValueKind(Phrase("a number"), _real, (int, float)),
    Callable: _ValueKind(Phrase("a function"), lambda value: value if callable(value) else _REJECTED),
    BinaryIO: _ValueKind(
        Phrase("an open file"), lambda value: value if hasattr(value, "read") else _REJECTED
    ),
    Mapping: _ValueKind(Phrase("a mapping"), _instance(Mapping)),
    Sequence: _ValueKind(
        _LIST.description, lambda value: _list(value) if hasattr(value, "__len__") else _REJECTED
    ),
    Iterable: _LIST,
    os.PathLike: _PATH,
    Path: _PATH,
}
_CLASSES = {
    "Intervention": Phrase("a Clamp, Zero or Scale"),
    "Trace": Phrase("a Trace, as rnnviz.trace(model, text) returns one"),
    "TrainConfig": Phrase("a rnnviz.TrainConfig, which comes first, then the text"),
}


def _kinds(annotation: Any) -> list[_ValueKind]:
    """The kinds of an annotation. Raises LookupError where it may be something that isn't checked."""
    origin, inside = get_origin(annotation) or annotation, get_args(annotation)
    if origin is Annotated:
        return _kinds(inside[0])
    if origin in (Union, UnionType):
        return [kind for member in inside for kind in _kinds(member)]
    if origin is Literal:
        words = " or ".join(map(repr, inside))
        return [
            _ValueKind(
                words, lambda value: value if isinstance(value, str) and value in inside else _REJECTED
            )
        ]
    if origin in _KINDS:
        return [_KINDS[origin]]
    name = getattr(origin, "__name__", "")
    ours = isinstance(origin, type) and origin.__module__.startswith("rnnviz.")
    if not ours or getattr(origin, "_is_protocol", None):
        raise LookupError(name)
    return [_ValueKind(_CLASSES.get(name, Phrase("a {name}", name=name)), _instance(origin))]


class _Rule:
    """What a parameter may be, by its annotation."""

    def __init__(self, name: str, annotation: Any) -> None:
        self.name, self.kinds = name, _kinds(annotation)
        if name in COUNT_PARAMETERS:
            self.kinds = [_COUNT if kind is _KINDS[int] else kind for kind in self.kinds]
        self.plain = frozenset(chain.from_iterable(kind.plain for kind in self.kinds))

    def convert(self, value: Any) -> Any:
        """The value as it is given on. Raises ConfigError, TextError."""
        for kind in self.kinds:
            if (converted := kind.convert(value)) is not _REJECTED:
                return converted
        if self.name in TEXT_PARAMETERS and _KINDS[str] in self.kinds:
            check_text(value)
        if _PATH in self.kinds:
            check_path(value)
        descriptions = [kind.description for kind in self.kinds]
        short = isinstance(value, str | int | float) and len(repr(value)) <= MAX_QUOTED_CHARS
        raise ConfigError(
            "{name} is {kind}; received {received}",
            name=self.name,
            kind=descriptions[0] if len(descriptions) == 1 else " or ".join(descriptions),
            received=repr(value) if short else received(value),
        )


class _Unchecked:
    """The rule of a parameter that isn't checked: values of every type are given on as they are."""

    def __init__(self) -> None:
        self.plain = self

    def __contains__(self, kind: object) -> bool:
        return True


_UNCHECKED: Any = _Unchecked()


class _Unknown:
    """A name that only type checkers know."""

    def _itself(self, *_: object) -> "_Unknown":
        return self

    __or__ = __ror__ = __getitem__ = __getattr__ = _itself


# A module may import a type under TYPE_CHECKING alone, so that it loads neither torch nor pandas. Evaluating
# an annotation of that name would raise NameError; with this mapping the name means "not checked" instead.
class _Names(dict[str, Any]):
    """A module's names for types; for one that it keeps for type checkers, this module's, or _Unknown."""

    def __missing__(self, name: str) -> Any:
        return globals().get(name) or getattr(builtins, name, _Unknown())


def _rules(function: Callable[..., Any]) -> tuple[list[Any], Any, dict[str, Any]]:
    """The rules of a function's parameters: by place, of all further places, and by name."""
    home = inspect.unwrap(function).__globals__
    # Without strings: numpy_model's `Model = "Network | NgramModel"` is one, and `Model | None` of a str and
    # None would raise TypeError. The name then means "not checked".
    names = _Names({name: value for name, value in home.items() if not isinstance(value, str)})
    hints = get_type_hints(function, None, names, include_extras=True)
    places, further, named = list[Any](), _UNCHECKED, dict[str, Any]()
    for parameter in inspect.signature(function).parameters.values():
        hint = hints.get(parameter.name, Any)
        if parameter.kind is Parameter.VAR_POSITIONAL:
            further = _rule(parameter.name, hint)
        elif get_origin(hint) is Unpack:
            inside = get_type_hints(get_args(hint)[0])
            named |= {name: _rule(name, annotation) for name, annotation in inside.items()}
        else:
            named[parameter.name] = _rule(parameter.name, hint)
            places += [named[parameter.name]] * (parameter.kind is not Parameter.KEYWORD_ONLY)
    return places, further, named


def _rule(name: str, hint: Any) -> Any:
    try:
        return _UNCHECKED if name in SELF_CHECKED else _Rule(name, hint)
    except LookupError:
        return _UNCHECKED


LARGEST_FLOAT = 1e300
"""The bound of floats: JSON's Infinity is beyond it."""


def restore(kind: Any, value: Any) -> Any:
    """`value` as a `kind`: a dataclass, tuple, list, dict, Literal, str, int, float, bool, or one of them or
    None. Raises ValueError for another type, an infinity or NaN; LookupError or TypeError for fields that
    the dataclass doesn't have.

    >>> restore(tuple[int, float | None], [1, None])
    (1, None)
    >>> restore(tuple[int, ...], [1, "2"])
    Traceback (most recent call last):
    ValueError: '2' is no int
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        (value_type,) = (part for part in parts if part is not NoneType)
        return None if value is None else restore(value_type, value)
    if is_dataclass(kind):
        dataclass_type: Any = kind
        hints = _field_hints(dataclass_type)
        return dataclass_type(**{name: restore(hints[name], item) for name, item in value.items()})
    if origin is tuple:
        kinds = parts[:1] * len(value) if parts[1:] == (...,) else parts
        return tuple(restore(part, item) for part, item in zip(kinds, value, strict=True))
    if origin is Literal:
        fits = value in parts
    elif kind is float:
        fits = type(value) in (int, float) and abs(value) < LARGEST_FLOAT  # NaN fails the comparison, too
    else:
        fits = type(value) is (origin or kind)
    if not fits:
        raise ValueError(f"{value!r} is no {getattr(kind, '__name__', kind)}")
    return value


@cache
def _field_hints(kind: Any) -> Mapping[str, Any]:
    return get_type_hints(kind)
