"""The live view's fixed data: words, examples, colours, symbols, axes. Its browser modules hold no words
and fill in the braces. Like live_session.py, this module imports no Streamlit, because a notebook shows the
same view.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rnnviz.figures import live
from rnnviz.figures.themes import COLOUR_LEVELS, REASON_FULL, SURPRISAL_FULL, themes
from rnnviz.i18n import _, language
from rnnviz.networks import contamination, model_card
from rnnviz.networks.cells import CELLS
from rnnviz.page import shown_units
from rnnviz.page.formatting import (
    measure_name,
    presenting_words,
    quantity_names,
    quantity_notices,
    titles,
    together,
    view_words,
)
from rnnviz.page.live_session import MAX_TEXT_CHARS
from rnnviz.page.shown_units import STEADY_UNITS, target_name
from rnnviz.page.text_numbers import number_places, number_words
from rnnviz.scoring.occlusion import MAX_OMISSIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rnnviz.networks.checkpoint import ModelInfo
    from rnnviz.networks.config import ModelConfig
    from rnnviz.networks.model_card import Recorded
    from rnnviz.networks.ngram import NgramModel
    from rnnviz.networks.numpy_model import Network, NumpyModel
    from rnnviz.page.shown_units import NamedUnit


def opening_text(model: Any) -> str:
    """The text to begin with: the example in the model's card, else the first of `examples()`."""
    example = model.card.get("example")
    if isinstance(example, str) and example.strip():
        return example[:MAX_TEXT_CHARS]
    return examples()[0].text


def first_heat_map(named_units: tuple[shown_units.NamedUnit, ...]) -> dict[str, Any]:
    """The heat map's first quantity and layer, and the unit that colours the text: those of the first named
    unit. Without one: hidden states of layer 0, and surprisal (`unit` None).
    """
    named_unit = named_units[0] if named_units else None
    return {
        "quantity": named_unit.quantity if named_unit else "hidden",
        "layer": named_unit.layer if named_unit else 0,
        "unit": named_unit.unit if named_unit else None,
    }


def fixed_part(
    model: Network,
    ngram_model: NgramModel | None,
    temperature: float,
    choosable_models: Sequence[ModelInfo] = (),
    memoryless: NumpyModel | None = None,
) -> tuple[dict[str, Any], str]:
    """The fixed part of the answers, in the session's language (see types.d.ts), and its digest.

    ngram_model       the n-gram model to compare with, or None
    temperature       the sampling temperature to begin with
    choosable_models  the models that can be chosen
    memoryless        the MLP that can be shown beside this model, or None
    """
    config, vocabulary, named_units = model.config, model.vocabulary, shown_units.named_units(model)
    quantities = {name: asdict(live.scale(name, config.span)) for name in live.quantities(config.cell)}
    fixed = {
        "words": live_words(),
        "examples": examples_for(model.card, model.name, choosable_models),
        "language": language(),
        "model": model.name,
        "titles": titles(choosable_models),
        "heldOutBits": contamination.held_out_bits(model.card),
        "suggests": bool(choosable_models),
        "cell": config.cell,
        "layers": config.layers,
        "units": config.hidden_size,
        "steadyUnits": min(STEADY_UNITS, config.hidden_size),
        "listedNext": live.LISTED_NEXT,
        "numbers": number_places(),
        "quantities": quantities,
        "named": [captioned_unit(named_unit, model) for named_unit in named_units],
        "unnamed": "" if named_units else shown_units.unnamed_targets(model.card),
        "first": first_heat_map(named_units),
        "symbols": list(vocabulary.characters),
        "ngram": _("{order}-gram").format(order=ngram_model.order) if ngram_model else None,
        "order": ngram_model.order if ngram_model else 0,
        "memoryless": memoryless.name if memoryless else None,
        "themes": shared_colours(),
        "surprisalFull": SURPRISAL_FULL,
        "reasonFull": REASON_FULL,
        "limit": MAX_TEXT_CHARS,
        "temperature": temperature,
    }
    return fixed, hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()[:12]


