"""The kernel's side of the live view. A widget has a `LiveSession` for each place where it is shown, as the
app has for each page. So a notebook shows the app's answers.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import anywidget
import traitlets

from rnnviz.errors import ConfigError
from rnnviz.networks.numpy_model import Network
from rnnviz.page.initial_data import fixed_part, opening_text
from rnnviz.page.live_session import MAX_TEXT_CHARS, LiveAsk, LiveSession
from rnnviz.page.modules import PACKAGE, bundle, style_sheet
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import trace

ENTRY = "notebook/widget.js"
VIEW = "ui/pages/explore/static"


@cache
def widget_module() -> str:
    """The ES module whose default export anywidget calls; it takes a single one."""
    styles = style_sheet("ui/browser/static/shared.css", f"{VIEW}/view.css")
    markup = (PACKAGE / VIEW / "view.html").read_text("utf-8")
    arguments = f"{json.dumps(styles)}, {json.dumps(markup)}"
    return f"const {{ widget }} = {bundle(ENTRY)};\nexport default widget({arguments});\n"


if TYPE_CHECKING:
    from rnnviz.networks.ngram import NgramModel

MAX_SESSIONS = 8
"""Places with a remembered session, at most; others send their whole text again."""

_WORDS = {
    "waiting": "The kernel does not answer: it is busy, or stopped. What you type is kept and sent again.",
    "limit": "The live view reads {n} characters, not what was beyond: rnnviz.perplexity reads longer texts.",
    "limit.link": "",
    "step.link": "",
    "step.weighted.link": "",
}


class Live(anywidget.AnyWidget):
    """The widget of `rnnviz.live`."""

    _esm = traitlets.Unicode(widget_module()).tag(sync=True)

    def __init__(
        self, model: Network, text: str | None, ngram: NgramModel | None, temperature: float
    ) -> None:
        super().__init__()
        self.model, self._ngram, self._temperature = model, ngram, temperature
        self._sessions: OrderedDict[str, LiveSession] = OrderedDict()
        self._offer, self._text = 1, ""
        data, digest = fixed_part(cast(Any, model), ngram, temperature)
        data["words"] |= _WORDS
        self._fixed = data, f"{digest}-notebook"
        self.text = opening_text(model) if text is None else text
        self.on_msg(self._on_message)

    def __repr__(self) -> str:
        return f"<Live view of {self.model.name or 'a model'}: {len(self._text):,} characters>"

    @property
    def text(self) -> str:
        """The current text; setting it replaces the text in every place. Raises ConfigError for a text that
        is too long or no str.
        """
        return self._text

    @text.setter
    def text(self, text: str) -> None:
        if not isinstance(text, str) or len(text) > MAX_TEXT_CHARS:
            raise ConfigError(
                "the live view reads a text of at most {limit:,} characters; received {what}",
                limit=MAX_TEXT_CHARS,
                what=f"{len(text):,}" if isinstance(text, str) else repr(text),
            )
        self._text = text
        self._offer += 1
        for client in list(self._sessions):
            self._answer(LiveAsk(client=client, fresh=True))

    @property
    def trace(self) -> Trace:
        """The Trace of the text."""
        return trace(self.model, self._text)

    def _on_message(self, _widget: object, message: Any, _buffers: object) -> None:
        kind = message.get("kind") if isinstance(message, dict) else None
        if kind == "ask":
            self._answer(LiveAsk.from_json(message.get("ask")))

    def _answer(self, ask: LiveAsk) -> None:
        session = self._sessions.pop(ask.client, None) or LiveSession(
            cast(Any, self.model), self._ngram, temperature=self._temperature, fixed=self._fixed
        )
        self._sessions[ask.client] = session
        while len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        extra: dict[str, Any] = {}
        if ask.fresh:
            ask = LiveAsk(client=ask.client, seq=ask.seq, text=self._text)
            extra = {"text": self._text, "offer": self._offer}
        answer = session.answer(ask, **extra)
        self._text = session.text
        self.send({"kind": "answer", "client": ask.client}, [answer])
