"""A lecturer and two visitors of a hosted app, as tests have them."""

from collections.abc import Callable

from rnnviz.ui.hosting.user import NOBODY, Person

LECTURER, ANN, BOB = Person("l", lecturer=True), Person("ann", lecturer=False), Person("bob", lecturer=False)
NAMES = {LECTURER: "lecturer", ANN: "ann", BOB: "bob", NOBODY: "nobody"}

Is = Callable[[Person], None]
