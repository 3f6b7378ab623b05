"""Units: the targets they respond to, the predictions that depend on them, and a network's memory.

    from rnnviz import units

    units.find(model, text, "quotes")                              which units tell, beyond simpler causes
    units.find(model, text, "quotes", models=[other])              in how many networks a unit tells
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

A long call reports the share that is done to `progress`. The result classes are in `rnnviz.analysis`, one
module for each function.
"""

from typing import TYPE_CHECKING

from rnnviz.analysis.ablation import ablate
from rnnviz.analysis.activations import activations
from rnnviz.analysis.comparison import compare
from rnnviz.analysis.controls import find, untrained
from rnnviz.analysis.directions import Direction
from rnnviz.analysis.effects import effect
from rnnviz.analysis.gating import gates
from rnnviz.analysis.interventions import Clamp, Edit, Scale, Zero
from rnnviz.analysis.patching import patch
from rnnviz.analysis.perturbation import memory, perturb
from rnnviz.analysis.places import match
from rnnviz.analysis.probing import probe
from rnnviz.analysis.projection import project
from rnnviz.analysis.scanning import scan
from rnnviz.analysis.targets import target
from rnnviz.deprecated import gone

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


if not TYPE_CHECKING:  # a type checker that sees a module's `__getattr__` accepts every name
    _RESULTS = {
        "ablation": ("Ablation", "Within"),
        "comparison": ("Comparison",),
        "effects": ("Effect",),
        "gating": ("Gates",),
        "matching": ("Match", "Matches"),
        "patching": ("PatchControls", "Patched"),
        "perturbation": ("Memory", "Perturbation"),
        "probing": ("Few", "Probe"),
        "projection": ("Projection",),
        "scanning": ("Context", "Move", "ScanReport", "UnitReport"),
        "search_result": ("Evidence", "Found", "Report", "Rival", "Search"),
    }
    _FIND = "write `units.find(model, text, target)`; several targets in a list are held to Holm's levels"
    _MATCH = "write `units.match(model, text, start, stop, corpus)`"
    _MASK = "write a mask (T,) of booleans where a target is asked for"
    __getattr__ = gone(
        __name__,
        {
            **{
                name: f"it is the class of a result; for an annotation import it from rnnviz.analysis.{room}"
                for room, names in _RESULTS.items()
                for name in names
            },
            **{
                f"{work}Progress": "`progress=` is called with the share that is done, `.fraction`"
                for work in ("Ablation", "Control", "Effect", "Index", "Probe", "Scan", "Weigh")
            },
            **dict.fromkeys(
                ("patch_grid", "PatchGrid", "PatchProgress"),
                'write `patch(model, source, "all", target)`, which returns the array (S + 1, T + 1) at once',
            ),
            **dict.fromkeys(("Index", "Pattern", "index", "open_index", "pattern"), _MATCH),
            **dict.fromkeys(("Searcher", "echoes", "weigh"), _FIND),
            **dict.fromkeys(("KINDS", "PYTHON_KINDS", "kinds"), "help(units.target) has the names"),
            "Target": _MASK,
            "span_target": f"{_MASK}: mask[start:stop] = True",
            "read_annotations": f"read the file yourself, and {_MASK}: mask[start:stop] = True",
            "pattern_target": "write `units.target(pattern, text)`, or the pattern alone",
            "control": "write `units.find(model, text, target).untrained`",
            "directions": "with h = trace.hidden[:, layer] and a mask write "
            "`units.Direction(name, h[mask].mean(axis=0) - h[~mask].mean(axis=0))`",
            "patch_controls": "write `units.patch(…).controls(model, unrelated)`",
            "perturb_all": "write `[units.perturb(model, text, at, letter) for model in models]`",
            "pushes": "write `trace.weights.readout[:, unit]`, what a unit at 1 adds to each symbol's logit",
            "quantities": "write `trace.gates`, which has the gates by name, beside .hidden and .cell",
            "resume": "write `rnnviz.sample(model, text, length, change=…)`",
        },
        kept={
            "Intervention": (
                "rnnviz.analysis.interventions:Intervention",
                "`units.Clamp(unit, value)`, `units.Zero(unit)` or `units.Scale(unit, value)`",
            ),
            "Unit": ("rnnviz.analysis.activations:Unit", "the unit's number, and `layer=` beside it"),
            "continuation": (
                "rnnviz.analysis.former_calls:continuation",
                "`rnnviz.sample(model, text, length, change=…)`",
            ),
            "holm": ("rnnviz.analysis.search_result:holm", "`units.find(model, text, [one, another])`"),
            "intervene": ("rnnviz.analysis.former_calls:intervene", "`rnnviz.trace(model, text, change=…)`"),
            "run": (
                "rnnviz.analysis.former_calls:run",
                "the call alone: `scan`, `ablate` and `effect` return what they find",
            ),
            "search": ("rnnviz.analysis.evidence:search", "`units.find(model, text, target)`"),
        },
    )
