"""What the text viewer, and the page's part for whole texts, have beside a text: words, colours, scales."""

from pathlib import Path
from typing import Any

from rnnviz import sentences
from rnnviz.figures.themes import BANDS, DARK, LIGHT, SURPRISAL_FULL, VERSUS_FULL, themes
from rnnviz.i18n import _, language
from rnnviz.page.formatting import uncoloured

SURPRISAL_STEPS, VERSUS_STEPS = 12, 13  # colours behind the text
_SCALE_FILE = Path(__file__).parents[1] / "ui" / "browser" / "static" / "scale.css"


def scale_css() -> str:
    """The style of the line of perplexities, which the app and the page have, and its colours."""
    colours = "".join(
        f"--scale-{name}: light-dark({getattr(LIGHT, name)}, {getattr(DARK, name)}); "
        for name in ("model", "ngram", "muted")
    )
    return f"{_SCALE_FILE.read_text('utf-8')}:root {{ {colours}}}\n"


def viewer_fixed() -> dict[str, Any]:
    """What doesn't depend on the text, in the session's language (Fixed in the viewer's types.d.ts)."""
    return {
        "words": viewer_words(),
        "language": language(),
        "themes": themes(surprisal=SURPRISAL_STEPS, versus=VERSUS_STEPS),
        "bands": BANDS,
        "surprisalFull": SURPRISAL_FULL,
        "surprisalSteps": SURPRISAL_STEPS,
        "versusFull": VERSUS_FULL,
        "versusSteps": VERSUS_STEPS,
    }


def text_fixed() -> dict[str, Any]:
    """The same for the page without a server, with its own words (TextFixed in types.d.ts)."""
    fixed = viewer_fixed()
    return {**fixed, "words": fixed["words"] | text_words()}


