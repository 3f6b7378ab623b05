"""`python -m rnnviz patch`: put the state after some characters of one text into the reading of another. A
row a prediction of the target from there on: how much it changed, what the character that came costs more,
and what is expected most without and with the patch; beside it what random moves of the same length do.
"""

from typing import Annotated, Any, Literal

from rnnviz.cli.bind import Help
from rnnviz.cli.directions import Along, direction
from rnnviz.cli.output import Json, OnDevice, network, print_findings
from rnnviz.findings import words


def patch(
    on: OnDevice,
    along: Along,
    shown: Json,
    *,
    source: Annotated[str, Help("the text whose state is taken", metavar="TEXT")],
    at: Annotated[
        int | None, Help("after so many of its characters (default: all of them)", metavar="N")
    ] = None,
    target: Annotated[str, Help("the text that it is put into", metavar="TEXT")],
    to: Annotated[int, Help("after so many of the target's characters", metavar="N")],
    layer: Annotated[int | None, "patch one layer, counted from 0 (default: all)"] = None,
    quantity: Annotated[
        Literal["state", "hidden", "cell"],
        "state: H, and C of an LSTM; hidden or cell: one of them (default: state; a direction: hidden)",
    ] = "state",
    unrelated: Annotated[
        str | None,
        Help(
            "a text at random places of which the same patch is taken, for comparison (default: none)",
            metavar="TEXT",
        ),
    ] = None,
    length: Annotated[int, "characters to go on with from there"] = 80,
    temperature: Annotated[float, "of that continuation"] = 1.0,
    seed: Annotated[int, "of that continuation and of the controls"] = 0,
) -> None:
    """Put the state after one text's beginning into the reading of another text.

    examples:
      python -m rnnviz patch --model shakespeare-lstm --source "Too slowly, my lord" \\
          --target "And so my lord, and all the time" --to 14
      python -m rnnviz patch --model python-gru --source "name = 'the" --target "name = the value" --to 10 \\
          --units 3,17 --json
      python -m rnnviz patch --model python-gru --source "name = 'the" --target "name = the value" --to 10 \\
          --direction difference:quotes --corpus python-source --unclosed line
    """
    from rnnviz import units
    from rnnviz.reading import sampling

    model = network(on)
    read = units.patching.read(model, source)
    of = direction(along, model, layer or 0, "cell" if quantity == "cell" else "hidden")
    done = units.patch(
        model,
        read,
        len(read) if at is None else at,
        target,
        to,
        layer=layer,
        units=along.units if of is None else of,
        quantity=quantity,
    )
    controls = units.patch_controls(model, done, unrelated, seed=seed)
    drawn: dict[str, Any] = {"temperature": temperature, "seed": seed}
    plain = sampling.resume(done.target, done.to, length, **drawn)
    patched = done.continuation(length, **drawn)
    more = {"continuation": plain, "continuation_patched": patched}
    heading = words("patch.goes-on", plain=repr(plain), patched=repr(patched))
    print_findings([controls], shown, heading, lambda _found: more, model=on.model)
