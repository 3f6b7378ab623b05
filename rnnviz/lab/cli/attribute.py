"""`python -m rnnviz attribute`: the contribution of each character before a prediction.

A row a character: integrated gradients and occlusion, in nats, beside the norm of the gradient.
"""

from typing import Annotated, Literal

from rnnviz.cli.bind import Help
from rnnviz.cli.output import JsonOptions, ModelArg, TextArg, load_network, print_findings, read_text_arg
from rnnviz.findings import Number, count, words


def attribute(
    source: TextArg,
    model_arg: ModelArg,
    options: JsonOptions,
    *,
    at: Annotated[
        int | None,
        Help("look at the prediction after so many characters (default: after all of them)", metavar="N"),
    ] = None,
    character: Annotated[
        str | None,
        Help(
            "the character whose probability is looked at (default: the one that came; after the last "
            "character the most probable one)",
            metavar="C",
        ),
    ] = None,
    against: Annotated[
        str | None, Help("compare with the probability of this one (default: none)", metavar="C")
    ] = None,
    instead: Annotated[
        Literal["average", "zero", "unknown", "out"],
        "what stands in a character's place: the average embedding, a zero one, that of an unknown "
        "character; out, for occlusion alone, leaves it out",
    ] = "average",
    last: Annotated[
        int | None,
        Help(
            "ask about the last N characters (default: all, at most 1,000; for integrated gradients as many "
            "as its sum is right for)",
            metavar="N",
        ),
    ] = None,
) -> None:
    """Show what each character before a prediction adds to it, three ways.

    examples:
      python -m rnnviz attribute --model timemachine-gru "The Time Trav" --character e
      python -m rnnviz attribute --model python-lstm --file code.py --at 300 --against ")" --json
    """
    from rnnviz.lab.analysis.attribution import contributions
    from rnnviz.lab.reports.attribution import quantity

    attribution = contributions(
        load_network(model_arg),
        read_text_arg(source),
        at=at,
        character=character,
        against=against,
        instead=instead,
        last=last,
    )
    heading = words(
        "attribution.heading",
        characters=count(len(attribution.row)),
        y=quantity(attribution),
        whole=Number(attribution.integrated.whole),
    )
    print_findings([attribution], options, heading, model=model_arg.model)
