"""`python -m rnnviz probe`: linear probes of all units for quotes, indentation and the like.

A row a target, with scores on the part of the text that the probe was not fitted on: of the probe; of the
best 1, 2, 4 and 8 units; of a probe for random labels; of the character just read; of the last few
characters; of the same probe on untrained copies. Then whether one unit holds the target, a few, or it is
spread; and the verdict.
"""

from __future__ import annotations

from typing import Annotated, Any

import rnnviz
from rnnviz.cli.bind import Help
from rnnviz.cli.output import (
    CorpusArg,
    ModelArg,
    OutputOptions,
    load_network,
    print_findings,
    progress_bar,
    read_corpus_arg,
)
from rnnviz.findings import Finding, count, words
from rnnviz.lab.cli.units import TargetOptions, print_copies_start
from rnnviz.networks.verdicts import UNTRAINED_COPIES


def probe(
    model_arg: ModelArg,
    source: CorpusArg,
    target_options: TargetOptions,
    options: OutputOptions,
    *,
    characters: Annotated[int, Help("characters to read at most", least=1)] = 50_000,  # all states are kept
    controls: Annotated[int, Help("probes for labels that mean nothing", metavar="N", least=0)] = 5,
    seed: Annotated[int, "chooses those labels"] = 0,
    untrained: Annotated[
        int, Help("probe N untrained copies of the network too, 0 for none", metavar="N", least=0)
    ] = UNTRAINED_COPIES,
    weights: Annotated[bool, "with --json: the probe's weight of every unit too"] = False,
) -> None:
    """Fit a linear probe on all units: does one unit hold a target, or many together?

    example:
      python -m rnnviz probe --model python-lstm --corpus python-library --target quotes --target brackets
    """
    from rnnviz.lab.analysis.search_result import Unanswered

    model = load_network(model_arg)
    traced = rnnviz.trace(model, read_corpus_arg(source)[:characters])
    targets = target_options.targets(traced.text)
    if untrained:
        print_copies_start(model, options)
    copies = [rnnviz.trace(copy, traced.text) for copy in rnnviz.units.untrained(model, untrained)]
    for quantity in target_options.quantity or ["hidden"]:
        findings: list[Finding] = []
        for target in targets:
            if len(target) and not target.varies:
                findings.append(Unanswered(target))
                continue
            with progress_bar(target.name, options) as progress:
                findings.append(
                    rnnviz.units.probe(
                        traced,
                        target,
                        layer=target_options.layer,
                        quantity=quantity,
                        untrained=copies,
                        controls=controls,
                        seed=seed,
                        progress=progress,
                    )
                )
        heading = words("read", model=model.name, quantity=quantity, n=count(len(traced)))
        print_findings(
            findings,
            options,
            heading,
            _probe_weights if weights else lambda _finding: {},
            model=model_arg.model,
        )


def _probe_weights(finding: Finding) -> dict[str, Any]:
    return {"weights": finding.weights.tolist()} if hasattr(finding, "weights") else {}
