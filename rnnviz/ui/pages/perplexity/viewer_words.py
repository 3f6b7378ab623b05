"""The viewer's words in the session's language; its modules hold none and fill in the braces."""

from rnnviz.i18n import _
from rnnviz.ui.words import uncoloured


def words() -> dict[str, str]:
    """Every word and sentence of the viewer, by the name its modules use."""
    return {
        "curve": _("Perplexity along the text"),
        "curve.running": _("all text so far"),
        "curve.rolling": _("last {n} characters"),
        "curve.both": _("bold: {running}; pale: {rolling}"),
        "curve.notice": _("The pale line peaks where the text surprised the model. Click to go there."),
        "curve.seen": _("in view below"),
        "curve.at": _("character {at}: {running} so far, {rolling} around here"),
        "curve.ends": _("The perplexity of all text so far ends at {p}."),
        "curve.peaks": _(
            "Of the last {n} characters it is highest, {high}, at {at}; lowest, {low}, at {and}."
        ),
        "curve.label": _("Position in the text: arrow keys move by a hundredth, click to jump"),
        "colour": _("Colour"),
        "colour.surprisal": _("surprisal"),
        "colour.rank": _("rank"),
        "colour.versus": _("difference"),
        "key.surprisal": _("0 to {n} bits or more"),
        "key.versus": _("{b} better · equal · {a} better, up to {n} bits"),
        "key.rank": _("rank {from}"),
        "key.ranks": _("{from} to {to}"),
        "key.beyond": _("above {from}"),
        "go": _("Go to character"),
        "text": _("The text, coloured. Left and right arrow keys move from character to character"),
        "plain": uncoloured(),
        "part": _(
            "Marked: {n} characters. Given the {before} before them, their perplexity is {perplexity}."
        ),
        "part.hint": _(
            "Drag over a passage, or Shift-click its end, to get its perplexity given the text before it."
        ),
        "place": _("characters {from} to {to} of {n}"),
        "missing": _("Plotly was not found at {address}: the curve can't be drawn."),
        "detail.idle": _("Point at a character or click it to see what the model expected there."),
        "detail.at": _("character {at} of {n}"),
        "detail.unknown": _("not in the model's vocabulary: its cost includes spelling it out"),
        "detail.p": _("probability"),
        "detail.rank": _("rank"),
        "detail.bits": _("surprisal"),
        "detail.entropy": _("undecided before it"),
        "detail.bits.n": _("{n} bits"),
        "detail.versus": _("log P, {a} − {b}"),
        "detail.top": _("Expected here"),
        "detail.top.of": _("Expected by {model}"),
        "detail.approximate": _("≈ from the last {n} characters only, not from the beginning"),
        "detail.other": _("others"),
        "notice.surprisal": _(
            "The stronger the colour, the more it surprised the model. Look at names, rare words and first "
            "letters."
        ),
        "notice.rank": _(
            "No colour: the model's first guess was right. Orange: at least ten others seemed likelier."
        ),
        "notice.versus": _("Look for whole words in one colour: there one model predicts better."),
    }
