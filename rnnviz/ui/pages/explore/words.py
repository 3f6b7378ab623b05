"""The live view's words in the session's language; its modules hold none and fill in the braces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rnnviz.figures import live
from rnnviz.ui import presenting
from rnnviz.ui.i18n import _
from rnnviz.ui.words import notices, quantities, view_words

if TYPE_CHECKING:
    from rnnviz.runs.unit_findings import Finding
    from rnnviz.ui.pages.explore.tracks import Track


def words() -> dict[str, str]:
    """Every word and sentence of the live view, by the name its modules use."""
    return {
        **view_words(),
        **presenting.words(),
        **{f"quantity.{name}": word for name, word in quantities().items()},
        **{f"notice.{name}": said for name, said in notices().items()},
        "intro": _(
            "Type here: with every character you see the network's hidden state and what it expects next."
        ),
        "text": _("Your text"),
        "placeholder": _("Type anything"),
        "examples": _("Examples"),
        "write": _("Continue"),
        "writing": _("Stop"),
        "write.help": _("The network writes on from the caret, one drawn character after another"),
        "written": _("written by the network"),
        "branch": _("Three ways"),
        "branch.help": _("The network writes on in three ways; pick one"),
        "ways": _("Three continuations"),
        "ways.notice": _(
            "Three draws from the same bars. Click one to take it, or press Alt and its number."
        ),
        "ways.take": _("take {n}: {text}"),
        "ways.close": _("Close"),
        "dials": _("What is drawn from"),
        "temperature": _("temperature"),
        "temperature.help": _(
            "Below 1 likely characters become likelier, above 1 all become more alike; 0 takes the likeliest"
        ),
        "top_k": _("top-k"),
        "top_k.help": _("Only the k likeliest characters are left to draw from"),
        "top_p": _("top-p"),
        "top_p.help": _("Only the fewest characters that hold this share of the probability are left"),
        "all": _("all"),
        "plain": _("reset"),
        "plain.help": _("Back to the network's own bars"),
        "characters": _("characters"),
        "perplexity": _("perplexity"),
        "perplexity.help": _("On average as unsure as if choosing among this many equally likely characters"),
        "bits": _("bits per character"),
        "bits.help": _("The base-2 logarithm of the perplexity"),
        "unknown": _("unknown"),
        "unknown.help": _("Characters the network never learnt; underlined in the text"),
        "entropy": _("entropy now, bits"),
        "entropy.help": _("How undecided the network is about the next character"),
        "show": _("Show"),
        "colour": _("Text colour"),
        "notice.steady": _("a row is a unit: see where it changes colour"),
        "bits.n": _("{n} bits"),
        "order.steady": _("the {n} slowest"),
        "order.slow": _("slowest first"),
        "rows.all": _("all {n} units"),
        "rows.few": _("the {n} slowest"),
        "colour.surprisal": _("surprisal"),
        "colour.unit": _("unit {n}"),
        "notice.perplexity": _("lower is better"),
        "notice.ahead": _("here it beats the {ngram}"),
        "notice.behind": _("here the {ngram} is ahead"),
        "notice.surprisal": _("peaks stand where a word could have gone many ways"),
        "notice.mlp": _("no memory: the same character always gives the same column"),
        "perplexity.title": _("Running perplexity"),
        "surprisal.title": _("Surprisal, bits"),
        "line.model": _("this network"),
        "line.uniform": _("uniform guess"),
        "next.came": _("came"),
        "next.notice": _("One long bar: it is sure. Click a bar, or press Alt and its number, to write it."),
        "said.wrote": _("wrote {c}"),
        "readout.at": _("character {n}"),
        "readout.came": _("{c}: surprisal {bits} bits"),
        "readout.unit": _("unit {n}: {v}"),
        "readout.pinned": _("pinned; Escape unpins"),
        "figure": _(
            "States, perplexity and surprisal along the text. Arrow keys move along characters and units, "
            "Enter pins one, Escape unpins."
        ),
        "alt.states": _("{what}: {units} units as rows, {n} characters as columns."),
        "alt.strongest": _("After character {n}, unit {unit} is farthest from 0, at {v}."),
        "alt.empty": _("Nothing has been read yet."),
        "alt.perplexity": _("The running perplexity ends at {p}."),
        "alt.below": _("The running perplexity ends at {p}, below the {ngram}'s {q}."),
        "alt.above": _("The running perplexity ends at {p}, above the {ngram}'s {q}."),
        "alt.peak": _("The surprisal is highest at character {n}, {c}: {bits} bits."),
        "alt.track": _("{name} at {p} of its height"),
        "window": _("Window of the text"),
        "window.of": _("characters {from} to {to} of {n}"),
        "window.follow": _("follow the caret"),
        "track.link": _("look closer"),
        "limit": _("The live view reads {n} characters; what was beyond is left out. {link}"),
        "address.long": _(
            "The address keeps the first {most} characters: a reload or a link loses the others."
        ),
        "address.cut": _("The address held the first {most} of {n} characters."),
        "foreign.unknown": _("{p} of these characters are unknown to {model}."),
        "foreign.surprise": _("This costs {model} {b} bits per character; text like its own costs {u}."),
        "foreign.better": _("{name} reads it best: {b} bits per character, against {own}."),
        "foreign.none": _("No other model here reads it better."),
        "foreign.turn": _("Read it with {name}"),
        "limit.link": _("A whole file belongs on the Perplexity page."),
        "plotly.missing": _(
            "The drawing library could not be loaded from {url}. Start the app with `streamlit run app.py`, "
            "which serves it."
        ),
        "waiting": _("The server does not answer; what you type is kept and sent again."),
    }


def track_words(track: Track, card: Mapping[str, Any], *, layers: int) -> dict[str, Any]:
    """A track's name, what was measured and where, and the address that leads to its unit on Inside; the
    network has so many `layers`.
    """
    from rnnviz.runs import unit_findings
    from rnnviz.ui.pages.inside.words import targets

    names, best = targets(python=True), track.findings[0]
    scores = "; ".join(f"{names.get(one.target, one.target)}: {score(one)}" for one in track.findings)
    where = unit_findings.text(card) or _("text it never read")
    about = _("{scores}. Measured on {n} characters of {where}. It is a correlation, no cause.")
    unit = _("unit {n} of {quantity}, {score}")
    if layers > 1:
        unit = _("unit {n} of {quantity} in layer {layer}, {score}")
    return {
        "name": names.get(best.target, best.target),
        "note": unit.format(
            n=track.unit, quantity=live.SYMBOLS[track.quantity], layer=track.layer, score=score(best)
        ),
        "about": about.format(scores=scores, n=f"{best.characters:,}", where=where),
        "query": {
            "part": "units",
            "unit": str(track.unit),
            "layer": str(track.layer),
            "quantity": track.quantity,
        },
    }


def score(one: Finding) -> str:
    """A finding's measure and score."""
    measure = _("AUC") if one.measure == "AUC" else _("correlation")
    return f"{measure} {one.reported:.2f}"