def shared_colours() -> dict[str, dict[str, Any]]:
    """The live view's colours by theme, the same for all networks.

    They are computed here, so that Python and the browser can't disagree on them.
    """
    return themes(
        diverging=COLOUR_LEVELS, sequential=COLOUR_LEVELS, surprisal=COLOUR_LEVELS, reason=COLOUR_LEVELS
    )


ENGLISH_MODEL, PYTHON_MODEL, CHINESE_MODEL = "holmes-lstm", "python-lstm", "chinese-gru"
FIRST_MODELS = {"en": ENGLISH_MODEL, "zh": CHINESE_MODEL}
"""The model with which the app and the page begin, by language, if they have it."""


@dataclass(frozen=True)
class Example:
    """An example text.

    notice    the sentence on where to look, true of `model`
    language  the language of models that can read it, as on their cards
    model     the model to choose first among these
    """

    name: str
    text: str
    notice: str
    language: str = "en"
    model: str = ENGLISH_MODEL


def examples() -> list[Example]:
    """All examples, with names and notices in the session's language."""
    return [
        Example(
            _("A sentence"),
            'He opened the door of the room and looked at us. "There is nothing there," he said.',
            _("The first letter of a word surprises most: many words could come there."),
        ),
        Example(
            _("A strange sentence"),
            "Zebras fax quantum jam; why would my gnu vex Björk at half past XVII?",
            _("Nearly every letter surprises, but not the “u” after “q”."),
        ),
        Example(
            _("One word"),
            "machine",
            _("The further into the word, the surer: after “machi” it expects “n”."),
        ),
        Example(
            _("Code"),
            'def show(x):\n    """Print the average."""\n    # Never by zero.\n'
            '    print("mean", sum(x) / max(len(x), 1))',
            _("The string, the comment and the brackets: each changes the colour of a named row."),
            "python",
            PYTHON_MODEL,
        ),
        Example(
            _("Chinese"),
            "那日天色将晚，师徒四人走到一座古庙前，门上写着三个大字。行者笑道：“师父莫怕，我先进去看看。”三藏点头。",
            _("Characters that belong together cost little after the first: 徒 after 师, 字 after 三个大."),
            "zh",
            CHINESE_MODEL,
        ),
    ]


def examples_for(
    card: Mapping[str, Any], name: str, choosable_models: Sequence[ModelInfo]
) -> list[dict[str, Any]]:
    """The examples as JSON for the view of the model `name`, whose card is `card`.

    model   the model to choose, if this one doesn't read the example's language; else None
    notice  "" unless the example is read by the model that the sentence is true of
    """
    rows = []
    for example in examples():
        able = [info.path.stem for info in choosable_models if info.card.get("language") == example.language]
        # The reader's network may not know the example's script: the view then offers one that does.
        better = None
        if card.get("language") != example.language and able:
            better = example.model if example.model in able else able[0]
        is_true = (better or name) == example.model
        rows.append(
            {
                "name": example.name,
                "text": example.text,
                "model": better,
                "notice": example.notice if is_true else "",
            }
        )
    return rows


