"""Deliberate mistakes in all of rnnviz: `python mistakes.py make` has mutmut make a sample of them, and try
the tests that [tool.mutmut] in pyproject.toml names. `python mistakes.py tell LEAST` then shows those that no
test noticed, and the share that was, with its interval; below LEAST percent it ends non-zero.
"""

import os
import sys
from bisect import bisect
from collections.abc import Iterable
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Any

from scipy.stats import binomtest

COUNT = 300
SEED = 0

LONGEST = 40.0
"""Seconds of tests for one mistake, the fast ones first: an unnoticed one would run them all, for minutes."""

NOTICED = ("killed", "timeout")

MOST = 30
"""Tests that may be left out."""

LEFT_OUT = Path("mutants/left-out.txt")
"""The tests that fail by mutmut's stand-ins for functions alone: they would notice every mistake."""


def drawn(names: Iterable[str], count: int = COUNT, seed: int = SEED) -> set[str]:
    """So many of the names, the same for the same seed; where some come or go, most of the others stay."""
    return set(sorted(names, key=lambda name: sha256(f"{seed} {name}".encode()).digest())[:count])


def share(outcomes: Iterable[str], least: float) -> str:
    """Says the share that was noticed; returns what is wrong, "" if nothing is. What was not tried, or ended
    in another way, was not noticed.
    """
    each = list(outcomes)
    if not each:
        return "no mistakes were made"
    noticed = sum(outcome in NOTICED for outcome in each)
    low, high = (100 * end for end in binomtest(noticed, len(each)).proportion_ci(method="wilson"))
    found = 100 * noticed / len(each)
    print(f"{len(each)} mistakes, {found:.1f} % noticed, 95 % interval {low:.1f} to {high:.1f} %")
    return "" if found >= least else f"at least {least:g} % are wanted"


def make() -> None:
    """Makes the mistakes that are drawn; what came of each is in mutants/."""
    from mutmut import __main__ as program
    from mutmut.core import MutmutCallStack
    from mutmut.state import state
    from mutmut.workers.isolation import ForkServerRunner

    class Runner(ForkServerRunner):
        def submit(self, mutant_name: str, tests: list[str], *_limits: Any) -> None:
            """The fast tests first: most mistakes are noticed by many."""
            seconds = sorted((state().duration_by_test[test], test) for test in tests)
            sums = [*accumulate(each for each, _test in seconds)]
            kept = max(1, bisect(sums, LONGEST))
            # A loop that never ends is noticed; on a busy machine what passes all tests must not seem one.
            patience = 60 + 5 * sums[kept - 1]
            super().submit(
                mutant_name, [test for _each, test in seconds[:kept]], round(2 * patience), sums[-1]
            )

        def run_clean_tests(self, tests: Iterable[str]) -> int:
            """They have just passed, while it was seen which test runs what."""
            return 0

    class Tests(program.PytestRunner):
        def run_stats(self, *, tests: Iterable[str]) -> int:
            """Which test runs what: all of them, where mutmut would end at the first that fails."""
            failing, execute = set[str](), self.execute_pytest
            # Who calls whom is not asked; to note it of generators ends Python itself with a fault.
            MutmutCallStack.set = MutmutCallStack.reset = staticmethod(lambda _: None)

            class Failures:
                def pytest_runtest_logreport(self, report: Any) -> None:
                    if report.failed:
                        failing.add(report.nodeid)

            def to_the_end(params: list[str], plugins: Iterable[Any] = ()) -> int:
                return execute([param for param in params if param != "-x"], plugins=[*plugins, Failures()])

            self.execute_pytest = to_the_end
            super().run_stats(tests=tests)
            for runs in state().tests_by_mangled_function_name.values():
                runs -= failing
            LEFT_OUT.write_text("".join(f"{test}\n" for test in sorted(failing)), "utf-8")
            return int(len(failing) > MOST)

    every = program.collect_source_file_mutation_data

    def sample(*, mutant_names: Any) -> Any:
        mutants, by_path = every(mutant_names=mutant_names)
        chosen = drawn(name for _data, name, _result in mutants)
        return [mutant for mutant in mutants if mutant[1] in chosen], by_path

    program.get_mutant_runner = lambda workers: Runner(workers, Tests, {})
    program.collect_source_file_mutation_data = sample
    program._run((), int(os.environ.get("CHILDREN", os.cpu_count() or 1)))


def tell(least: str) -> str:
    """Says what came of them; returns what is wrong, "" if nothing is."""
    from mutmut import __main__ as program

    mutants, _ = program.collect_source_file_mutation_data(mutant_names=())
    chosen = drawn(name for _data, name, _result in mutants)
    outcomes = {}
    for data, name, result in mutants:
        if name in chosen:
            outcomes[name] = program.status_by_exit_code[result]
            if outcomes[name] not in NOTICED:
                print(f"\n{name}: {outcomes[name]}")
                print(program.get_diff_for_mutant(name, path=data.path))
    print(f"\nleft out, as they fail without a mistake:\n{LEFT_OUT.read_text('utf-8')}")
    print(f"of {len(mutants):,} mistakes, {len(outcomes)} were drawn by seed {SEED}")
    return share(outcomes.values(), float(least))


if __name__ == "__main__":
    sys.exit({"make": make, "tell": tell}[sys.argv[1]](*sys.argv[2:]) or None)
