"""The class's page: one file of a few kilobytes, which frames the pages of networks."""

import json
from functools import cache
from html import escape
from pathlib import Path

from rnnviz.i18n import N_, translations
from rnnviz.page.responses import headers
from rnnviz.sentences import LANGUAGES

HERE = Path(__file__).parent

WORDS = {
    "title": N_("The lecture's room"),
    "network": N_("Network"),
    "waiting": N_("You are in. Questions appear here."),
    "open": N_("Choose one. You can change it until the question closes."),
    "given": N_("Your answer counts. You can change it until the question closes."),
    "sending": N_("Sending …"),
    "missed": N_("Too late: that question has closed. Answer this one."),
    "closed": N_("Closed. Look at the screen."),
    "right": N_("Right: {answer}"),
    "over": N_("The room is closed. Thank you."),
    "lost": N_("No connection. Trying again …"),
    "unsent": N_("No connection. Your answer is sent as soon as there is one."),
    "full": N_("The room is full: you can look, but not answer."),
    "elsewhere": N_("This room is open in another tab. Tap here to go on in this one."),
    "slowly": N_("Too many at once. Wait a moment, then load the page again."),
    "missing": N_("There is nothing at this address. Compare it with the one on the screen."),
    "space": N_("space"),
}
"""The page's sentences; a phone shows them in the lecture's language."""

SAID = ("missing", "slowly")
"""Names of the sentences that a refusal may show."""


def words(language: str) -> dict[str, str]:
    """WORDS in a language of LANGUAGES."""
    say = translations(language).gettext
    return {name: say(message) for name, message in WORDS.items()}


@cache
def page() -> bytes:
    """The page, with the words of all languages."""
    # "<" becomes an escape, so that no text in it can end the script element.
    said = json.dumps({language: words(language) for language in LANGUAGES}, ensure_ascii=False)
    whole = (
        _file("phone.html").replace("{{style}}", _file("phone.css")).replace("{{script}}", _file("phone.js"))
    )
    return whole.replace("{{words}}", said.replace("<", "\\u003c")).encode()


@cache
def refusal(why: str) -> bytes:
    """A refusal's page, with the sentence `why` of SAID in all languages; others become "missing"."""
    name = why if why in SAID else "missing"
    lines = "".join(f"<p lang={language}>{escape(words(language)[name])}</p>" for language in LANGUAGES)
    return (
        '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>rnnviz</title><style>{_file('phone.css')}</style><main>{lines}</main>"
    ).encode()


@cache
def _file(name: str) -> str:
    return (HERE / name).read_text("utf-8")


HEADERS = headers(script=_file("phone.js"), style=_file("phone.css"))
"""Headers of every page."""