def viewer_words() -> dict[str, str]:
    """Every word and sentence of the viewer in the session's language, by the names that its browser modules
    use; these hold no words and fill in the braces.
    """
    return {
        "curve": _("Perplexity along the text"),
        "curve.running": _("all text so far"),
        "curve.rolling": _("last {n} characters"),
        "curve.both": _("bold: {running}; pale: {rolling}"),
        "curve.notice": _(
            "The pale line peaks where the text surprised the model. Click or tap to go there."
        ),
        "curve.sight": _("in view below"),
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
        "key.versus": _("{b} better · equal · {a} better, {n} bits or more"),
        "key.rank": _("rank {from}"),
        "key.ranks": _("{from} to {to}"),
        "key.beyond": _("above {from}"),
        "go": _("Go to character"),
        "text": _("The text, coloured. Left and right arrow keys move from character to character"),
        "plain": uncoloured(),
        "passage": _(
            "Marked: {n} characters. Given the {before} before them, their perplexity is {perplexity}."
        ),
        "passage.hint": _(
            "Drag over a passage, or Shift-click its end, to get its perplexity given the text before it."
        ),
        "place": _("characters {from} to {to} of {n}"),
        "detail.idle": _("Point at a character, or click or tap it, to see what the model expected there."),
        "detail.at": _("character {at} of {n}"),
        "detail.unknown": _("not in the model's vocabulary: its cost includes spelling it out"),
        "detail.p": _("probability"),
        "detail.rank": _("rank"),
        "detail.bits": _("surprisal"),
        "detail.entropy": _("entropy before it"),
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


# The page's names of sentences that findings have, too.
_FINDINGS = {
    "hesitated": "score.hesitated",
    "all-unknown": "score.all-unknown",
    "some-unknown": "score.some-unknown",
    "worse-than-guessing": "score.worse-than-guessing",
    "rounding": "score.rounding",
}


def text_words() -> dict[str, str]:
    """The words of the page's part for whole texts, and the sentences on files that are no text."""
    findings = {
        f"text.{name}": sentences.strip_marks(str(sentences.catalogue()[code][language()]))
        for name, code in _FINDINGS.items()
    }
    return {
        **findings,
        "text.about": _("How well does {model} predict your text?"),
        "text.paste": _("Paste a text here, or drop a file anywhere on the page."),
        "text.read": _("Read the pasted text"),
        "text.choose": _("Choose a text file"),
        "text.private": _(
            "Your text stays in this browser: the page reads it here and sends nothing anywhere."
        ),
        "text.nothing": _("Paste a text first."),
        "text.pasted": _("the pasted text"),
        "text.example": _("the example"),
        "text.is-example": _("An example, until you choose a text."),
        "text.encoding.label": _("Encoding"),
        "text.certainty.declared": _("You chose this encoding, or the file names it."),
        "text.certainty.verified": _(
            "Every byte is valid UTF-8. A text in another encoding hardly ever is, unless it is plain ASCII."
        ),
        "text.certainty.guessed": _(
            "The file doesn't name its encoding, and this one fits best. "
            "Choose another if the text looks wrong."
        ),
        "text.progress": _("{share} read, {time} left."),
        "text.so-far": _("The first {n} characters have a perplexity of {perplexity}."),
        "text.seconds": _("about {n} s"),
        "text.minutes": _("about {n} minutes"),
        "text.stop": _("Stop and show"),
        "text.stopped": _("Only the first {n} of {of} characters were read."),
        "text.below-usual": _(
            "That is lower than usual for this network: it may have been trained on this text."
        ),
        "text.perplexity": _("Perplexity of {name}"),
        "text.second": _("{perplexity} with {model}"),
        "text.compare": _("Compare with"),
        "text.csv": _("Characters as CSV"),
        "text.same": _("the same"),
        "text.fact.bits": _("Bits per character"),
        "text.fact.bits.help": _("The base-2 logarithm of the perplexity."),
        "text.fact.bytes": _("Bits per byte"),
        "text.fact.bytes.help": _(
            "The same per byte of the text itself in UTF-8. Stored as it is, a byte takes 8 bits."
        ),
        "text.fact.characters": _("Characters"),
        "text.fact.characters.help": _("Every character counts, the first one, spaces and line breaks too."),
        "text.fact.unknown": _("Unknown characters"),
        "text.fact.unknown.help": _(
            "Characters outside the model's vocabulary. Each costs extra, to say which character it is."
        ),
        "text.fact.known": _("Perplexity without unknown characters"),
        "text.fact.known.help": _("The perplexity over the known characters alone."),
        "text.most": _("Most surprising"),
        "text.passages": _(
            "The {n} passages of about {length} characters that surprised the model most. "
            "Look for names, numbers and misprints. Choose one to see it in the text."
        ),
        "text.head.perplexity": _("Perplexity"),
        "text.head.place": _("Character no."),
        "text.head.passage": _("Passage"),
        "scale.here": _("this text"),
        "scale.first": _("1: always certain"),
        "scale.guess": _("{n}: uniform guess"),
        "scale.usual": _("{n}: usual for this model"),
        "scale.label": _(
            "On a line from 1, always certain, to {guess}, a uniform guess, this text is at {n}."
        ),
        "text.failed": _("{name} could not be read: {error}"),
        "text.empty": _("This text is empty, and has no perplexity. Choose one with characters in it."),
        "text.archive": _(
            "{name} is not a text file: it looks like an archive ({format}); unpack it and choose a text "
            "file inside"
        ),
        "text.document": _(
            "{name} is not a text file: it looks like a document ({format}); open it in its own program and "
            "save it as plain text (.txt)"
        ),
        "text.data": _("{name} is not a text file: it looks like {format} data; choose a text file"),
        "text.binary": _(
            "{name} is not a text file: byte {position} is NUL (0x00), as in a program or other binary data; "
            "choose a text file"
        ),
        "text.damaged": _(
            "{name} is UTF-8 but damaged: byte {position} (0x{byte}) can't be decoded; repair it there, or "
            "choose its encoding"
        ),
        "text.encoding": _(
            "{name} is not {encoding}: byte {position} (0x{byte}) can't be decoded; choose another encoding"
        ),
        "text.large": _(
            "{name} has {n} bytes, and the page reads at most {most}. Score it with the command: "
            "python -m rnnviz perplexity"
        ),
    }
