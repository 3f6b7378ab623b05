"""Fields of a page, for tests of how their values are decided."""

from rnnviz.errors import ConfigError
from rnnviz.ui.shell.fields import Field


def read_text(text: str) -> str:
    if text == "damaged":
        raise ConfigError("this text is damaged")
    return text


def why_gone(name: str) -> str:
    return f"{name} is gone."


PART = Field("part", "one", address="part", title="Part", parse=str.lower)
EDGES = Field("edges", 3, address="edges", title="Edges", parse=int)

NAMES = Field[tuple[str, ...]](
    "names", (), address="names", title="Names", parse=lambda s: tuple(s.split(","))
)

TEXT = Field("text", "as ever", address="text", parse=read_text, brief=True)
