"""Errors as sentences on the page, never as tracebacks; those of unexpected errors go to the terminal."""

import logging
import re
from collections.abc import Sequence

import streamlit as st

from rnnviz.errors import Phrase, RnnvizError, TorchMissingError
from rnnviz.i18n import _
from rnnviz.text import files

log = logging.getLogger("rnnviz")

# All of ASCII's punctuation: Markdown lets each be escaped, and Streamlit gives some more a meaning ($, :).
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
# Places inside what Markdown's autolinks look for: "://", "www." and "@".
_LINK = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)


def plain(text: str, max_chars: int | None = None) -> str:
    """`text` escaped for Markdown and cut to `max_chars` characters. Names and messages are data: they may
    hold Markdown, or bytes that are no text.

    Markdown links a bare address even with escaped punctuation. An invisible U+2060 inside prevents that.
    """
    return _PUNCTUATION.sub(r"\\\1", _LINK.sub("\u2060", files.printable(text, max_chars)))


def translate_error(error: RnnvizError | Phrase) -> str:
    """The error's message in the session's language."""
    values = {
        name: translate_error(value) if isinstance(value, RnnvizError | Phrase) else value
        for name, value in error.values.items()
    }
    message = _(error.message)
    return message.format(**values) if values else message


def describe(error: Exception, file: str = "") -> str:
    """The error and its remedy in a sentence, safe as Markdown, with a capital first.

    A message that begins with an address or with the name `file` keeps its case.
    """
    if isinstance(error, RnnvizError):
        message = translate_error(error)
        if not message.startswith((file or "http", "http")):
            message = message[:1].upper() + message[1:]
        return plain(message)
    if isinstance(error, ModuleNotFoundError) and error.name == "torch":
        return describe(TorchMissingError(), file)
    if isinstance(error, MemoryError):
        return _("There was not enough memory for this. Try a shorter text, or close other programs.")
    return _(
        "Something unexpected went wrong here. Reload the page; if it happens again, "
        "the terminal where the app was started shows the details."
    )


def show_errors(messages: Sequence[str]) -> None:
    """Draw sentences on errors in one box, a line each; nothing without any."""
    if messages:
        lines = messages if len(messages) == 1 else [f"- {line}" for line in messages]
        st.error("\n".join(lines), icon=":material/error:")


def show_error(error: Exception) -> None:
    """Show the error's sentence on the page; an unexpected error goes to the terminal too."""
    # An RnnvizError is a reader's matter and says its remedy; any other is ours, and needs its traceback.
    if not isinstance(error, RnnvizError) and getattr(error, "name", "") != "torch":
        log.error("unexpected error on a page", exc_info=error)
    st.error(describe(error), icon=":material/error:")


def on_script_error(error: Exception) -> bool:
    """Show an error that no page has caught. Streamlit calls this once it has logged the error.

    Returns True: Streamlit shows no error of its own.
    """
    st.error(describe(error), icon=":material/error:")
    return True
