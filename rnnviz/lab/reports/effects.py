"""What is shown of an intervention's effect: its loss beside random changes."""

from rnnviz.findings import Number, Sentence, Table, count, make_sentences, one_row, words
from rnnviz.lab.analysis.bootstrap import Resampled
from rnnviz.lab.analysis.effects import Effect
from rnnviz.lab.reports.ablation import resampled_interval


def table(effect: Effect) -> Table:
    """One row."""
    return one_row(
        (words("head.loss"), Number(effect.loss, "signed", 5)),
        (words("head.interval"), resampled_interval(effect.losses, 0, 5)),
        (words("head.random-units"), Number(float(effect.units.mean()), "signed", 5)),
        (words("head.random-directions"), Number(float(effect.directions.mean()), "signed", 5)),
        (words("head.lead"), Number(float(effect.lead.estimate), "signed", 5)),
        (words("head.interval-lead"), resampled_interval(effect.lead, digits=5)),
    )


def sentences(effect: Effect) -> list[Sentence]:
    """The loss beside random changes, and whether it is larger inside the target."""
    overall = make_sentences(
        ("effect.loss", f"effect.{_lead_code(effect.lead)}"),
        characters=count(effect.characters),
        loss=Number(effect.loss, "signed", 4),
        interval=resampled_interval(effect.losses, 0),
        units=int((effect.units < effect.loss).sum()),
        directions=int((effect.directions < effect.loss).sum()),
        half=len(effect.units),
        lead=Number(float(effect.lead.estimate), digits=4),
        sure=resampled_interval(effect.lead),
    )
    if effect.within is None or effect.conditional is None:
        return overall
    codes = ("effect.part", f"effect.part-{_lead_code(effect.conditional)}")
    return overall + make_sentences(
        codes if effect.within.characters else ["effect.no-part"],
        characters=count(effect.within.characters),
        inside=Number(float(effect.within.inside.estimate[0]), "signed", 4),
        inside_interval=resampled_interval(effect.within.inside, 0),
        outside=Number(float(effect.within.outside.estimate[0]), "signed", 4),
        outside_interval=resampled_interval(effect.within.outside, 0),
        apart=Number(float(effect.conditional.estimate), "signed", 4),
        apart_interval=resampled_interval(effect.conditional),
    )


def _lead_code(lead: Resampled) -> str:
    """The code of a lead: whether it is above 0, and surely."""
    if not lead.enough:
        return "too-short"
    if lead.estimate <= 0:
        return "nothing"
    return "more" if lead.excludes() else "unsure"
