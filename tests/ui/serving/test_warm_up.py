"""What is made ready before anybody asks for it, and when it stands back."""

import importlib
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket

from rnnviz.lecture.scenes import scenes
from rnnviz.networks import engines
from rnnviz.ui.serving import entry, warm_up
from rnnviz.ui.shell import model_cache


class Clock:
    """Time that passes by sleeping; somebody types until a second."""

    def __init__(self, typed_until: float) -> None:
        self.now, self.typed_until = 100.0, 100 + typed_until

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.now < self.typed_until:
            warm_up._last_message_time = self.now


@pytest.mark.parametrize(
    ("typed_until", "begun"),
    [
        (0, warm_up.LATER_PIECES_AFTER_S),
        (
            warm_up.LATER_PIECES_AFTER_S + 2 * warm_up.QUIET_BEFORE_PIECE_S + 1,
            warm_up.LATER_PIECES_AFTER_S + 3 * warm_up.QUIET_BEFORE_PIECE_S,
        ),
    ],
)
def test_later_pieces_wait_for_quiet(
    only_tiny_models: Path, monkeypatch: pytest.MonkeyPatch, typed_until: float, begun: float
) -> None:
    clock, done = Clock(typed_until), []
    monkeypatch.setattr(warm_up, "_last_message_time", 0.0)
    monkeypatch.setattr(warm_up, "time", clock)
    monkeypatch.setattr(warm_up, "_later_pieces", lambda models: [lambda: done.append(clock.now - 100)] * 2)
    warm_up.warm_up()
    assert done == [begun, begun]


def test_later_pieces_are_models_steps_and_engine(only_tiny_models: Path) -> None:
    models = model_cache.list_models()[0]
    pieces = list(warm_up._later_pieces(models))
    later = [piece.func for piece in pieces[len(models) :] if isinstance(piece, partial)]
    engine = [importlib.import_module] if engines.has_torch() else []
    assert later == [*(step.draw for scene in scenes() for step in scene.steps), *engine]
    for piece in pieces[: len(models)]:
        piece()


def test_entry_imports_all_packages_with_module_imports() -> None:
    """One thread may hold it while another holds a module of it that the first needs."""
    left = """
import importlib, sys
from pathlib import Path
import rnnviz.ui.serving.entry
here = Path(rnnviz.__file__).parents[1]
for path in sorted((here / "rnnviz").rglob("__init__.py")):
    name = ".".join(path.relative_to(here).parent.parts)
    if name not in sys.modules and name != "rnnviz.cli":  # which no page imports
        importlib.import_module(name)
        if any(other.startswith(f"{name}.") for other in sys.modules):
            print(name)
"""
    ended = subprocess.run([sys.executable, "-c", left], capture_output=True, encoding="utf-8", check=True)
    assert ended.stdout == ""


def test_websocket_message_sets_last_message_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async def echo(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text(await socket.receive_text())
        await socket.close()

    listening = [
        part for part in entry.app_parts()["middleware"] if part.cls is warm_up.LastMessageMiddleware
    ]
    client = TestClient(Starlette(routes=[WebSocketRoute("/", echo)], middleware=listening))
    with client.websocket_connect("/") as socket:
        monkeypatch.setattr(warm_up, "_last_message_time", 0.0)  # to connect is a message, too
        socket.send_text("a")
        assert socket.receive_text() == "a"
        assert warm_up._last_message_time > 0
