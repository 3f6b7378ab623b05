"""The files for systemd, Caddy and containers name what there is: files, ports, variables, options. They are
read here as text and YAML; systemd and Caddy themselves are asked where they are at hand.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from rnnviz.cli import bind
from rnnviz.page import folder
from rnnviz.ui.serving import http_protocol
from rnnviz.ui.serving.start import host

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
UNIT, CADDY = DEPLOY / "rnnviz.service", DEPLOY / "Caddyfile"


def values(path: Path, key: str) -> list[str]:
    """What a unit says of `key`, every time."""
    text = path.read_text("utf-8").replace("\\\n", " ")
    return [line.partition("=")[2].strip() for line in text.splitlines() if line.startswith(f"{key}=")]


def variables(path: Path) -> set[str]:
    """The app's variables that a file names."""
    return set(re.findall(r"\bRNNVIZ_[A-Z]+\b", path.read_text("utf-8")))


def hosting(words: list[str]) -> argparse.Namespace:
    """What `rnnviz host` understands of a command."""
    assert words[1:4] == ["-m", "rnnviz", "host"]
    parser = argparse.ArgumentParser()
    bind.add_command(parser.add_subparsers(), host)
    return parser.parse_args(words[3:])


def test_the_unit_starts_the_app_for_the_proxy_alone() -> None:
    (start,) = values(UNIT, "ExecStart")
    options = hosting(shlex.split(start))
    assert (options.port, options.address, options.app_address) == (8600, "127.0.0.1", "")
    assert values(UNIT, "KillMode") == ["process"]  # else a restart ends the runs


def test_the_app_is_reached_by_the_login_alone_and_the_room_without() -> None:
    app, room = re.findall(
        r"^\S+\.example\.org \{\n(.*?)^\}", CADDY.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    assert "basic_auth {" in app
    assert "reverse_proxy 127.0.0.1:8501\n" in app
    assert "basic_auth" not in room
    assert "reverse_proxy 127.0.0.1:8600 " in room
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    assert services["services"]["rnnviz"]["ports"] == ["8600:8600"]
    login = services["configs"]["login"]["content"]
    assert login.index("basic_auth") < login.index("reverse_proxy rnnviz:8501")


def test_the_proxy_bounds_what_comes_in_and_keeps_no_addresses() -> None:
    text = CADDY.read_text("utf-8")
    assert f"max_header_size {http_protocol.BoundedHeaders.max_header_bytes // 1024}KB\n" in text
    assert f"read_header {http_protocol.HEADER_TIMEOUT_S:.0f}s\n" in text
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert f"max_size {config['server']['maxUploadSize'] + 1}MiB\n" in text  # and what is around a file
    assert re.findall(r"\blog\b[^}]*}", re.sub("#.*", "", text)) == [
        "log {\n\t\t\n\t\texclude http.log.error\n\t}"
    ]
    caddy = shutil.which("caddy")
    if caddy is not None:
        command = [caddy, "validate", "--adapter", "caddyfile", "--config", str(CADDY)]
        subprocess.run(command, check=True, capture_output=True)


def test_all_variables_are_the_app_s_own() -> None:
    code = "".join(path.read_text("utf-8") for path in (ROOT / "rnnviz").rglob("*.py"))
    read_variables = set(re.findall(r"\bRNNVIZ_[A-Z]+\b", code)) | {
        "RNNVIZ_NAME",
        "RNNVIZ_ROOM",
        "RNNVIZ_PASSWORD",
    }
    for path in (UNIT, DEPLOY / "compose.yaml", DEPLOY / "Dockerfile", DEPLOY / "README.md"):
        assert variables(path) <= read_variables, path


def test_systemd_finds_nothing_wrong(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("no systemd here")
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text("utf-8").replace("/opt/rnnviz/venv/bin/python", "/bin/true"), "utf-8")
    text = subprocess.run([analyze, "verify", str(unit)], capture_output=True, encoding="utf-8", check=False)
    about_ours = [line for line in text.stderr.splitlines() if "rnnviz" in line and "man" not in line]
    assert about_ours == []
    command = [analyze, "security", "--offline=true", "--threshold=20", str(unit)]
    subprocess.run(command, check=True, capture_output=True)  # 2.0 of 10, where 10 is bare


def test_the_container_has_what_it_starts() -> None:
    docker = (DEPLOY / "Dockerfile").read_text("utf-8")
    unignored = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", docker, re.MULTILINE)
    for source in " ".join(copied).split():
        assert (ROOT / source).exists()
        assert f"!{source}" in unignored
    entry = re.search(r"^ENTRYPOINT (\[.*\])$", docker, re.MULTILINE)
    service = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]["rnnviz"]
    words = [re.sub(r"\$\{\w+:-(.*?)\}", r"\1", word) for word in service["command"]]
    options = hosting([*yaml.safe_load(entry[1]), *words])
    assert (options.address, options.port, options.app_address) == ("", 8600, "0.0.0.0")
    assert options.name == ["http://localhost:8600"]
    assert "127.0.0.1:8501/_stcore/health" in docker
    build = DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]
    assert build.resolve() == DEPLOY / "Dockerfile"
    data, models = service["volumes"]
    assert data.endswith(":/data")
    assert models.endswith(":/models:ro")
    assert "RNNVIZ_MODELS=/data/models:/models " in docker  # what is kept goes into the first
    assert "VOLUME /data\n" in docker
    assert service["read_only"] is True


@pytest.mark.slow
def test_a_static_space_shows_the_page_that_needs_no_server(models_folder: Path, tmp_path: Path) -> None:
    _, head, text = (DEPLOY / "space" / "README.md").read_text("utf-8").split("---\n", 2)
    readme = yaml.safe_load(head)
    assert (readme["sdk"], readme["license"]) == ("static", "mit")
    assert readme["app_file"] == folder.INDEX
    space, model = tmp_path / "space", models_folder / "tiny-gru.safetensors"
    (space / ".git").mkdir(parents=True)  # a Space is a clone of its repository
    (tmp_path / "deploy").symlink_to(DEPLOY)
    (commands,) = re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
    commands = commands.replace("/path/to/the/space", str(space))
    rnnviz = f'rnnviz() {{ {sys.executable} -m rnnviz "$@" --model {model}; }}\n'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(["bash", "-ec", rnnviz + commands], cwd=tmp_path, env=environment, check=True)
    made = {path.name for path in (tmp_path / "page").iterdir()}
    assert {path.name for path in space.iterdir()} == made | {".git", "README.md"}


def test_the_commands_of_the_readme_name_what_there_is() -> None:
    text = (DEPLOY / "README.md").read_text("utf-8")
    named = re.findall(r"(?<![\w.])(?:/opt/rnnviz/)?(deploy/[\w./-]+\w)", text)
    assert {"deploy/compose.yaml", "deploy/rnnviz.service", "deploy/Caddyfile"} <= set(named)
    for path in named:
        assert (ROOT / path).exists(), path
