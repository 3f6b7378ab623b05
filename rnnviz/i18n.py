"""The app's words in the session's language.

Messages are English in the code, in `_()`, `ngettext()` or an RnnvizError. The `.po` files in `rnnviz/locale`
translate them; Babel compiles each file in memory, once.
"""

import gettext
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from rnnviz.sentences import DEFAULT, LANGUAGES

FOLDER = Path(__file__).resolve().parent / "locale"
STATE = "language"  # of st.session_state; also read in fragments, which don't run main.py


def catalogue_path(language: str) -> Path:
    return FOLDER / language / "LC_MESSAGES" / "rnnviz.po"


@cache
def translations(language: str) -> gettext.NullTranslations:
    """The compiled catalogue of a language of LANGUAGES; English text where it has no entry."""
    if language == DEFAULT:
        return gettext.NullTranslations()
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    # A .mo file beside the .po could be older than it: this one is compiled anew in each process, in memory.
    compiled = io.BytesIO()
    with catalogue_path(language).open("rb") as file:
        write_mo(compiled, read_po(file, locale=language))
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


# The app asks Streamlit's session for the language; a notebook and the command line have none. So Streamlit
# stays out of this module: the app hands over the function that asks.
def spoken_by(asks: Callable[[], object]) -> None:
    """Set the function that returns the session's language. Without one, as in a notebook: English."""
    global _asks
    _asks = asks


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Use this language inside the block, whatever the session's language."""
    before = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(before)


def _nobody() -> object:
    return DEFAULT


_asks: Callable[[], object] = _nobody
# A ContextVar, not a global: jobs of two sessions may speak two languages on two threads.
_spoken: ContextVar[str | None] = ContextVar("spoken", default=None)


def language() -> str:
    """The session's language."""
    chosen = _spoken.get() or _asks()
    return chosen if isinstance(chosen, str) and chosen in LANGUAGES else DEFAULT


def _(message: str) -> str:
    return translations(language()).gettext(message)


def N_(message: str) -> str:
    """`message` itself, marked for the catalogues: `_()` translates it where it is shown."""
    return message


def ngettext(singular: str, plural: str, n: int) -> str:
    """The form for `n` things, in the session's language."""
    return translations(language()).ngettext(singular, plural, n)
