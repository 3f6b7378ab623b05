"""Commands run in this process."""

from tests.support.commands import run as run
from tests.support.commands import run_beside_text as run_beside_text
