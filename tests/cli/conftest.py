"""Commands run in this process."""

from tests.support.commands import run as run
