"""The live view's end in the kernel: the app's asks and answers, and the files it hands over."""

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz.errors import ConfigError
from rnnviz.networks.ngram import NgramModel
from rnnviz.page.live_session import MAX_TEXT_CHARS, LiveAsk, LiveSession
from rnnviz.page.payload import unpack
from tests.support.closeness import assert_states, close
from tests.support.models import TEXT, tiny, tiny_card

pytest.importorskip("anywidget", reason="the extra notebook is not installed")

MODEL = tiny("gru", name="tiny-gru", layers=2, card=tiny_card(ngram=None))


class Hearer:
    """A widget, and what it sends."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.widget = rnnviz.live(MODEL, *arguments, **options)
        self.sent: list[tuple[dict[str, Any], list[bytes]]] = []
        self.widget.send = lambda content, buffers: self.sent.append((content, buffers))

    def ask(self, **ask: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The answer to what a browser asks."""
        self.widget._on_message(self.widget, {"kind": "ask", "ask": ask}, [])
        content, (answer,) = self.sent.pop()
        assert content == {"kind": "answer", "client": ask.get("client", "")}
        return unpack(answer)


def test_the_kernel_answers_as_the_apps_server_does() -> None:
    hearer = Hearer()
    first, _ = hearer.ask(client="a", seq=1, fresh=True)
    session = LiveSession(MODEL, fixed=({}, first["digest"]))
    assert first["text"] == hearer.widget.text == "The Time Traveller"
    session.answer(LiveAsk(text=first["text"]))
    for ask in (
        {"text": "The Time Traveller s", "base": 1, "digest": first["digest"], "quantity": "update"},
        {"text": "The Time Traveller", "base": 2, "digest": first["digest"], "unit": 3, "order": "index"},
    ):
        header, arrays = hearer.ask(client="a", seq=2, **ask)
        expected, server_answer = unpack(session.answer(LiveAsk.from_json({"client": "a", "seq": 2, **ask})))
        assert close(header, expected)
        assert arrays.keys() == server_answer.keys()
        for name, values in arrays.items():
            assert_states(values, server_answer[name])
        assert "fixed" not in header  # sent once
    assert first["fixed"]["quantities"].keys() == {"hidden", "reset", "update", "candidate"}


def test_places_have_separate_answers() -> None:
    hearer = Hearer("one")
    for client in ("a", "b"):
        assert hearer.ask(client=client, fresh=True)[0]["text"] == "one"
    assert hearer.ask(client="a", text="one two", base=1)[0]["heldRows"] == 3
    assert hearer.ask(client="b", text="one two three", base=1)[0]["heldRows"] == 3
    for n in range(20):
        hearer.ask(client=f"c{n}", fresh=True)
    assert len(hearer.widget._sessions) <= 8
    assert (
        hearer.ask(client="a", text="one two", base=2)[0]["heldRows"] == 0
    )  # long forgotten: all of it again


def test_python_reads_and_writes_the_text() -> None:
    hearer = Hearer("one")
    offer = hearer.ask(client="a", fresh=True)[0]["offer"]
    hearer.ask(client="a", text="one more", base=1)
    assert hearer.widget.text == "one more"
    assert_states(hearer.widget.trace.hidden, rnnviz.trace(MODEL, "one more").hidden)
    hearer.widget.text = "another"
    ((content, (answer,)),) = hearer.sent
    header, _ = unpack(answer)
    assert (content["client"], header["text"]) == ("a", "another")
    assert header["offer"] != offer
    assert repr(hearer.widget) == "<Live view of tiny-gru: 7 characters>"
    with pytest.raises(ConfigError, match="at most 20,000 characters; received 20,001"):
        hearer.widget.text = "x" * (MAX_TEXT_CHARS + 1)
    assert hearer.widget.text == "another"
    hearer.ask(client="b", fresh=True)
    hearer.sent.clear()
    hearer.widget.text = "a third"
    assert [content["client"] for content, _ in hearer.sent] == ["a", "b"], "wherever it is shown"


@pytest.mark.parametrize("message", [None, [], {"kind": "x"}, {"kind": "ask"}, {"kind": "ask", "ask": [1]}])
def test_malformed_ask_is_ignored(message: object) -> None:
    hearer = Hearer()
    hearer.widget._on_message(hearer.widget, message, [])
    assert len(hearer.sent) <= 1


def test_the_ngram_model_of_the_card_stands_beside_it(only_tiny_models: object) -> None:
    model = tiny("gru", name="tiny-gru", card=tiny_card())
    assert rnnviz.live(model)._fixed[0]["ngram"] == "3-gram"
    assert rnnviz.live(MODEL)._fixed[0]["ngram"] is None
    assert rnnviz.live(tiny("gru", card=tiny_card(ngram="gone")))._fixed[0]["ngram"] is None


def test_model_without_state_is_refused() -> None:
    with pytest.raises(ConfigError, match="no hidden state"):
        rnnviz.live(NgramModel.fit(TEXT, order=3))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="temperature"):
        rnnviz.live(MODEL, temperature=0)


def test_without_anywidget_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rnnviz.notebook.widget", None)
    with pytest.raises(ConfigError, match=r"pip install .*\[notebook\]"):
        rnnviz.live(MODEL)


@pytest.mark.slow
def test_widget_loads_neither_streamlit_nor_server() -> None:
    code = (
        "import json, sys, rnnviz\nrnnviz.live(rnnviz.load('timemachine-rnn'))\n"
        "there = {'streamlit', 'starlette', 'pandas', 'plotly', 'babel'} & set(sys.modules)\n"
        "print(json.dumps(sorted(there)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", timeout=120)
    assert json.loads(done.stdout) == [], done.stderr
