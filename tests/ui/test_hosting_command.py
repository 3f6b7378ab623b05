"""`python -m rnnviz host`: what it says, and what it starts."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import streamlit as st

from rnnviz.cli import main as run
from rnnviz.ui import launch
from rnnviz.ui.host import host
from rnnviz.ui.hosting import environment, limits, startup_message
from rnnviz.ui.hosting.cookies import VISITOR
from rnnviz.ui.room.addresses import Address
from tests.browser.driving import ROOT


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("KEY", "ADDRESS", "CAPACITY"):
        monkeypatch.delenv(f"RNNVIZ_{name}", raising=False)
    environment.key.cache_clear()
    yield
    environment.key.cache_clear()


def options(*arguments: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    here = [Address("192.168.1.5", "wlan0"), Address("10.0.0.3", "eth0")]
    monkeypatch.setattr("rnnviz.ui.room.addresses.addresses", lambda: here)
    found: dict[str, Any] = {}
    monkeypatch.setattr(launch, "serve", lambda command, options: found.update(options) or 0)
    for name in ("HOSTED", "ADDRESS", "CAPACITY"):  # what the command sets goes with the test
        monkeypatch.setenv(f"RNNVIZ_{name}", "")
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "")
    assert run(["host", *arguments], [host]) == 0
    return found


def test_it_answers_to_this_computers_addresses_and_the_names_that_are_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = options(monkeypatch=monkeypatch)
    assert found["server.address"] == "0.0.0.0"
    assert found["server.allowedHosts"] == ["192.168.1.5", "10.0.0.3", "localhost", "127.0.0.1", "::1"]
    assert "server.port" not in found  # the next free one, if the usual one isn't
    assert found["browser.serverAddress"] == "localhost"
    named = ("--name", "https://hall.example.org:8443/rnn/", "--name", "room.example.org")
    found = options(
        "--port", "80", "--address", "10.0.0.3", *named, "--server.sslCertFile", "c", monkeypatch=monkeypatch
    )
    assert found["server.address"] == "10.0.0.3"
    assert found["server.port"] == 80
    assert found["server.allowedHosts"][:3] == ["hall.example.org", "room.example.org", "10.0.0.3"]
    assert "*" not in found["server.allowedHosts"]
    assert found["server.sslCertFile"] == "c"
    known = set(st.config.get_config_options())
    assert set(found) <= known


def test_the_greeting_has_the_key_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said = startup_message.text(["http://a:1", "http://b:1"], tell=True)
    assert said.count(environment.key()) == 1
    assert f"http://a:1/?key={environment.key()}" in said
    assert (
        environment.key() not in said[said.index("Visitors") :]
    )  # with the code, that alone is for the hall
    assert "http://b:1" in said
    assert f"({limits.CAPACITY} at a time)" in said
    monkeypatch.setenv("RNNVIZ_KEY", "a key with spaces & more")
    environment.key.cache_clear()
    assert "?key=a%20key%20with%20spaces%20%26%20more\n" in startup_message.text(["http://a"], tell=True)
    assert "spaces" not in startup_message.text(["http://a"], tell=False)  # whoever set it knows it


def test_the_greeting_names_the_address_that_visitors_open(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {
        "server.allowedHosts": ["192.168.1.5", "fd00::5", "*.example.org", "localhost", "::1"],
        "server.port": 8501,
    }
    monkeypatch.setattr(st, "get_option", said.get)
    assert startup_message.addresses() == ["http://192.168.1.5:8501", "http://[fd00::5]:8501"]
    for url in ("http://localhost:8501/learn", "http://[::1]:8501/", ""):  # phones would ask themselves
        assert startup_message.outside(url) == "http://192.168.1.5:8501"
    assert startup_message.outside("https://hall.example.org:8443/learn") == "https://hall.example.org:8443"
    said |= {"server.sslCertFile": "cert.pem", "server.port": 443, "server.baseUrlPath": "/rnn/"}
    assert startup_message.addresses()[0] == "https://192.168.1.5/rnn"
    said["server.allowedHosts"] = ["localhost"]
    assert startup_message.addresses() == ["https://localhost/rnn"]
    monkeypatch.setenv("RNNVIZ_ADDRESS", "https://hall.example.org/")
    assert startup_message.addresses() == ["https://hall.example.org"]


def test_a_setting_that_makes_no_sense_ends_the_command_with_its_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("RNNVIZ_HOSTED", "FORWARDED_ALLOW_IPS", "RNNVIZ_CAPACITY"):
        monkeypatch.setenv(name, "")
    for number in ("", "1"):
        monkeypatch.setenv("RNNVIZ_PROCESSES", number)
        environment.check()
    assert run(["host", "--capacity", "-3"], more=[host]) == 1
    assert "RNNVIZ_CAPACITY is a whole number from 0 to 10000; received '-3'" in capsys.readouterr().err


def test_names_have_commas_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RNNVIZ_HOSTS", " Hall.Example,*.school.example ,192.168.1.5,, ")
    assert environment.hosts() == ["hall.example", "*.school.example", "192.168.1.5"]


def test_streamlit_run_says_so_in_a_sentence() -> None:
    given = {**os.environ, "RNNVIZ_HOSTS": "*"}
    ended = subprocess.run([sys.executable, ROOT / "app.py"], env=given, capture_output=True, timeout=60)
    assert ended.returncode == 1
    assert b"host names" in ended.stderr
    assert b"Traceback" not in ended.stderr


@pytest.mark.slow
def test_it_serves_and_believes_no_proxy_that_it_was_not_told_of(tmp_path: Path) -> None:
    started = subprocess.Popen(
        [sys.executable, "-m", "rnnviz", "host", "--port", "0", "--address", "127.0.0.1", "--capacity", "0"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    try:
        lines: list[str] = []
        while not lines or "Visitors" not in lines[-1]:
            lines.append(started.stdout.readline())
            assert lines[-1], lines
        address = re.search(r"The lecturer +(http://\S+/)\?key=([\w-]+)\n", "".join(lines))
        assert address is not None, lines
        assert "(0 at a time)" in "".join(lines)
        assert "▀" not in "".join(lines)  # nobody looks at a terminal
        with requests.Session() as browser:
            browser.trust_env = False
            proxy = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1", "Accept": "text/html"}
            assert browser.get(address[1], headers=proxy, timeout=30).status_code == 503
            said = browser.get(f"{address[1]}_stcore/health", headers=proxy, timeout=30).headers["Set-Cookie"]
            assert VISITOR in said
            assert "Secure" not in said
            assert browser.get(address[0].split()[-1], headers=proxy, timeout=30).status_code == 200
            assert browser.get(f"{address[1]}_stcore/metrics", timeout=30).status_code == 200
    finally:
        started.terminate()
        rest = started.communicate(timeout=20)[0]
    assert address[2] not in rest  # printed once
    assert "Traceback" not in rest
