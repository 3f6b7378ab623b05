"""What a reader sets: each field is declared once, remembered over pages, in the address, validated here.

    SECTION = Field("section", "origin", address="section", title=N_("Section"))

    section = SECTION.choose(_("Section"), words)        # a row of choices; or, around a widget of any kind:

    edges = EDGES.now(range(21))                         # decides this run's value, before its widget
    st.number_input(_("Margin"), 0, 20, **EDGES.widget)

`now` takes, in this order: what code has `put`; what the address asks for, once after every arrival; what the
widget says; the default. The first of these that is among the options wins. Streamlit's own
`bind="query-params"` can't do this: it writes an option's label, which is another in each language, and drops
a wrong value without a word.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

import streamlit as st

from rnnviz.errors import RnnvizError
from rnnviz.i18n import _
from rnnviz.ui import address
from rnnviz.ui.error_messages import describe, plain

T = TypeVar("T")
Options = Mapping[Any, str] | Collection[Any]
_NOTHING: Any = object()  # None is a value: a character that nobody has chosen
_MEMOS = "fields"  # of st.session_state: what is remembered of each field, by its key


@dataclass
class _Memo:
    """A field in one session.

    value    at the last run, `usual`, its default then, and what it was `of`
    run      the last one in which it was decided
    wish     what code has put since
    missed   what was wanted and isn't there, or the error that the address's text is; and `refused`, the
             sentence about it, until the reader sets the field
    """

    value: Any
    usual: Any
    of: Hashable = None
    run: int = 0
    wish: Any = _NOTHING
    missed: Any = _NOTHING
    refused: str = ""


@dataclass(frozen=True)
class Field(Generic[T]):
    """One thing that a reader sets. Of several values T is a tuple: all sessions would share a list.

    key      of its widget, in st.session_state
    default  before anybody set it; `now` may name another, as one that depends on the model
    address  its name in the address; "" for none
    title    what a sentence about a wrong value calls it, in English
    check    the value of the address's text, as `int`; raises ValueError, or RnnvizError with a reason
    brief    whether the address leaves it out while it is as usual
    """

    key: str
    default: T = cast(Any, None)  # noqa: RUF009 (frozen, and None)
    address: str = ""
    title: str = ""
    check: Callable[[str], Any] = str
    brief: bool = False

    @property
    def _memo(self) -> _Memo:
        memos: dict[str, _Memo] = st.session_state.setdefault(_MEMOS, {})
        return memos.setdefault(self.key, _Memo(self.default, self.default))

    def get(self) -> T:
        """The value by now; for callbacks, and where the widget isn't drawn."""
        return self._held() if self._memo.wish is _NOTHING else cast(T, self._memo.wish)

    def _held(self) -> T:
        """What the widget says, or before it is drawn the last run's value."""
        value = st.session_state.get(self.key, self._memo.value)
        return cast(T, tuple(value) if isinstance(value, list) else value)  # as st.multiselect gives it

    def put(self, value: T) -> None:
        """Set it from code, at the next `now`: in a callback, or before a st.rerun(). None: as usual."""
        self._memo.wish = value

    def now(
        self,
        options: Options | None = None,
        usual: T | None = None,
        *,
        of: Hashable = None,
        why: Callable[[Any], str] | None = None,
    ) -> T:
        """Decide this run's value, before the widget is drawn. Whoever set nothing gets the `usual` value,
        though it may be another for each model; so does everybody where what was set is not among the
        `options` any more, without a word unless `why` says, of a value, why it isn't; and where it was set
        for something else than what it is `of` now, such as another text.
        """
        memo, came = self._memo, address.arrival()
        usual = self.default if usual is None else usual
        value, wish = self._held(), memo.wish
        arrived = memo.run < came.run or not came.over
        if arrived or wish is not _NOTHING or value != memo.value or memo.missed in (options or ()):
            memo.missed = _NOTHING
        gone = not isinstance(value, tuple) and not _fits(value, options)
        if gone and why is not None:
            memo.missed = value
        if gone or value == memo.usual or of != memo.of or (arrived and came.back):
            value = usual
        if isinstance(value, tuple) and options is not None:
            value = cast(T, tuple(one for one in value if one in options))
        asked = came.asked.get(self.address) if arrived and wish is _NOTHING else None
        if asked is not None:
            try:
                wish = self.check(asked)
            except RnnvizError as error:
                memo.missed = error
            except ValueError:
                memo.missed = asked
        if wish is not _NOTHING and _fits(wish, options):
            value, memo.missed = usual if wish is None else wish, _NOTHING
        elif wish is not _NOTHING:
            memo.missed = wish if asked is None else asked
        memo.value, memo.usual, memo.wish = value, usual, _NOTHING
        memo.of, memo.run = of, address.run()
        stored = list(value) if isinstance(value, tuple) else value
        # What the widget says already is not set again: a slider that has been moved on meanwhile would jump
        # back. Of a run that was cut off the browser may not have heard.
        if arrived or st.session_state.get(self.key, _NOTHING) != stored:
            st.session_state[self.key] = stored
        if self.address:
            address.say(**{self.address: None if self.brief and value == usual else _written(value)})
        memo.refused = "" if memo.missed is _NOTHING else self._refusal(memo.missed, value, options, why)
        return value

    def _refusal(
        self, missed: Any, value: T, options: Options | None, why: Callable[[Any], str] | None
    ) -> str:
        if isinstance(missed, RnnvizError):
            return describe(missed)
        said = _("There is no **{asked}** under *{title}* here.")
        said = why(missed) if why else said.format(asked=plain(str(missed), 100), title=_(self.title))
        values = value if isinstance(value, tuple) else () if value is None else (value,)
        shown = [options[one] if isinstance(options, Mapping) else str(one) for one in values]
        now = _("This is **{shown}**.").format(shown=plain(", ".join(shown)))
        return f"{said} {now}" if shown else said

    @property
    def widget(self) -> dict[str, Any]:
        """The arguments that tie a widget to this field, once it is decided."""
        # Without persist_state, Streamlit forgets the value with the widget, and an older one that was set
        # while no widget was drawn comes to light again.
        return {"key": self.key, "persist_state": "session"}

    def choose(
        self,
        label: str,
        words: Mapping[Any, str],
        usual: T | None = None,
        *,
        of: Hashable = None,
        why: Callable[[Any], str] | None = None,
        draw: Callable[..., Any] | None = None,
        **options: Any,
    ) -> T:
        """One of `words`, keys and labels, as a segmented control or by `draw`, such as st.selectbox."""
        value = self.now(words, usual, of=of, why=why)
        if draw is None:
            draw, options = st.segmented_control, {"required": True, **options}
        draw(label, list(words), format_func=words.__getitem__, **self.widget, **options)
        return value


def _fits(value: Any, options: Options | None) -> bool:
    """Whether a value is one of the options; of several, whether all are. Nothing, None, always is."""
    if value is None or options is None:
        return True
    return all(one in options for one in value) if isinstance(value, tuple) else value in options


def _written(value: Any) -> str | None:
    """A value in the address; None for nothing."""
    return ",".join(map(str, value)) or None if isinstance(value, tuple) else value


def refused() -> None:
    """Say what was wanted in vain. Called last, for a place on top of the page: a field may stand in a part
    that nobody has opened.
    """
    memos: dict[str, _Memo] = st.session_state.get(_MEMOS, {})
    said = [memo.refused for memo in memos.values() if memo.refused and memo.run == address.run()]
    if said:
        st.warning("  \n".join(said), icon=":material/swap_horiz:")
