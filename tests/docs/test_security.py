"""Each promise of SECURITY.md: the tests that would fail if it were broken, some of them here."""

import ast
import inspect
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from rnnviz.networks import modelfile
from rnnviz.ui.serving import http_protocol
from rnnviz.ui.serving.room import listener, phones

ROOT = Path(__file__).parents[2]
PAGE = " ".join((ROOT / "SECURITY.md").read_text("utf-8").split())
SERVICE = ROOT / "deploy" / "rnnviz.service"

GUARD, DOOR = "ui/serving/test_guard.py", "ui/serving/test_room_door.py"
CHECKPOINT, DAMAGED = "networks/test_checkpoint.py", "test_damaged.py"
THIS_FILE = "docs/test_security.py"

PROMISES: dict[str, list[str]] = {
    "only this machine. The app listens on localhost": [f"{GUARD}::test_app_listens_on_localhost_alone"],
    "refuses requests that name another host": [f"{GUARD}::test_foreign_host_is_403"],
    "or come from another site's page": [f"{GUARD}::test_foreign_origin_is_403_without_lookup"],
    "the networks' page, the open question and votes, nothing else": [f"{DOOR}::test_unknown_path_is_404"],
    "no cookie": [f"{DOOR}::test_class_page_is_one_file_that_fetches_from_room_alone"],
    "ends within 16 kB and 10 seconds, a body within 4 kB and 10 seconds, or its connection is cut": [
        f"{THIS_FILE}::test_numbers_are_the_codes",
        f"{DOOR}::test_unfinished_header_ends_connection",
        f"{DOOR}::test_endless_or_missing_body_is_refused",
    ],
    "reads nothing for 30 seconds. It holds 6,200 connections, 3,100 of them from one address": [
        f"{THIS_FILE}::test_numbers_are_the_codes",
        f"{DOOR}::test_connections_beyond_bound_are_cut",
    ],
    "has one vote per question": [f"{DOOR}::test_two_phones_hear_vote_and_hear_close"],
    "checked by its SHA-256": [
        "text/test_downloads.py::test_failed_download_names_the_reason_and_keeps_the_cache"
    ],
    "no statistics, no reports of errors": [
        "test_package.py::test_the_first_start_asks_nothing_and_reports_nothing",
        "ui/serving/test_launch.py::test_app_passes_given_options_alone",
    ],
    "tracebacks go to the terminal": ["ui/shell/test_main.py::test_unexpected_error_shows_no_traceback"],
    "escaped before they are HTML": [
        "ui/pages/test_perplexity_sections.py::test_html_in_a_name_or_a_text_stays_text_in_every_section",
        "notebook/test_html_repr.py::test_a_model_shows_its_card",
        "browser/test_viewer.py::test_text_is_shown_unchanged",
        "browser/test_address.py::test_markup_stays_text_and_damaged_text_is_noted",
    ],
    "Archives and documents are refused": ["text/test_filetypes.py::test_binary_file_is_refused_by_format"],
    "can't fill the memory": ["text/test_row_files.py::test_a_decompression_bomb_is_noticed_early"],
    "by the app's user only (0600)": ["ui/jobs/test_clear_data.py::test_only_the_owner_can_read_a_record"],
    "at once by **Forget my texts**": ["ui/jobs/test_clear_data.py::test_button_forgets_all_texts_at_once"],
    "quote what a spreadsheet would compute": [
        "figures/test_export.py::test_a_name_that_is_a_formula_is_text_in_a_spreadsheet"
    ],
    "A file may have 200 MB": [f"{THIS_FILE}::test_numbers_are_the_codes"],
    "**Nothing in them is run**": [f"{DAMAGED}::test_a_hostile_file_is_refused_unread"],
    "no pickle is read from them, nor from any text, trace or run": [
        f"{THIS_FILE}::test_no_reader_runs_code"
    ],
    "numba, which compiles the training on a processor, keeps what it compiled as pickles": [
        f"{THIS_FILE}::test_the_one_pickle_that_is_read_lies_where_the_page_says"
    ],
    "A header may have 4 MB, a card 262,144 characters, a file 2 GB": [
        f"{THIS_FILE}::test_numbers_are_the_codes",
        f"{DAMAGED}::test_a_hostile_file_is_refused_unread",
    ],
    "shapes are checked before memory is taken": [
        f"{DAMAGED}::test_a_damaged_file_is_a_sentence_or_the_right_answer"
    ],
    "A damaged file spoils nothing else": [f"{CHECKPOINT}::test_models_are_listed_and_damaged_ones_named"],
    "What a card says is shown as text": [
        "ui/shell/test_main.py::test_card_shows_baselines_and_ngram_can_score",
        "page/test_build.py::test_markup_in_card_stays_text",
    ],
    "only to the names that it was given (`RNNVIZ_HOSTS`), and to their pages": [
        f"{GUARD}::test_allowed_hosts_and_origins_are_served"
    ],
    "made only with its page's token": [
        "ui/browser/test_view_socket.py::test_connection_needs_the_token_and_a_living_session"
    ],
    "The container runs as a user of its own, without capabilities, on a read-only file system": [
        f"{THIS_FILE}::test_the_container_and_the_unit_may_do_little"
    ],
    "the systemd unit may write to one folder": [
        f"{THIS_FILE}::test_the_container_and_the_unit_may_do_little"
    ],
    "puts a proxy's login before it": [
        "deploy/test_units.py::test_the_app_is_reached_by_the_login_alone_and_the_room_without"
    ],
    "Caddy as set up there logs no addresses": [
        "deploy/test_units.py::test_the_proxy_bounds_what_comes_in_and_keeps_no_addresses"
    ],
    "pins what the tests ran with": ["test_package.py::test_the_written_test_command_is_what_the_ci_runs"],
}


