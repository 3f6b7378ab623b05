"""The page's address. Python reads the address on arrival, and lists the values that belong in it.

The browser alone writes the address (browser/static/address.js). Only the browser can replace an entry of the
history; each value set in `st.query_params` becomes a new entry.
"""

import base64
import binascii
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rnnviz.errors import TextError
from rnnviz.i18n import N_, _, language
from rnnviz.page.payload import pack
from rnnviz.sentences import DEFAULT
from rnnviz.ui.browser.component import Component

MAX_ADDRESS_TEXT_CHARS = 2_000
"""Characters of a text that an address holds, at most.

A text is in UTF-8, compressed by zlib (RFC 1950, whose checksum reveals damage), then base64url (RFC 4648)
without padding. `browser/static/compressed_text.js` writes the same format.
"""

MAX_PACKED_CHARS = 16_384
"""Characters of a packed text, at most: MAX_ADDRESS_TEXT_CHARS characters of any script take fewer."""

MAX_ADDRESS_TEXT_BYTES = 4 * MAX_ADDRESS_TEXT_CHARS  # UTF-8 takes at most 4 bytes a character
_PACKED = re.compile(r"e[A-P][A-Za-z0-9_-]{9,}=*", re.ASCII)  # zlib's first byte, 0x78; 8 bytes at least


def pack_text(text: str) -> str:
    """The text, compressed for an address. Raises TextError for more than MAX_ADDRESS_TEXT_CHARS characters.

    >>> pack_text("machine")
    'eJzLTUzOyMxLBQALUwLW'
    """
    if len(text) > MAX_ADDRESS_TEXT_CHARS:
        raise TextError(
            "an address holds {most:,} characters of text; received {count:,}",
            most=MAX_ADDRESS_TEXT_CHARS,
            count=len(text),
        )
    # zlib's first byte makes each packed text begin with "e", by which `unpack_text` tells it from a plain
    # one.
    squeezed = zlib.compress(text.encode("utf-8", "replace"))
    return base64.urlsafe_b64encode(squeezed).decode("ascii").rstrip("=")


def unpack_text(value: str) -> str:
    """The text of an address's value, which is packed or, typed by hand, plain.

    Decompression stops after MAX_ADDRESS_TEXT_BYTES bytes, so a small value can't fill the memory. Raises
    TextError for a damaged packed text, and for more than MAX_ADDRESS_TEXT_CHARS characters.

    >>> unpack_text("eJzLTUzOyMxLBQALUwLW"), unpack_text("Hello")
    ('machine', 'Hello')
    """
    if len(value) > (MAX_PACKED_CHARS if _PACKED.fullmatch(value) else MAX_ADDRESS_TEXT_CHARS):
        raise too_long_error()
    if not _PACKED.fullmatch(value):
        return value
    damaged = TextError("the text in the address is damaged; ask for the address again, or copy it whole")
    value = value.rstrip("=")
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(
            base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)), MAX_ADDRESS_TEXT_BYTES + 1
        )
        if len(content) > MAX_ADDRESS_TEXT_BYTES:
            raise too_long_error()
        text = content.decode("utf-8")
    except (binascii.Error, zlib.error, UnicodeDecodeError):
        raise damaged from None
    if not reader.eof or reader.unused_data:
        raise damaged
    if len(text) > MAX_ADDRESS_TEXT_CHARS:
        raise too_long_error()
    return text


def too_long_error() -> TextError:
    return TextError(
        "the text in the address is longer than {most:,} characters; open it as a file",
        most=MAX_ADDRESS_TEXT_CHARS,
    )


WIDGET_WORDS = (
    # A field for files.
    N_("Upload"),
    N_("Upload directories"),
    N_("Drag and drop a file here"),
    N_("Drag and drop files here"),
    N_("Drag and drop directories here"),
    N_("{x} per file"),
    N_("file upload"),
    N_("Add files"),
    N_("Remove {x}"),
    N_("{x} files are not allowed."),
    # A table's tools and the menu of a column.
    N_("Show/hide columns"),
    N_("Show/hide columns: {x}"),
    N_("Search"),
    N_("Search: {x}"),
    N_("Close Search"),
    N_("Type to search"),
    N_("Fullscreen"),
    N_("Fullscreen: {x}"),
    N_("Close fullscreen"),
    N_("Clear selection"),
    N_("Sort ascending"),
    N_("Sort descending"),
    N_("Format"),
    N_("Autosize"),
    N_("Pin column"),
    N_("Unpin column"),
    N_("Hide column"),
    # Choices and fields.
    N_("Choose an option"),
    N_("Choose options"),
    N_("Select all"),
    N_("No results"),
    N_("No options to select"),
    N_("{x} options available."),
    N_("Press Enter to apply"),
    N_("Press Enter to submit form"),
    N_("Press ⌘+Enter to apply"),
    N_("Press Ctrl+Enter to apply"),
    N_("Increment"),
    N_("Decrement"),
    N_("Open"),
    N_("Close"),
    N_("Dismiss"),
    N_("Help"),
    N_("Help for {x}"),
    N_("Link to heading"),
    # The frame of the page.
    N_("Skip to main content"),
    N_("Sidebar"),
    N_("Collapse sidebar"),
    N_("Expand sidebar"),
    N_("Navigate to home page"),
    N_("App pages"),
    N_("Main menu"),
    N_("Theme"),
    N_("System"),
    N_("Light"),
    N_("Dark"),
    N_("About"),
    N_("Made with Streamlit v"),
    N_("Copy version to clipboard"),
    N_("Stop"),
    N_("Running..."),
    N_("Connecting"),
)
"""Streamlit's own words, which its browser code has in English alone.

The address's component, which every page mounts, puts them in (`browser/static/widget_words.js`). In a
word, {x} stands for a name or a number.
"""