def live_words() -> dict[str, str]:
    """Every word and sentence of the live view, by the names that its browser modules use."""
    return {
        **view_words(),
        **number_words(),
        **presenting_words(),
        **{f"quantity.{name}": word for name, word in quantity_names().items()},
        **{f"notice.{name}": sentence for name, sentence in quantity_notices().items()},
        "intro": _(
            "This network reads one character at a time and guesses the next. Type, and look inside it. "
            "Pick a letter to see which earlier ones made it likely."
        ),
        "text": _("Your text"),
        "placeholder": _("Type anything"),
        "examples": _("Examples"),
        "examples.turn": _("Read it with {name}"),
        "write": _("Continue"),
        "writing": _("Stop"),
        "write.help": _(
            "The network writes on from the caret, drawing one character after another. It is small: most "
            "words come out right, few sentences make sense."
        ),
        "write.ended": _("The network ended the text there: it drew ■, the end."),
        "written": _("written by this small network"),
        "tree": _("Show what could follow"),
        "tree.help": _("The likeliest characters at each of the next steps; choose one to write up to it"),
        "tree.panel": _("What could follow, as a tree"),
        "tree.notice": _(
            "Each column is a step: its likeliest characters and the network's probability. The wider a "
            "line, the more often sampling takes it; struck through: never. Choose one to write up to it."
        ),
        "tree.close": _("Close"),
        "tree.branch": _("{seen}: write {text}"),
        "tree.never": _("{seen}, never drawn: write {text}"),
        "dials": _("What is drawn from"),
        "temperature": _("temperature"),
        "temperature.help": _(
            "Below 1 likely characters become likelier, above 1 all become more alike; 0 takes the likeliest"
        ),
        "top_k": _("top-k"),
        "top_k.help": _("Only the k likeliest characters are left to draw from"),
        "top_p": _("top-p"),
        "top_p.help": _("Only the fewest characters that make up this share of the probability are left"),
        "all": _("all"),
        "plain": _("reset"),
        "plain.help": _("Back to the network's own probabilities"),
        "show": _("Show"),
        "colour": _("Text colour"),
        "colour.any": _("Any unit"),
        "colour.any.help": _("Choose a row below: its unit colours the text"),
        "why": _("Why this letter?"),
        "why.help": _("Click or tap a letter: the earlier ones that made it likely turn green"),
        "why.most": _(
            "Why “{c}”? Green letters made “{c}” more likely, “{most}” most of all ({bits} bits). Grey ones "
            "made it less likely. Only the {last} characters before it are tried."
        ).replace("{last}", str(MAX_OMISSIONS)),
        "why.none": _("Why “{c}”? None of the {last} characters before it made it more likely.").replace(
            "{last}", str(MAX_OMISSIONS)
        ),
        "why.first": _("Why “{c}”? Nothing comes before it."),
        "caption.surprisal": _("The more a character surprised the network, the stronger its colour."),
        "caption.unit": _("Unit {n}, one of {units} numbers in this network. It has no name yet."),
        "step": _("Unit {n} after “{c}”: {formula}"),
        **{f"step.{name}": _step_words(name) for name in CELLS},
        "step.link": _("See this unit on Inside →"),
        "step.weighted": _(
            "{name} after “{c}”: a weighted sum of {units} numbers; before {before}, now {now}. The units "
            "that moved it most: {moves}."
        ),
        "step.weighted.link": _("See this direction on Inside →"),
        "low": _("low"),
        "high": _("high"),
        "more": _("More"),
        "fold": _("Hide"),
        "unfold": _("Show"),
        "replay": _("Replay"),
        "replay.help": _("Types the text again, one character after another"),
        "notice.diverging": _("Each row is one number: blue low, orange high"),
        "notice.sequential": _("Each row is one number: the greener, the higher"),
        "bits.n": _("{n} bits"),
        "order.steady": _("{n} units that change least often"),
        "order.slow": _("least change first"),
        "rows.all": _("all {n} units"),
        "rows.few": _("{n} units that change least often"),
        "colour.surprisal": _("Surprise"),
        "colour.unit": _("unit {n}"),
        "notice.ahead": _("Here it beats a table that counts {n}-character sequences."),
        "notice.behind": _(
            "Here a table that counts {n}-character sequences beats it, although the table sees only the "
            "last {last} characters."
        ),
        "notice.behind.mlp": _(
            "Here a table that counts {n}-character sequences beats it: the table sees the last {last} "
            "characters, this network only one."
        ),
        "memoryless": _("Without memory"),
        "memoryless.help": _("Compare with {name}"),
        "memoryless.notice": _("A network trained on the same text that sees only the last character."),
        "notice.mlp": _("no memory: the same character always gives the same column"),
        "perplexity.title": _("Surprisal (bars), running perplexity (lines)"),
        "line.model": _("this network"),
        "line.memoryless": _("without memory"),
        "line.uniform": _("uniform"),
        "next.notice": _("A long bar: the network is sure. Choose one to type it. ⏎ new line, · space"),
        "next.notice.ends": _(
            "A long bar: the network is sure. Choose one to type it. ■ the text ends; ⏎ begins the next"
        ),
        "next.beside": _("{said}; without memory {p}"),
        "next.notice.help": _("Or press Alt and the bar's number"),
        "said.wrote": _("wrote {c}"),
        "readout.at": _("character {n}"),
        "readout.actual": _("{c}: surprisal {bits} bits"),
        "readout.unit": _("{unit}: {v}"),
        "readout.without": _("without {c}, {of} costs {bits} bits more"),
        "readout.pinned": _("Escape unpins"),
        "figure": _(
            "States, perplexity and surprisal along the text. Arrow keys move along characters and units, "
            "Enter pins one, Escape unpins."
        ),
        "alt.states": _("{what}: {units} units as rows, {n} characters as columns."),
        "alt.strongest": _("After character {n}, {unit} is farthest from 0, at {v}."),
        "alt.empty": _("Nothing has been read yet."),
        "alt.perplexity": _("The running perplexity ends at {p}."),
        "alt.below": _("The running perplexity ends at {p}, below the {ngram}'s {q}."),
        "alt.above": _("The running perplexity ends at {p}, above the {ngram}'s {q}."),
        "alt.memoryless": _("Without memory it ends at {p}."),
        "alt.peak": _("The surprisal is highest at character {n}, {c}: {bits} bits."),
        "window": _("Window of the text"),
        "window.of": _("characters {from} to {to} of {n}"),
        "window.follow": _("follow the caret"),
        "limit": _("The live view reads {n} characters; the rest is left out. {link}"),
        "address.long": _(
            "The address keeps the first {most} characters: a reload or a link loses the rest."
        ),
        "address.cut": _("The address had only the first {most} of {n} characters."),
        "rewriting.composed": _("With each accent joined to its letter: {n} fewer unknown."),
        "rewriting.straight": _("With straight quotes: {n} fewer unknown."),
        "rewriting.plain": _("With plain dashes and spaces: {n} fewer unknown."),
        "rewrite.composed": _("Compose the accents"),
        "rewrite.straight": _("Use straight quotes"),
        "rewrite.plain": _("Use plain dashes and spaces"),
        "foreign": _("{model} hasn't learnt this kind of text."),
        "foreign.none": _("No other network here predicts its beginning much better."),
        "foreign.turn": _("Use {name}?"),
        "limit.link": _("For a whole file, use the Perplexity page."),
        "waiting": _("The server does not answer; what you type is kept and sent again."),
    }


