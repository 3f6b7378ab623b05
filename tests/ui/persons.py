"""A lecturer and two visitors of a hosted app, as tests have them."""

from collections.abc import Callable

from rnnviz.ui.hosting.user import NOBODY, User

LECTURER, ANN, BOB = User("l", lecturer=True), User("ann", lecturer=False), User("bob", lecturer=False)
NAMES = {LECTURER: "lecturer", ANN: "ann", BOB: "bob", NOBODY: "nobody"}

Is = Callable[[User], None]
