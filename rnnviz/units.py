"""What the units of a network respond to, what depends on them, and how long it remembers.

    from rnnviz import units

    units.find(model, text, "quotes")                                  which units tell, beside all simpler
    trace = rnnviz.trace(model, text)
    found = units.search(trace, units.target("quotes", text))          which units tell, beside chance
    units.scan(model, "book.txt")                                      what all units do over a corpus
    units.probe(trace, units.target("quotes", text))                   one unit, a few, or spread over all
    units.echoes(model, text, [target])                                what tells it before any training
    units.weigh(searcher, found, target, untrained)                    how sure, beside what is simpler
    units.holm(searches)                                               the levels of a family of searches
    units.pushes(model, 17)                                            what a unit speaks for
    units.project(trace)                                               the path of the state in a plane
    units.gates(trace)                                                 saturation and time constants
    rnnviz.trace(model, text, change=units.Zero(17))                   the same text without a unit
    rnnviz.sample(model, text, 100, change=units.Clamp(17, 1.0))       how it goes on then
    units.effect(model, text, units.Intervention((17,)))               what that costs, beside random ones
    units.ablate(model, text)                                          what each unit is worth
    units.directions.mean_difference(trace, target)                    a direction: used as a unit is
    units.perturb(model, text, 40, "x")                                how long a letter is remembered
    units.patch(model, one, 40, other, 30)                             a state put into another text's reading
    units.patch(…).controls(model, third)                              the same beside what any state does
    units.patch(model, one, "all", other)                              each state of one in each of the other
    units.compare([one, other], text)                                  several networks on one text
    units.match(model, text, 10, 24, corpus)                           where else the same units are on

`scan`, `ablate` and `effect` call `progress` with the share that is done. `echoes`, `weigh` and `index` are
generators that return their result: `units.run` waits for it, closing cancels.
"""

from typing import TYPE_CHECKING

from rnnviz.analysis import directions
from rnnviz.analysis.ablation import Ablation, Within, ablate
from rnnviz.analysis.activations import Unit, activations, quantities
from rnnviz.analysis.comparison import Comparison, compare
from rnnviz.analysis.controls import echoes, find, untrained
from rnnviz.analysis.directions import Direction
from rnnviz.analysis.effects import Effect, effect
from rnnviz.analysis.evidence import search, weigh
from rnnviz.analysis.gating import Gates, gates
from rnnviz.analysis.indexing import Index, index, match, open_index
from rnnviz.analysis.interventions import (
    Clamp,
    Edit,
    Intervention,
    Scale,
    Zero,
    continuation,
    intervene,
    resume,
)
from rnnviz.analysis.matching import Match, Matches, Pattern, pattern
from rnnviz.analysis.patching import PatchControls, Patched, patch
from rnnviz.analysis.perturbation import Memory, Perturbation, memory, perturb
from rnnviz.analysis.probing import Few, Probe, probe
from rnnviz.analysis.projection import Projection, project
from rnnviz.analysis.scanning import Context, Move, ScanReport, UnitReport, pushes, scan
from rnnviz.analysis.search_result import Evidence, Found, Report, Rival, Search, holm
from rnnviz.analysis.searching import Searcher
from rnnviz.analysis.targets import KINDS, PYTHON_KINDS, Target, kinds, pattern_target, span_target, target
from rnnviz.deprecated import gone
from rnnviz.networks.progress import run

__all__ = [
    "KINDS",
    "PYTHON_KINDS",
    "Ablation",
    "Clamp",
    "Comparison",
    "Context",
    "Direction",
    "Edit",
    "Effect",
    "Evidence",
    "Few",
    "Found",
    "Gates",
    "Index",
    "Intervention",
    "Match",
    "Matches",
    "Memory",
    "Move",
    "PatchControls",
    "Patched",
    "Pattern",
    "Perturbation",
    "Probe",
    "Projection",
    "Report",
    "Rival",
    "Scale",
    "ScanReport",
    "Search",
    "Searcher",
    "Target",
    "Unit",
    "UnitReport",
    "Within",
    "Zero",
    "ablate",
    "activations",
    "compare",
    "continuation",
    "directions",
    "echoes",
    "effect",
    "find",
    "gates",
    "holm",
    "index",
    "intervene",
    "kinds",
    "match",
    "memory",
    "open_index",
    "patch",
    "pattern",
    "pattern_target",
    "perturb",
    "probe",
    "project",
    "pushes",
    "quantities",
    "resume",
    "run",
    "scan",
    "search",
    "span_target",
    "target",
    "untrained",
    "weigh",
]

if not TYPE_CHECKING:  # where a checker would take it to say that every name is there
    __getattr__ = gone(
        __name__,
        {
            **dict.fromkeys(
                (
                    *("AblationProgress", "ControlProgress", "EffectProgress", "IndexProgress"),
                    *("ProbeProgress", "ScanProgress", "WeighProgress"),
                ),
                "`progress=` is called with the share that is done, `.fraction`",
            ),
            **dict.fromkeys(
                ("patch_grid", "PatchGrid", "PatchProgress"),
                'write `patch(model, source, "all", target)`, which returns the array (S + 1, T + 1) at once',
            ),
            "patch_controls": "write `units.patch(…).controls(model, unrelated)`",
            "perturb_all": "write `[units.perturb(model, text, at, letter) for model in models]`",
            "control": "write `units.find(model, text, target).untrained`",
            "read_annotations": "read the file yourself, and write `span_target([(start, stop)], text)`, or "
            "`Target(label, mask)` with a bool for each character",
        },
    )