def _step_words(cell: str) -> str:
    """The sentence on one unit's step in such a cell, with a place for each number."""
    if cell == "lstm":
        return together(
            (
                _("keep {forget} of {cell_before}, add {input} of {candidate}: now {cell}."),
                _("It shows {output} of tanh({cell}) = {tanh}: {hidden}"),
            )
        )
    if CELLS[cell].keeps == "update":  # Z_t: the candidate gets the rest
        return _("keep {update} of {before}, add {rest} of {candidate}: now {hidden}")
    return _("now {hidden}") if cell == "mlp" else _("before {before}, now {hidden}")


def short_names() -> dict[str, str]:
    """Short names of targets, for rows' labels; other targets have the name in `shown_units.target_name`."""
    return {
        "quotes": _("Inside quotes"),
        "brackets": _("Inside brackets"),
        "py-brackets": _("Inside brackets"),
        "bracket-depth": _("Open brackets"),
        "py-bracket-depth": _("Open brackets"),
        "py-string": _("Inside a string"),
        "py-comment": _("Comment"),
        "py-indentation": _("Indentation"),
        "line-position": _("Line position"),
        "speaker": _("Speaker's name"),
        "word-start": _("Start of a word"),
        "capital": _("Capital letter"),
    }


def captions() -> dict[str, str]:
    """A named unit's caption, by target; `{colour}` is the colour of its high or low values."""
    brackets = _("It turns {colour} inside brackets.")
    depth = _("The more brackets are open, the closer to {colour}.")
    return {
        "quotes": _("It turns {colour} inside a quotation."),
        "py-string": _("It turns {colour} inside a string."),
        "py-comment": _("It turns {colour} in a comment."),
        "py-indentation": _("It turns {colour} in the blanks before a statement."),
        "brackets": brackets,
        "py-brackets": brackets,
        "bracket-depth": depth,
        "py-bracket-depth": depth,
        "speaker": _("It turns {colour} in a speaker's name."),
        "line-position": _("It moves towards {colour} along each line and starts again at the next."),
    }


