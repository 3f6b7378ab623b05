"""The files for systemd and containers name what there is: files, ports, variables, options. They are read
here as text and YAML; systemd itself is asked where it is at hand.
"""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rnnviz.ui import host
from rnnviz.ui.hosting import setting
from tests.deploy.shipped import DEPLOY, serve

ROOT = DEPLOY.parent
UNIT = DEPLOY / "systemd" / "rnnviz@.service"
PORTS = ["8501", "8502", "8503"]


def values(path: Path, key: str) -> list[str]:
    """What a unit says of `key`, every time."""
    text = path.read_text("utf-8").replace("\\\n", " ")
    return [line.partition("=")[2].strip() for line in text.splitlines() if line.startswith(f"{key}=")]


def variables(path: Path) -> set[str]:
    """The app's variables that a file names."""
    return set(re.findall(r"\bRNNVIZ_[A-Z]+\b", path.read_text("utf-8")))


def test_every_process_has_a_line_in_each_list() -> None:
    (wanted,) = values(DEPLOY / "systemd" / "rnnviz.target", "Wants")
    assert wanted.split() == [f"rnnviz@{port}.service" for port in PORTS]
    nginx = (DEPLOY / "nginx" / "rnnviz.conf").read_text("utf-8")
    for port in PORTS:
        assert len(re.findall(rf"^    server 127\.0\.0\.1:{port} ", nginx, re.MULTILINE)) == 2
        assert f"    {port} 127.0.0.1:{port};" in nginx
    assert list(serve.SHIPPED) == PORTS


def test_the_unit_starts_the_app_as_serve_does() -> None:
    (start,) = values(UNIT, "ExecStart")
    own = serve.app(8501, ["NAME"])
    said = shlex.split(start.replace("%i", "8501").replace("${RNNVIZ_NAME}", "NAME"))
    assert sorted(said[1:]) == sorted(own[1:])
    parser = argparse.ArgumentParser()
    host.add_parser(parser.add_subparsers())
    assert said[1:3] == ["-m", "rnnviz"]
    asked = parser.parse_args(said[3:])
    assert (asked.port, asked.address, asked.trust_proxy) == (8501, "127.0.0.1", "127.0.0.1")
    assert values(UNIT, "KillMode") == ["process"]  # else a restart ends the runs


def test_what_cannot_start_is_not_started_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    def program(code: str) -> serve.Program:
        made = serve.Program([sys.executable, "-c", code])
        made.process.wait()
        return made

    with pytest.raises(SystemExit, match=r"can't start: .* ended with 3"):
        program("raise SystemExit(3)").look()
    monkeypatch.setattr(serve, "AGAIN", -1.0)
    killed = program("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    killed.look()  # that is no wrong setting
    killed.process.wait()
    killed.look()
    killed.process.wait()
    assert killed.process.returncode == -signal.SIGKILL


def test_all_variables_are_the_app_s_own() -> None:
    code = "".join(path.read_text("utf-8") for path in (ROOT / "rnnviz").rglob("*.py"))
    known = set(re.findall(r"\bRNNVIZ_[A-Z]+\b", code))
    environment = DEPLOY / "systemd" / "rnnviz.env"
    for path in (UNIT, environment, DEPLOY / "compose.yaml", DEPLOY / "Dockerfile", DEPLOY / "serve.py"):
        assert variables(path) - known <= {"RNNVIZ_NAME"}, path
    set_here = set(re.findall(r"^(RNNVIZ_\w+)=", environment.read_text("utf-8"), re.MULTILINE))
    assert {"RNNVIZ_KEY", "RNNVIZ_NAME", "RNNVIZ_CAPACITY"} == set_here
    assert f"RNNVIZ_CAPACITY={setting.CAPACITY}\n" in environment.read_text("utf-8")
    assert f"RNNVIZ_CAPACITY:-{setting.CAPACITY}}}\n" in (DEPLOY / "compose.yaml").read_text("utf-8")
    assert f"*one* process ({setting.CAPACITY})" in (DEPLOY / "README.md").read_text("utf-8")
    (guard,) = values(UNIT, "ExecStartPre")
    assert f"-ge {setting.SHORTEST} " in guard


def test_systemd_finds_nothing_wrong(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("no systemd here")
    for path in (*UNIT.parent.glob("rnnviz*.*"),):
        text = path.read_text("utf-8").replace("/opt/rnnviz/venv/bin/python", "/bin/true")
        (tmp_path / path.name.replace("@.", "@8501.")).write_text(text, "utf-8")
    unit = tmp_path / "rnnviz@8501.service"
    said = subprocess.run([analyze, "verify", str(unit)], capture_output=True, text=True, check=False)
    about_ours = [line for line in said.stderr.splitlines() if "rnnviz" in line and "man" not in line]
    assert about_ours == []
    command = [analyze, "security", "--offline=true", "--threshold=20", str(unit)]
    subprocess.run(command, check=True, capture_output=True)  # 2.0 of 10, where 10 is bare


def test_the_container_has_what_it_starts(tmp_path: Path) -> None:
    docker = (DEPLOY / "Dockerfile").read_text("utf-8")
    kept = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", docker, re.MULTILINE)
    for source in " ".join(copied).split():
        assert (ROOT / source).exists()
        assert f"!{source}" in kept
    entry = re.search(r"^ENTRYPOINT (\[.*\])$", docker, re.MULTILINE)
    assert entry is not None
    _, script, *options = yaml.safe_load(entry[1])
    service = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]["rnnviz"]
    words = [re.sub(r"\$\{\w+:-(.*?)\}", r"\1", word) for word in service["command"]]
    asked = serve.options([*options, *words])
    assert (asked.address, asked.port, asked.processes, asked.name) == ("0.0.0.0", 8080, 3, ["localhost"])
    assert (ROOT / script).is_file()
    assert service["ports"] == [f"{asked.port}:{asked.port}"]
    assert f"127.0.0.1:{asked.port}/_stcore/health" in docker
    build = DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]
    assert build.resolve() == DEPLOY / "Dockerfile"
    data, models = service["volumes"]
    assert data.endswith(":/data")
    assert models.endswith(":/models:ro")
    assert "RNNVIZ_MODELS=/data/models:/models " in docker  # what is kept goes into the first
    assert "VOLUME /data\n" in docker
    assert service["read_only"] is True


def test_the_commands_of_the_readme_name_what_there_is() -> None:
    text = (DEPLOY / "README.md").read_text("utf-8")
    for path in re.findall(r"(?<![\w/.])(?:deploy|nginx|systemd|tests)/[\w@./-]+\.\w+", text):
        assert (ROOT / path).exists() or (DEPLOY / path).exists(), path
    known = set().union(
        *(
            variables(path)
            for path in DEPLOY.rglob("*")
            if path.is_file() and path.suffix not in (".md", ".pyc")
        )
    )
    assert variables(DEPLOY / "README.md") <= known
