"""Units: the targets they respond to, the predictions that depend on them, and a network's memory.

    from rnnviz import units

    units.find(model, text, "quotes")                              which units tell, beyond simpler causes
    units.find(model, text, "quotes", models=[other])              in how many networks a unit tells
    units.find(model, text, "quotes", directions=True)             all units of a layer, weighted by a fit
    units.probe(trace, "quotes")                                   in one unit, a few, or spread over all
    units.scan(model, Path("book.txt"))                            each unit over a long text or a file
    units.match(model, text, 10, 24, corpus)                       where else the same units are on
    units.gates(trace)                                             saturation and time constants
    units.project(trace)                                           the path of the state in a plane
    units.activations(trace, quantity="update")                    the states as one table

    rnnviz.trace(model, text, change=units.Zero(17))               the same text without a unit
    rnnviz.sample(model, text, 100, change=units.Clamp(17, 1.0))   a continuation with a unit held fast
    units.Scale(17, 0.5), units.Edit(function)                     other changes; layer= chooses the layer
    units.Direction("up", vector)                                  several units, changed together as one
    units.effect(model, text, units.Zero(17))                      the cost of a change, beside random ones
    units.ablate(model, text)                                      the cost of leaving out each unit

    units.perturb(model, text, 40, "x")                            how long one letter is remembered
    units.memory(model, text)                                      how long a letter is, on average
    units.patch(model, one, 40, other, 30)                         a state put into another text's reading
    units.compare([one, other], text)                              several networks on one text

    units.target("quotes", text)                                   where a target holds; help lists the kinds
    units.untrained(model)                                         untrained copies of a network

A long call reports the share that is done to `progress`. The result classes are in `rnnviz.lab.analysis`, one
module for each function.
"""

from rnnviz.lab.analysis.ablation import ablate
from rnnviz.lab.analysis.activations import activations
from rnnviz.lab.analysis.comparison import compare
from rnnviz.lab.analysis.controls import find, untrained
from rnnviz.lab.analysis.directions import Direction
from rnnviz.lab.analysis.effects import effect
from rnnviz.lab.analysis.gating import gates
from rnnviz.lab.analysis.interventions import Clamp, Edit, Scale, Zero
from rnnviz.lab.analysis.patching import patch
from rnnviz.lab.analysis.perturbation import memory, perturb
from rnnviz.lab.analysis.places import match
from rnnviz.lab.analysis.probing import probe
from rnnviz.lab.analysis.projection import project
from rnnviz.lab.analysis.scanning import scan
from rnnviz.lab.analysis.targets import target

__all__ = [
    "Clamp",
    "Direction",
    "Edit",
    "Scale",
    "Zero",
    "ablate",
    "activations",
    "compare",
    "effect",
    "find",
    "gates",
    "match",
    "memory",
    "patch",
    "perturb",
    "probe",
    "project",
    "scan",
    "target",
    "untrained",
]


def __dir__() -> list[str]:
    return __all__
