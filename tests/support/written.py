"""The pages that are read outside the app: what they let one type, and what they link to."""

import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    ROOT / "deploy" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]

RUN = ("python -m rnnviz ", "rnnviz ")
"""How a command begins that the tests run."""

NOT_RUN = [
    (r"(python -m rnnviz|rnnviz)( app| host)?( --\S+( \S+)?)*$", "serves until it is stopped"),
    (r"(pip|python -m pip|pipx|uv|uvx|npm ci|git clone)\b", "fetches from the network"),
    (r"(python -m )?streamlit run |python -m http.server|python -m uvicorn", "serves until it is stopped"),
    (r"docker |podman ", "needs a container's engine"),
    (r".*--scheduler tcp:", "needs a cluster"),
    (r"jupyter ", "opens a browser; tests/examples runs the notebooks"),
    (r"python examples/", "tests/examples runs it"),
    (r"python home/gru.py ", "tests/lab/engines/test_torch_network.py runs such programs"),
    (r"python docs/(make|pictures/\w+).py|python -m build|twine ", "minutes; .ci/run builds"),
    (
        r"pytest|ruff|mypy|lint-imports|npm (run|test)|\.ci/run|bash \.ci/run",
        "checks all, or is what runs this",
    ),
    (r"python tests/benchmarks/", "measures for minutes to hours"),
    (r"pybabel |sed -i .*\.po$", "changes the repository"),
    (r"cd |source |\. |export |python3? -m venv ", "changes the shell, or makes an environment"),
]
"""Commands that are not run, by how they begin, and why. Those of deploy/README.md change a machine."""


def blocks(page: Path, language: str, indented: bool = False) -> list[str]:
    """A page's blocks of code; those that are `indented` belong to a list, and show a fragment."""
    matches = re.findall(
        rf"^( *)```{language}\n(.*?)^ *```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    return [textwrap.dedent(code) for before, code in matches if bool(before) == indented]


def typed(page: Path) -> list[str]:
    """Every command of a page's blocks, one a line."""
    text = "".join(blocks(page, "bash") + blocks(page, "bash", indented=True))
    lines = text.replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def why_not(line: str) -> str | None:
    """Why the tests don't run a command; None where they do."""
    return next((reason for begins, reason in NOT_RUN if re.match(begins, line)), None)


def commands() -> list[str]:
    """The commands that the tests run, each once, in the pages' order."""
    lines = dict.fromkeys(line for page in PAGES for line in typed(page))
    return [line for line in lines if line.startswith(RUN) and not why_not(line)]


def examples() -> dict[str, list[str]]:
    """The Python of each page that has some: its blocks, which run one after the other."""
    by_page = {page.relative_to(ROOT).as_posix(): blocks(page, "python") for page in PAGES}
    by_page.pop("docs/cells.md")  # tests/lab/engines/test_new_cell.py carries it out, each block in its file
    return {name: code for name, code in by_page.items() if code}


FENCE = re.compile(r"^( *)(`{3,}).*?^\1\2\s*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(\s*<?([^()\s>]+)>?[^()]*\)|(?:src|href|srcset)=\"([^\"\s]+)")


def prose(page: Path) -> str:
    """A page without its blocks of code and what stands in backticks."""
    return re.sub(r"``.+?``|`[^`\n]*`", "", FENCE.sub("", page.read_text("utf-8")))


def links(page: Path) -> list[str]:
    """Where a page links to, pictures included, other hosts left out."""
    matches = (target_a or two for target_a, two in LINK.findall(prose(page)))
    return [target for target in matches if not re.match(r"[a-z]+:", target)]


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and the site make it."""
    words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)|<[^>]*>|[`*]", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    """What a link to a page may name after `#`."""
    text = FENCE.sub("", page.read_text("utf-8"))
    matches: list[str] = []
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", text, re.MULTILINE):
        name = slug(heading)
        before = sum(re.fullmatch(rf"{re.escape(name)}(-\d+)?", other) is not None for other in matches)
        matches.append(f"{name}-{before}" if before else name)
    return {
        *matches,
        *re.findall(r"<\w+ (?:id|name)=\"([^\"]+)\"", text),
        *re.findall(r"^::: (\S+)", text, re.M),
    }