def typed_share_sentence(finding: Recorded) -> str:
    """The sentence on the share of typed characters for which a unit's colour is right, beside that of one
    colour throughout; "" if the card has no such measurement.
    """
    if finding.typed is None:
        return ""
    # The rate of the commoner colour stands beside it: on unbalanced text, it alone may be right for 90 %.
    right, same = finding.typed
    sentence = _(
        "In sentences that people type, its colour is right for {share} of the characters. Always guessing "
        "the same colour is right for {same}."
    )
    if finding.measure != "AUC":  # a graded target: how many brackets are open
        sentence = _(
            "In sentences that people type, it shows for {share} of the characters whether a bracket is "
            "open. Always guessing the same is right for {same}."
        )
    sentence = sentence.format(share=f"{math.floor(100 * right)}\xa0%", same=f"{100 * same:.0f}\xa0%")
    # Of ten typed questions with "you" and no marks, holmes-lstm's cell is wrong for half of the characters.
    return (
        together((sentence, _("It can miss speech without quotation marks.")))
        if finding.target == "quotes"
        else sentence
    )


def numbers_sentence(finding: Recorded, config: ModelConfig) -> str:
    """The sentence on what a named row is: one number of the network, or a weighted sum of a layer's."""
    if finding.weighted is None:
        numbers = config.layers * config.hidden_size
        return _("One of {n} numbers in this network.").format(n=f"{numbers:,}")
    return _("A weighted sum of {n} numbers in this network.").format(n=f"{config.hidden_size:,}")


def invitation(target: str, characters: str) -> str:
    """The sentence that says which key to type to see the unit change; "" if the network knows no such mark.

    `characters` are those of its vocabulary.
    """
    if target == "line-position":
        return _("Press Enter and watch.")
    if target == "speaker":
        return _("Press Enter twice, type KING: and watch.")
    keys = {"quotes": ('"', "“"), "py-string": ('"',), "py-comment": ("#",), "py-indentation": ()}
    marks = [mark for mark in keys.get(target, ("(",)) if mark in characters]
    return _("Type {mark} and watch.").format(mark=marks[0]) if marks else ""


def captioned_unit(named_unit: NamedUnit, model: Network) -> dict[str, Any]:
    """A named unit as JSON: its place, its name, a caption, and a sentence on the measurements."""
    card, config, best = model.card, model.config, named_unit.findings[0]
    scores = "; ".join(
        f"{target_name(finding.target)}: {measure_name(finding)} {finding.reported:.2f}"
        for finding in named_unit.findings
    )
    name = target_name(best.target)
    caption_words = (
        captions().get(best.target) if best.direction else None
    )  # a card of 1.0.0 has no direction
    does = caption_words or _("It responds to this: {name}.")
    diverging = live.scale(named_unit.quantity, config.span).kind == "diverging"
    low, high = (_("blue"), _("orange")) if diverging else (_("the background's colour"), _("green"))
    teaching = _("Nobody told it to.")
    if best.weighted is not None:
        teaching = _("A fit chose the weights; nobody told the network.")
    caption = [
        numbers_sentence(best, config),
        does.format(colour=high if best.direction > 0 else low, name=name),
        teaching,
        typed_share_sentence(best),
        invitation(best.target, "".join(model.vocabulary.characters)) if caption_words else "",
    ]
    return {
        "name": short_names().get(best.target, name),
        "target": best.target,
        "caption": together(filter(None, caption)),
        "about": _(
            "{scores}. Measured on {n} characters of {where}. A correlation, not proof of cause."
        ).format(
            scores=scores,
            n=f"{best.characters:,}",
            where=model_card.searched_text(card) or _("text it never read"),
        ),
        "unit": named_unit.unit,
        "layer": named_unit.layer,
        "quantity": named_unit.quantity,
    }
