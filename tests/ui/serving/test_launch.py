"""`rnnviz app`, and `rnnviz` alone: what they ask of Streamlit, when a browser opens."""

import asyncio
import socket
import sys
import tomllib
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from rnnviz import __main__ as entry
from rnnviz import i18n
from rnnviz.cli import main as run
from rnnviz.errors import install
from rnnviz.page.command import page
from rnnviz.ui.serving import lifespan, start
from rnnviz.ui.serving.room import classroom
from rnnviz.ui.serving.start import app, host
from tests.support.serving import ROOT

Served = list[tuple[str, dict[str, Any]]]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Served:
    """What `start.serve` is called with."""
    calls: Served = []
    monkeypatch.setattr(start, "serve", lambda command, options: calls.append((command, options)))
    return calls


def test_app_passes_given_options_alone(served: Served) -> None:
    assert run(["app"], more_commands=[app]) == 0
    assert run(["app", "--port", "9000", "--no-browser"], more_commands=[app]) == 0
    assert served == [("app", {}), ("app", {"server.port": 9000, "server.headless": True})]
    assert set(served[1][1]) <= set(st.config.get_config_options())


def test_host_sets_room_options_and_keeps_app_local(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classroom, "startup_options", None)
    assert run(["host"], more_commands=[host]) == 0
    assert classroom.startup_options == classroom.RoomOptions()
    words = "host --port 80 --address 10.0.0.7 --name a.org --name b.org --model holmes-lstm --no-browser"
    assert run(words.split(), more_commands=[host]) == 0
    assert classroom.startup_options == classroom.RoomOptions(
        "10.0.0.7", 80, ("a.org", "b.org"), ("holmes-lstm",)
    )
    assert run(["host", "--app-address", "0.0.0.0"], more_commands=[host]) == 0
    assert served == [
        ("host", {}), ("host", {"server.headless": True}), ("host", {"server.address": "0.0.0.0"}),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["holmes", "holmes-6gram"])
def test_host_refuses_model_that_class_cannot_see(
    name: str, served: Served, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(classroom, "startup_options", None)
    assert run(["host", "--model", "holmes-lstm", "--model", name], more_commands=[host]) == 1
    assert (served, classroom.startup_options) == ([], None), "nothing has started"
    error = capsys.readouterr().err
    assert f"received '{name}'. There are: chinese-gru, " in error
    assert "holmes-lstm" in error


@pytest.mark.parametrize(
    "option", ["--capacity", "--trust-proxy", "--server.sslCertFile", "--server.sslKeyFile"]
)
def test_removed_option_names_replacement(
    option: str, served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["host", option, "80"], more_commands=[host])
    assert (ended.value.code, served) == (2, [])
    assert capsys.readouterr().err.startswith(f"rnnviz: {option} is gone: ")


@pytest.mark.parametrize("port", ["65536", "-1", "http"])
@pytest.mark.parametrize("command", [app, host])
def test_invalid_port_is_refused(
    port: str, command: Callable[..., int], served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run([command.__name__, "--port", port], more_commands=[command])
    assert f"a port is a number from 0 to 65535; received '{port}'" in capsys.readouterr().err
    assert served == []


@pytest.mark.parametrize(
    ("terminal", "code", "message"),
    [
        ((True, True), 0, ""),
        ((False, True), 2, "name a command"),  # a script that forgot its command hears so
        ((True, False), 2, "name a command"),
        ((None, True), 2, "name a command"),
    ],
)
def test_no_command_opens_app_on_terminal_alone(
    terminal: tuple[bool | None, bool],
    code: int,
    message: str,
    served: Served,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["rnnviz"])
    for name, is_one in zip(("stdin", "stdout"), terminal, strict=True):
        if is_one is None:
            monkeypatch.setattr(sys, name, None)  # as Windows has it without a console
        else:
            monkeypatch.setattr(getattr(sys, name), "isatty", lambda is_one=is_one: is_one)
    with pytest.raises(SystemExit) as ended:
        entry.main()
    assert (ended.value.code, served) == (code, [] if code else [("app", {})])
    assert message in capsys.readouterr().err


def test_settings_file_is_found_in_checkout_and_wheel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config_file = ROOT / ".streamlit" / "config.toml"
    assert start.settings_path() == config_file
    options = dict(start.flat_options(tomllib.loads(config_file.read_text("utf-8"))))
    assert set(options) <= set(st.config.get_config_options())
    assert options["server.address"] == "localhost"  # nobody else, where nothing more was asked for
    monkeypatch.setattr(start, "UI_FOLDER", tmp_path / "rnnviz" / "ui")  # as a wheel has it
    installed = tmp_path / "rnnviz" / ".streamlit" / "config.toml"
    installed.parent.mkdir(parents=True)
    installed.write_bytes(config_file.read_bytes())
    assert start.settings_path() == installed
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    wheel = tools["hatch"]["build"]["targets"]["wheel"]
    assert ".streamlit/config.toml" in wheel["only-include"]
    assert wheel["sources"][".streamlit"] == "rnnviz/.streamlit"


@pytest.mark.parametrize("command", [app, host])
def test_missing_package_names_install_command(
    command: Callable[..., int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(classroom, "startup_options", None)
    monkeypatch.setitem(sys.modules, "streamlit", None)
    assert run([command.__name__], more_commands=[command]) == 1
    out, message = capsys.readouterr()
    assert out == "Starting …\n"
    needs = f"{command.__name__} needs streamlit, which isn't installed"
    assert message == f"rnnviz: {needs}: {install('app')} installs it\n"


def test_page_names_install_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "babel.messages.pofile", None)
    i18n.translations.cache_clear()
    for output in ("folder", "one.html"):
        options = ["--language", "zh", "--model", "timemachine-rnn", "--output", str(tmp_path / output)]
        assert run(["page", *options], more_commands=[page]) == 1
        message = capsys.readouterr().err
        assert message.startswith("rnnviz: page needs babel")
        assert message.endswith(f"{install('app')} installs it\n")
    assert not list(tmp_path.iterdir())


def test_missing_rnnviz_module_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rnnviz.ui.serving.entry", None)
    monkeypatch.delattr("rnnviz.ui.serving.entry", raising=False)
    with pytest.raises(ModuleNotFoundError):
        start.serve("app", {})


def test_browser_opens_once_port_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))  # taken and not answered at, as while the app is starting
        port = listener.getsockname()[1]
        settings = {"server.address": "127.0.0.1", "server.port": port, "server.allowedHosts": ["localhost"]}
        monkeypatch.setattr(st, "get_option", settings.get)
        pauses = iter([lambda: None, listener.listen])  # it answers after the second

        async def pause(_seconds: float) -> None:
            next(pauses)()

        monkeypatch.setattr(lifespan.asyncio, "sleep", pause)
        asyncio.run(lifespan.open_browser())
    assert next(pauses, None) is None
    assert opened == [f"http://127.0.0.1:{port}/"]


@pytest.mark.parametrize("headless", [False, True])
def test_headless_server_opens_no_browser(monkeypatch: pytest.MonkeyPatch, headless: bool) -> None:
    monkeypatch.setattr(st, "get_option", {"server.headless": headless}.get)
    assert lifespan.opens_browser() == (not headless)
