"""The limit of open files: each phone of a class keeps one or two open."""

import sys

import pytest

from rnnviz.ui.serving import lifespan


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize(
    ("soft", "hard", "raised"),
    [
        (256, -1, 10_240),  # -1: no limit
        (256, 100_000, 10_240),
        (256, 4_096, 4_096),
        (256, 256, None),
        (11_000, -1, None),  # it is never lowered
        (-1, -1, None),
    ],
)
def test_open_file_limit_is_raised_to_hard_limit_or_enough(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, raised: int | None
) -> None:
    import resource

    limits: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "RLIM_INFINITY", -1)
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _kind, pair: limits.append(pair))
    lifespan.raise_open_file_limit()
    assert limits == ([] if raised is None else [(raised, hard)])
