"""The two tables of recorded figures: README.md beside this file, and "Speed" in the project's README."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RECORD = Path(__file__).with_name("results.json")
PAGE = Path(__file__).with_name("README.md")
FRONT = ROOT / "README.md"
BEGIN, END = "<!-- figures: python -m tests.benchmarks --write -->", "<!-- end of the figures -->"

Run = dict[str, Any]
"""One run of one program: its arguments, the code and the machine that it ran on, and its figures."""


def read() -> list[Run]:
    """The recorded runs, in the order of the table."""
    found: list[Run] = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else []
    return found


def merged(runs: list[Run], new: Run, whole: bool) -> list[Run]:
    """`runs` with a new one. Of its program's others the figures that it has anew go; all of them if it was
    `whole`, or if it isn't known which code they describe."""
    anew = {figure["what"] for figure in new["figures"]}
    found: list[Run] = []
    for run in [*runs, new]:
        if run["program"] == new["program"] and run is not new:
            all_go = whole or "tree" not in run
            kept = [] if all_go else [one for one in run["figures"] if one["what"] not in anew]
            run = {**run, "figures": kept}
        if run["figures"]:
            found.append(run)
    return found


def git(*arguments: str) -> str:
    """What git answers."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def code(rooms: list[str]) -> str:
    """The content of these rooms in the last commit, as one number."""
    listed = git("ls-tree", "-r", "HEAD", "--", *rooms)
    done = subprocess.run(["git", "hash-object", "--stdin"], input=listed, capture_output=True, text=True)
    return done.stdout[:12]


def number(value: float, unit: str, digits: int = 0) -> str:
    """A number with its unit: with so many digits, or three without zeros behind them."""
    form = ",.0f" if abs(value) >= 100 else f"#.{digits}g" if digits else ".3g"
    return f"{value:{form}} {unit}".strip()


def limit(figure: dict[str, Any]) -> tuple[str, str]:
    """The limit of a figure in words, and whether it holds."""
    for name, words in (("at_most", "at most"), ("at_least", "at least")):
        if (bound := figure.get(name)) is not None:
            holds = figure["measured"] <= bound if name == "at_most" else figure["measured"] >= bound
            return (
                f"{words} {number(bound, figure.get('unit', ''), figure.get('digits', 0))}",
                "yes" if holds else "**no**",
            )
    return "", ""


def row(cells: list[str]) -> str:
    """A line of a Markdown table."""
    return f"| {' | '.join(cell.replace('|', '∣') for cell in cells)} |"


def of(run: Run) -> str:
    """The code of a run: its commit, its day, and whether the code has changed since."""
    return f"{run['commit']}, {run['date']}{' (old)' if run.get('old') else ''}"


def measured(figure: dict[str, Any]) -> str:
    """What was measured, as the tables show it."""
    return number(figure["measured"], figure.get("unit", ""), figure.get("digits", 0))


def page(runs: list[Run]) -> str:
    """README.md beside this file."""
    figures = [(run, figure) for run in runs for figure in run["figures"]]
    judged = [limit(figure)[1] for _run, figure in figures if limit(figure)[1]]
    said = f"""\
# What was measured

Written from `results.json` by `python -m tests.benchmarks`, which runs the programs in this folder one after
the other (`--list` says how long each takes). Things that a ratio compares ran in turns, in one run. *Code*
is the commit that ran, and its day: *old* where anything has been committed since in the folders that the
figures describe (under "The runs"), be it a comment, + where the code wasn't committed.
{len(figures)} figures; {judged.count("yes")} of {len(judged)} limits hold.
"""
    lines = [
        said,
        row(["figure", "measured", "limit", "holds", "beside", "program", "code"]),
        row(["---"] * 7),
    ]
    for run, figure in figures:
        program = f"[{run['program']}]({run['program']}.py)"
        lines.append(
            row(
                [figure["what"], measured(figure), *limit(figure), figure.get("beside", ""), program, of(run)]
            )
        )
    lines += [
        "",
        "## The runs",
        "",
        "*Busy*: the share of the processors that other programs had just before. Runs that don't say what",
        "they took are older than this table: their commit is the one that wrote the figure into README.",
        "",
        row(["program", "code", "machine", "busy", "took", "describes"]),
        row(["---"] * 6),
    ]
    for run in runs:
        command = f"`{run['program']}.py {run['arguments']}".strip() + "`"
        busy = f"{run['busy']:.0f} %" if "busy" in run else ""
        took = f"{run['seconds']:,.0f} s" if "seconds" in run else ""
        lines.append(row([command, of(run), run["machine"], busy, took, f"`{' '.join(run['rooms'])}`"]))
    return "\n".join(lines) + "\n"


def front(runs: list[Run]) -> str:
    """The part of the project's README between the two marks."""
    chosen = [(run, figure) for run in runs for figure in run["figures"] if figure.get("front")]
    machines = list(dict.fromkeys(run["machine"] for run, _figure in chosen))
    older = any(run.get("old") for run, _figure in chosen)
    said = f"""\
Each row is one run's, of a program in `tests/benchmarks/`; [the table there](tests/benchmarks/README.md)
names the commit and the machine of each, and has the others. Measured on {"; ".join(machines)}.
"""
    if older:
        said += "† is older than the code that it describes.\n"
    lines = [
        said,
        row(["what", "measured", "wanted", "beside"]),
        row(["---"] * 4),
    ]
    for run, figure in chosen:
        old = " †" if run.get("old") else ""
        lines.append(
            row([figure["what"], measured(figure) + old, limit(figure)[0], figure.get("beside", "")])
        )
    return "\n".join(lines)


def placed(text: str, runs: list[Run]) -> str:
    """The project's README with its table as recorded."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{front(runs)}\n{END}{rest.split(END)[1]}"


def marked(runs: list[Run]) -> list[Run]:
    """The same runs, each with whether the code that it describes is another by now."""
    return [{**run, "old": code(run["rooms"]) != run.get("tree")} for run in runs]


def write(runs: list[Run]) -> None:
    """Record the runs, and write both pages."""
    runs = marked(runs)
    RECORD.write_text(json.dumps(runs, indent=1, ensure_ascii=False) + "\n", "utf-8")
    PAGE.write_text(page(runs), "utf-8")
    FRONT.write_text(placed(FRONT.read_text("utf-8"), runs), "utf-8")
