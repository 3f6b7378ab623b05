"""The fields that a reader sets: declared once, remembered across pages, kept in the address, validated here.

    SECTION = Field("section", "origin", address="section", title=N_("Section"))

    section = SECTION.choose(_("Section"), words)        # a row of choices; or, around a widget of any kind:

    edges = EDGES.resolve(range(21))                     # decides this run's value, before its widget
    st.number_input(_("Margin"), 0, 20, **EDGES.widget)

`resolve` tries, in this order: the value that code has requested; the address's value, once after every
arrival; the widget's value; the default. The first that is among the options wins.

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

MAX_PASTE_CHARS = 1_000_000


def paste_field(key: str, *, height: int, placeholder: str) -> str:
    """Draw the field for a pasted text.

    Returns the text, or its first MAX_PASTE_CHARS characters with a warning on the page: Streamlit cuts a
    longer one silently.
    """
    text = st.text_area(
        _("Text"),
        key=key,
        persist_state="session",
        height=height,
        max_chars=MAX_PASTE_CHARS,
        placeholder=placeholder,
    )
    if len(text or "") >= MAX_PASTE_CHARS:
        st.warning(
            _(
                "This field takes {n} characters; the rest was cut off. Upload a longer text as a file."
            ).format(n=f"{MAX_PASTE_CHARS:,}"),
            icon=":material/content_cut:",
        )
    return text or ""


T = TypeVar("T")
Options = Mapping[Any, str] | Collection[Any]
UNSET: Any = object()  # a sentinel, because None is a value: no character chosen
MEMOS_KEY = "fields"  # a key of st.session_state: each field's memo, by the field's key


@dataclass
class _Memo:
    """A field in one session: what Streamlit doesn't tell, because it knows a widget's newest value only.

    value      the field's value at the last run
    usual      its default at the last run
    subject    the object it was set for at the last run, such as a text's checksum
    run        the number of the last run that decided it
    requested  the value that code has requested since; UNSET: none
    missed     a value that is not among the options, or the error in the address's text; UNSET: none
    refused    the sentence about `missed`, until the reader sets the field
    """

    value: Any
    usual: Any
    subject: Hashable = None
    run: int = 0
    requested: Any = UNSET
    missed: Any = UNSET
    refused: str = ""


@dataclass(frozen=True)
class Field(Generic[T]):
    """A value that a reader sets. For several values, T is a tuple: a list as default would be shared by all
    sessions.

    key      the widget's key in st.session_state
    default  the value until the reader sets one; `resolve` may name another, such as one for each model
    address  its name in the address; "" for none
    title    its name in a sentence about a wrong value, in English
    parse    makes the value from the address's text, such as `int`; raises ValueError, or RnnvizError with a
             reason
    brief    whether the address omits it while it is the default
    always   whether every written address has it. Back to an address without it leads to an entry that was
             left before its page had written it: the session's values stay, as after a link.
    """

    key: str
    default: T = cast(Any, None)  # noqa: RUF009 (frozen, and None)
    address: str = ""
    title: str = ""
    parse: Callable[[str], Any] = str
    brief: bool = False
    always: bool = False

    @property
    def _memo(self) -> _Memo:
        memos: dict[str, _Memo] = st.session_state.setdefault(MEMOS_KEY, {})
        return memos.setdefault(self.key, _Memo(self.default, self.default))

    def get(self) -> T:
        """The current value, for callbacks and for places where the widget isn't drawn."""
        return self._widget_value() if self._memo.requested is UNSET else cast(T, self._memo.requested)

    def _widget_value(self) -> T:
        """The widget's value; before the widget is drawn, the last run's value."""
        value = st.session_state.get(self.key, self._memo.value)
        return cast(T, tuple(value) if isinstance(value, list) else value)  # st.multiselect gives a list

    def request(self, value: T) -> None:
        """Set the value from code, in a callback or before a st.rerun(); the next `resolve` takes it.

        None resets it to the default.
        """
        self._memo.requested = value

    def resolve(
        self,
        options: Options | None = None,
        usual: T | None = None,
        *,
        subject: Hashable = None,
        why: Callable[[Any], str] | None = None,
    ) -> T:
        """Decide this run's value, before the widget is drawn.

        options  the values allowed; None allows all
        usual    this run's default, which may differ between models; None: the field's default
        subject  the object the value belongs to, such as a text's checksum
        why      makes the sentence on a value that is not among the options any more; None: no sentence

        The reader's value is dropped for `usual` once it is not among `options` any more, or once `subject`
        has changed.
        """
        memo, arrival = self._memo, address.arrival()
        if self.always and self.address not in arrival.values:
            arrival.back = False
        usual = self.default if usual is None else usual
        value, request = self._widget_value(), memo.requested
        # A field on a part of the page that was closed meanwhile meets an arrival some runs later. And a run
        # that Streamlit has cut off for the next one may not have reached the browser: it counts again.
        arrived = memo.run < arrival.run or not arrival.is_answered
        if arrived or request is not UNSET or value != memo.value or memo.missed in (options or ()):
            memo.missed = UNSET
        not_allowed = not isinstance(value, tuple) and not is_allowed(value, options)
        if not_allowed and why is not None:
            memo.missed = value
        # Streamlit can't say whether the reader chose the value or it is the last run's default, left in the
        # widget. A value equal to the last default is taken as not chosen: it follows a default that changes.
        if not_allowed or value == memo.usual or subject != memo.subject or (arrived and arrival.back):
            value = usual
        if isinstance(value, tuple) and options is not None:
            value = cast(T, tuple(part for part in value if part in options))
        # A request of code is newer than the address that led here, and takes its place: a run that
        # is cut off is made again by the same arrival, which would undo it.
        if arrived and request is not UNSET and self.address:
            values = dict(arrival.values) | {self.address: address_text(request)}
            arrival.values = {name: str(text) for name, text in values.items() if text is not None}
        address_value = arrival.values.get(self.address) if arrived and request is UNSET else None
        if address_value is not None:
            try:
                request = self.parse(address_value)
            except RnnvizError as error:
                memo.missed = error
            except ValueError:
                memo.missed = address_value
        if request is not UNSET and is_allowed(request, options):
            value, memo.missed = usual if request is None else request, UNSET
        elif request is not UNSET:
            memo.missed = request if address_value is None else address_value
        memo.value, memo.usual, memo.requested = value, usual, UNSET
        memo.subject, memo.run = subject, address.run_number()
        stored = list(value) if isinstance(value, tuple) else value  # st.multiselect takes a list
        # A value that the widget has already is not set again: a slider that the reader moves meanwhile would
        # jump back. After an arrival it is: the browser may have missed the result of a run that was cut off.
        if arrived or st.session_state.get(self.key, UNSET) != stored:
            st.session_state[self.key] = stored
        if self.address:
            address.set_values(
                **{self.address: None if self.brief and value == usual else address_text(value)}
            )
        memo.refused = "" if memo.missed is UNSET else self._refusal(memo.missed, value, options, why)
        return value

    def _refusal(
        self, missed: Any, value: T, options: Options | None, why: Callable[[Any], str] | None
    ) -> str:
        if isinstance(missed, RnnvizError):
            return describe(missed)
        message = _("There is no **{asked}** under *{title}* here.")
        message = why(missed) if why else message.format(asked=plain(str(missed), 100), title=_(self.title))
        values = value if isinstance(value, tuple) else () if value is None else (value,)
        labels = [options[part] if isinstance(options, Mapping) else str(part) for part in values]
        replacement = _("This is **{shown}**.").format(shown=plain(", ".join(labels)))
        return f"{message} {replacement}" if labels else message

    @property
    def widget(self) -> dict[str, Any]:
        """The arguments that tie a widget to this field, after `resolve`."""
        # Without persist_state, Streamlit drops the value with the widget. An older value, set while the
        # widget was not drawn, would then come back.
        return {"key": self.key, "persist_state": "session"}

    def choose(
        self,
        label: str,
        words: Mapping[Any, str],
        usual: T | None = None,
        *,
        subject: Hashable = None,
        why: Callable[[Any], str] | None = None,
        draw: Callable[..., Any] | None = None,
        **options: Any,
    ) -> T:
        """Draw the choice among `words` (label by key) and return the chosen key.

        `draw` is the widget, such as st.selectbox, with its `options`; None: a segmented control. A single
        option is no choice: it is written, without a widget.
        """
        value = self.resolve(words, usual, subject=subject, why=why)
        if list(words) == [value]:
            if options.get("label_visibility") != "collapsed":
                st.markdown(f":small[{label}]  \n{plain(words[value])}", help=options.get("help"))
            return value
        if draw is None:
            draw, options = st.segmented_control, {"required": True, **options}
        draw(label, list(words), format_func=words.__getitem__, **self.widget, **options)
        return value


def is_allowed(value: Any, options: Options | None) -> bool:
    """Whether a value is among the options; a tuple, if all its values are; None always."""
    if value is None or options is None:
        return True
    return all(part in options for part in value) if isinstance(value, tuple) else value in options


def address_text(value: Any) -> str | None:
    """A value as the address's text; None for an empty one."""
    return ",".join(map(str, value)) or None if isinstance(value, tuple) else value


def show_rejected_values() -> None:
    """Show which wanted values are not available. The page calls this last, in a place at its top: the field
    itself may be in a part that is closed.
    """
    memos: dict[str, _Memo] = st.session_state.get(MEMOS_KEY, {})
    messages = [memo.refused for memo in memos.values() if memo.refused and memo.run == address.run_number()]
    if messages:
        st.warning("  \n".join(messages), icon=":material/swap_horiz:")