def widget_words() -> dict[str, str]:
    """WIDGET_WORDS in the session's language, by Streamlit's English ones; none in English."""
    return {} if language() == DEFAULT else {word: _(word) for word in WIDGET_WORDS}


COMPONENT_KEY = "address"
_component = Component("address")

# Keys of st.session_state: the last run's page, the newest arrival, the number of runs, and the values that
# belong in the address.
PAGE_KEY, ARRIVAL_KEY, RUNS_KEY, VALUES_KEY = (
    f"address.{name}" for name in ("page", "arrival", "runs", "said")
)


@dataclass
class Arrival:
    """A reader's arrival at a page, by a link, a click in the sidebar, Back or Forward.

    run          the number of the script's run; a field compares it with its own, perhaps runs later
    values       the address's values by name
    back         whether Back or Forward led here: values missing in the address are then the defaults
    is_answered  whether a whole run has ended since. Until then the browser may have missed the result, and
                 the next run follows the same arrival again.
    """

    run: int = 0
    values: Mapping[str, str] = field(default_factory=dict)
    back: bool = False
    is_answered: bool = False


def arrival() -> Arrival:
    """The newest arrival; an empty one before the first."""
    newest: Arrival = st.session_state.get(ARRIVAL_KEY) or Arrival()
    return newest


def record_arrival(page: str) -> None:
    """Record an arrival, if there is one. Each whole run of the script calls this before its page."""
    # An arrival is a new page, or Back or Forward on the same one. Any other whole run is a widget's.
    state, back = st.session_state, is_history_navigation()
    state[VALUES_KEY], state[RUNS_KEY] = {}, run_number() + 1
    if back or state.get(PAGE_KEY) != page:
        state[ARRIVAL_KEY] = Arrival(run_number(), st.query_params.to_dict(), back and PAGE_KEY in state)
    state[PAGE_KEY] = page


def run_number() -> int:
    """The number of the last whole run of the script."""
    return int(st.session_state.get(RUNS_KEY, 0))


def is_history_navigation() -> bool:
    """Whether the reader pressed Back or Forward."""
    context = get_script_run_ctx()
    return bool(context and context.is_history_navigation)


def has_just_arrived() -> bool:
    """Whether somebody has arrived just now, by any address."""
    return not arrival().is_answered


def requested_value(name: str) -> str | None:
    """The value of `name` in the address of an arrival just now; None without the value or the arrival."""
    return arrival().values.get(name) if has_just_arrived() else None


def whole_number(digits: str | None) -> int | None:
    """An address's value as a whole number from 0 to 999,999,999; None for anything else."""
    return int(digits) if digits and digits.isascii() and digits.isdigit() and len(digits) < 10 else None


def has_just_gone_back() -> bool:
    """Whether Back or Forward has led here just now."""
    return has_just_arrived() and arrival().back


def set_values(**values: object) -> None:
    """Put values into the address, by name; None removes a default. The browser packs a `text`."""
    texts = {name: None if value is None else str(value) for name, value in values.items()}
    st.session_state.setdefault(VALUES_KEY, {}).update(texts)


def current_values() -> dict[str, str | None]:
    """The values that belong in the address so far, by name."""
    values: dict[str, str | None] = st.session_state.get(VALUES_KEY, {})
    return values


def mount() -> None:
    """Send the address's values to the browser, with a button that copies the address. Each whole run calls
    this last.
    """
    header: dict[str, Any] = {
        "run": run_number(),  # makes each payload new: Streamlit sends no payload twice in a row
        "fields": current_values(),
        # In every payload: of several runs in quick succession the browser may get the last alone.
        "asked": dict(arrival().values),
        "arrival": arrival().run,
        "language": language(),
        "longest": MAX_ADDRESS_TEXT_CHARS,
        "widgets": widget_words(),
        "words": {
            "share": _("Share"),
            "share.help": _("Copy the address of this view: model, text and what is chosen"),
            "copied": _("Address copied."),
            "copy": _("Copy this address:"),
            "cut": _("It has only the first {most} of {n} characters of the text."),
        },
    }
    # At the run's very end: a run that Streamlit cuts off before stays unanswered.
    arrival().is_answered = True
    _component.mount(pack(header, {}), key=COMPONENT_KEY)
