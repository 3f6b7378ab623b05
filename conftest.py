"""What holds for every test, the package's doctests among them."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path

# Small models gain nothing from a second thread, and two that wait for one another lose much wherever a
# browser or another test has the other core. Before numpy is there: for it, and for what tests start.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# What is compiled, for seconds, is kept from one run of the suite to the next.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parent / ".pytest_cache" / "numba"))

# Products round as on another processor, here and in what tests start (tests/processor); before the engines.
os.environ.setdefault("RNNVIZ_TEST_ROUNDING", "other")
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(Path(__file__).parent / "tests" / "processor"), os.environ.get("PYTHONPATH")])
)

# What tests start finds the package compiled, whatever holds for whoever starts them.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import other_processor
import pytest
from hypothesis import HealthCheck, Phase, settings

# Its examples compress a text, which needs a library that isn't built for each system.
collect_ignore = [] if find_spec("constriction") else ["rnnviz/scoring/compression.py"]

sys.dont_write_bytecode = False
other_processor.install()

# What is imported and collected stays to the end: a quarter of the time would go to looking it over.
gc.disable()

# Properties: the same few examples each time, and the first that fails as it is: to look for a shorter one
# takes minutes. With --hypothesis-profile=thorough many, new ones each time, and the shortest that fails.
settings.register_profile(
    "quick",
    max_examples=15,
    phases=[Phase.explicit, Phase.generate],
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.register_profile(
    "thorough", settings.get_profile("quick"), max_examples=1000, phases=list(Phase), derandomize=False
)
settings.load_profile("quick")


def pytest_xdist_auto_num_workers() -> int | None:
    """Workers where none are asked for: a test in a browser keeps a core and a bit, so one is left over."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(6, max(2, cores * 3 // 4))


def pytest_collection_finish() -> None:
    """From here on the collector looks at what tests make."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing is read from the cache folder of whoever runs the tests, nothing is written there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RNNVIZ_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def rounding(request: pytest.FixtureRequest) -> Iterator[None]:
    """A promise of every bit is tried with this processor's own products."""
    other_processor.product_count = 0
    with other_processor.own_products() if request.node.get_closest_marker("exact") else nullcontext():
        yield


@pytest.fixture(autouse=True)
def floats_as_they_are() -> Iterator[None]:
    """Training in a test flushes denormal numbers to zero, which the next test's numbers must not see."""
    yield
    if "torch" in sys.modules:
        sys.modules["torch"].set_flush_denormal(False)


@pytest.fixture(autouse=True)
def threads_as_they_are() -> Iterator[None]:
    """A test may set or fix the number of threads of its own process, which the next test must not see."""
    yield
    if threads := sys.modules.get("rnnviz.networks.threads"):
        threads.fixed = 0
    if threads := sys.modules.get("rnnviz.lab.engines.torch_threads"):
        threads._told = 0
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(int(os.environ["OMP_NUM_THREADS"]))


@pytest.fixture(autouse=True)
def settings_as_they_are() -> Iterator[None]:
    """An example in a docstring may set a variable of ours, which the next test must not see."""
    before = {name: value for name, value in os.environ.items() if name.startswith("RNNVIZ_")}
    yield
    for name in [name for name in os.environ if name.startswith("RNNVIZ_")]:
        del os.environ[name]
    os.environ.update(before)