@pytest.mark.parametrize("promise", PROMISES)
def test_security_promises_have_tests(promise: str) -> None:
    assert promise in PAGE
    for test in PROMISES[promise]:
        path, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / "tests" / path).read_text("utf-8"), test


def test_numbers_are_the_codes() -> None:
    assert (modelfile.MAX_HEADER, modelfile.MAX_CARD, modelfile.MAX_FILE) == (4 * 2**20, 262_144, 2 * 2**30)
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert config["server"]["maxUploadSize"] == 200
    assert (listener.PhoneConnection.max_header_bytes, http_protocol.HEADER_TIMEOUT_S) == (2**14, 10.0)
    assert (phones.MAX_BODY_BYTES, phones.BODY_TIMEOUT_S, listener.STALLED_TIMEOUT_S) == (4_096, 10.0, 30.0)
    assert (listener.MAX_CONNECTIONS, listener.MAX_CONNECTIONS_PER_ADDRESS) == (6_200, 3_100)


RUNS = {"eval", "exec", "compile", "__import__"}
UNPICKLES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}


def runs_what_it_reads(code: str) -> list[str]:
    """What unpickles in a module, or runs a text as code."""
    calls = []
    for node in ast.walk(ast.parse(code)):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        calls += [name for name in names if name.split(".")[0] in UNPICKLES]
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            allowed = any(
                alias.arg == "allow_pickle" and getattr(alias.value, "value", True) is not False
                for alias in node.keywords
            )
            if called in RUNS or called.endswith(("torch.load", "read_pickle")) or allowed:
                calls.append(ast.unparse(node))
    return calls


def test_no_reader_runs_code() -> None:
    calls = {
        path.relative_to(ROOT).as_posix(): unsafe
        for path in (ROOT / "rnnviz").rglob("*.py")
        if (unsafe := runs_what_it_reads(path.read_text("utf-8")))
    }
    assert calls == {}
    for bad in (
        "import pickle",
        "from dill import load",
        "torch.load(f)",
        "eval(x)",
        "np.load(f, allow_pickle=True)",
    ):
        assert runs_what_it_reads(bad), bad


def test_the_one_pickle_that_is_read_lies_where_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numba = pytest.importorskip("numba")
    from numba.core import caching

    from rnnviz.lab.engines import compiled

    assert "pickle.load" in inspect.getsource(caching), "else the page promises less than it could"
    monkeypatch.setenv("RNNVIZ_CACHE", str(tmp_path))
    places = {None: tmp_path / "compiled", str(tmp_path / "own"): tmp_path / "own"}
    for named, place in places.items():
        monkeypatch.setattr(numba.config, "CACHE_DIR", named or "")
        with compiled._cached_code(numba):
            assert Path(numba.config.CACHE_DIR).parent == place
    assert "in `compiled` in the folder of downloads" in PAGE
    assert "`NUMBA_CACHE_DIR`" in PAGE
    assert "pickle is read anywhere" not in PAGE


def test_the_container_and_the_unit_may_do_little() -> None:
    service = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))["services"]["rnnviz"]
    assert (service["cap_drop"], service["read_only"]) == (["ALL"], True)
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "cap_add", "user", "pid", "network_mode"} & set(service)
    docker = (ROOT / "deploy" / "Dockerfile").read_text("utf-8")
    assert re.findall(r"^USER (\S+)$", docker, re.MULTILINE) == ["10001"]
    assert docker.index("\nUSER 10001\n") < docker.index("\nENTRYPOINT ")
    unsafe = re.findall(r"^(\w+)=(.*)$", SERVICE.read_text("utf-8"), re.MULTILINE)
    assert [value for name, value in unsafe if name == "StateDirectory"] == ["rnnviz"]
    assert {("ProtectSystem", "strict"), ("ProtectHome", "yes"), ("CapabilityBoundingSet", "")} <= set(unsafe)
    settings = {"ReadWritePaths", "BindPaths", "CacheDirectory", "LogsDirectory", "RuntimeDirectory"}
    assert not settings & {name for name, _ in unsafe}
