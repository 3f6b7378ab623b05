"""The limit of open files: each phone of a class keeps one or two open."""

import subprocess
import sys

import pytest

from tests.support.serving import ROOT


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_the_limit_of_open_files_is_raised_for_many_phones() -> None:
    import resource

    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard <= 256:
        pytest.skip("more are not allowed here")
    script = (
        "import resource\n"
        "from rnnviz.ui.serving.lifespan import raise_open_file_limit\n"
        "raise_open_file_limit()\n"
        "print(*resource.getrlimit(resource.RLIMIT_NOFILE))\n"
    )

    def limits(soft: int, most: int) -> list[int]:
        made = subprocess.run(
            [sys.executable, "-c", script],
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, most)),
            capture_output=True,
            encoding="utf-8",
            check=True,
            cwd=ROOT,
        )
        return [int(word) for word in made.stdout.split()]

    assert limits(256, hard) == [10_240 if hard == resource.RLIM_INFINITY else min(hard, 10_240), hard]
    assert limits(256, 256) == [256, 256]  # it can't be raised: nothing breaks
    if hard == resource.RLIM_INFINITY or hard > 10_240:
        assert limits(11_000, hard) == [11_000, hard]  # not lowered
