"""The fields that a reader sets: declared once, remembered across pages, kept in the address, validated here.

    SECTION = Field("section", "origin", address="section", title=N_("Section"))

    section = SECTION.choose(_("Section"), words)        # a row of choices; or, around a widget of any kind:

    edges = EDGES.now(range(21))                         # decides this run's value, before its widget
    st.number_input(_("Margin"), 0, 20, **EDGES.widget)

`now` tries, in this order: the value that code has `put`; the address's value, once after every arrival; the
widget's value; the default. The first that is among the options wins.

Streamlit's `bind="query-params"` can't do this: it writes an option's label, which differs between languages,
and drops a wrong value silently.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

import streamlit as st

from rnnviz.errors import RnnvizError
from rnnviz.i18n import _
from rnnviz.ui.shell import address
from rnnviz.ui.shell.error_messages import describe, plain

LONGEST_PASTE = 1_000_000


def paste_field(key: str, *, height: int, placeholder: str) -> str:
    """Draw the field for a pasted text.

    Returns the text, or its first LONGEST_PASTE characters with a warning on the page: Streamlit cuts a
    longer one silently.
    """
    text = st.text_area(
        _("Text"),
        key=key,
        persist_state="session",
        height=height,
        max_chars=LONGEST_PASTE,
        placeholder=placeholder,
    )
    if len(text or "") >= LONGEST_PASTE:
        st.warning(
            _(
                "This field holds {n} characters. Whatever came after them was cut off: "
                "upload a longer text as a file."
            ).format(n=f"{LONGEST_PASTE:,}"),
            icon=":material/content_cut:",
        )
    return text or ""


T = TypeVar("T")
Options = Mapping[Any, str] | Collection[Any]
_NOTHING: Any = object()  # a sentinel, because None is a value: no character chosen
_MEMOS = "fields"  # a key of st.session_state: each field's memo, by the field's key


@dataclass
class _Memo:
    """A field in one session.

    value    its value at the last run
    usual    its default at the last run
    of       the object it was set for at the last run, such as a text's checksum
    run      the number of the last run that decided it
    wish     the value that code has put since
    missed   a wanted value that is not among the options, or the error in the address's text
    refused  the sentence about `missed`, until the reader sets the field
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
    """A value that a reader sets. For several values, T is a tuple: a list as default would be shared by all
    sessions.

    key      the widget's key in st.session_state
    default  the value until the reader sets one; `now` may name another, such as one for each model
    address  its name in the address; "" for none
    title    its name in a sentence about a wrong value, in English
    check    makes the value from the address's text, such as `int`; raises ValueError, or RnnvizError with a
             reason
    brief    whether the address omits it while it is the default
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
        """The current value, for callbacks and for places where the widget isn't drawn."""
        return self._held() if self._memo.wish is _NOTHING else cast(T, self._memo.wish)

    def _held(self) -> T:
        """The widget's value; before the widget is drawn, the last run's value."""
        value = st.session_state.get(self.key, self._memo.value)
        return cast(T, tuple(value) if isinstance(value, list) else value)  # st.multiselect gives a list

    def put(self, value: T) -> None:
        """Set the value from code, in a callback or before a st.rerun(); the next `now` takes it.

        None resets it to the default.
        """
        self._memo.wish = value

    def now(
        self,
        options: Options | None = None,
        usual: T | None = None,
        *,
        of: Hashable = None,
        why: Callable[[Any], str] | None = None,
    ) -> T:
        """Decide this run's value, before the widget is drawn.

        options  the values allowed; None allows all
        usual    this run's default, which may differ between models; None: the field's default
        of       the object the value belongs to, such as a text's checksum
        why      makes the sentence on a value that is not among the options any more; None: no sentence

        The reader's value is dropped for `usual` once it is not among `options` any more, or once `of` has
        changed.
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
        # A value that the widget has already is not set again: a slider that the reader moves meanwhile would
        # jump back. After an arrival it is: the browser may have missed the result of a run that was cut off.
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
        """The arguments that tie a widget to this field, after `now`."""
        # Without persist_state, Streamlit drops the value with the widget. An older value, set while the
        # widget was not drawn, would then come back.
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
        """Draw the choice among `words` (label by key) and return the chosen key.

        `draw` is the widget, such as st.selectbox, with its `options`; None: a segmented control. A single
        option is no choice: it is written, without a widget.
        """
        value = self.now(words, usual, of=of, why=why)
        if list(words) == [value]:
            if options.get("label_visibility") != "collapsed":
                st.markdown(f":small[{label}]  \n{plain(words[value])}", help=options.get("help"))
            return value
        if draw is None:
            draw, options = st.segmented_control, {"required": True, **options}
        draw(label, list(words), format_func=words.__getitem__, **self.widget, **options)
        return value


def _fits(value: Any, options: Options | None) -> bool:
    """Whether a value is among the options; a tuple, if all its values are; None always."""
    if value is None or options is None:
        return True
    return all(one in options for one in value) if isinstance(value, tuple) else value in options


def _written(value: Any) -> str | None:
    """A value as the address's text; None for an empty one."""
    return ",".join(map(str, value)) or None if isinstance(value, tuple) else value


def refused() -> None:
    """Show which wanted values are not available. The page calls this last, in a place at its top: the field
    itself may be in a part that is closed.
    """
    memos: dict[str, _Memo] = st.session_state.get(_MEMOS, {})
    said = [memo.refused for memo in memos.values() if memo.refused and memo.run == address.run()]
    if said:
        st.warning("  \n".join(said), icon=":material/swap_horiz:")
