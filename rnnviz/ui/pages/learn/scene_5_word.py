"""Scene 5: a character model of one word: its labels, what a step's output rests on, and its training."""

from typing import Any

import numpy as np

from rnnviz.i18n import _
from rnnviz.lecture import symbols, tokens, word
from rnnviz.lecture.controls import Control, State, text, whole
from rnnviz.lecture.machine import SEED, SYMBOLS, WORD, Machine
from rnnviz.text.characters import visible

NAMES = ("labels", "softmax", "path", "why", "batch", "train", "writes")
STEPS = len(NAMES)
LABELS, SOFTMAX, PATH, WHY, BATCH, TRAIN, WRITES = range(STEPS)
AT = 3  # the time step whose output is followed back
WINDOWS, WINDOW = 5, 8  # rows of a minibatch at most, and its time steps


def _letters(value: object) -> str | None:
    """As many letters as WORD has, all of them among its own."""
    fits = isinstance(value, str) and len(value) == len(WORD) and set(value) <= set(SYMBOLS)
    return str(value) if fits else None


CONTROLS = (
    Control("word", text(word.LONGEST, least=2), WORD, resets=("at",)),
    Control("seed", whole(0, 999), SEED, resets=("at",)),
    Control("at", whole(0, word.STEPS), 0, address="trained"),
    Control("letters", _letters, WORD, steps=(PATH,)),
    Control("n", whole(1, WINDOWS), 3, steps=(BATCH,)),
    Control("t", whole(1, WINDOW), 3, steps=(BATCH,)),
)


def notice(state: State) -> str:
    """What to notice."""
    step = state["step"]
    if step == PATH:
        return _path_notice(state["letters"])
    if step == TRAIN:
        return _training_notice(word.run(state["word"], state["seed"]), state["at"])
    if step == WRITES:
        return _writes(word.run(state["word"], state["seed"]).at(state["at"]).written, state)
    if step == WHY:
        characters, words = tokens.vocabularies()
        return _(
            "Characters: few symbols, and every word can be written, but {times} times as many time steps."
        ).format(times=f"{characters.tokens / words.tokens:.1f}")
    if step == BATCH and state["n"] == 1:
        return _("One place of the text is read: at step t it gives one row of d numbers. Move n.")
    return {
        LABELS: _("The labels are the text shifted by one: every step's label is the next character."),
        SOFTMAX: _("Every column is one softmax, and the loss is −log of its framed cell, in nats."),
        BATCH: _(
            "Several places of the text are read side by side: at step t each gives one row of d numbers."
        ),
    }[step]


def _path_notice(letters: str) -> str:
    if letters == WORD:
        return _(
            "Output 3 is determined by “m”, “a” and “c”; its loss by that and the label “h”. Change a letter."
        )
    if letters[:AT] != WORD[:AT]:
        return _("Output 3 has changed: one of the characters it is computed from is another.")
    if letters[AT] != WORD[AT]:
        return _("Output 3 is as before. Its loss has changed: character 4 is its label.")
    return _("Output 3 and its loss are as before: later characters reach neither.")


def _training_notice(run: word.WordRun, at: int) -> str:
    before, now = run.at(0).perplexity, run.at(at).perplexity
    if at == 0:
        return _("Untrained, its perplexity is {now}; a uniform guess has {uniform}. Press Train.").format(
            now=f"{now:.2f}", uniform=len(run.symbols)
        )
    return _("After {at} training steps its perplexity is {now}; untrained it was {before}.").format(
        at=at, now=f"{now:.2f}", before=f"{before:.2f}"
    )


def _writes(written: str, state: State) -> str:
    asked = state["word"]
    if written == asked and not state["at"]:
        return _("Given “{first}”, it writes the word untrained: so short a word shows no learning.").format(
            first=asked[0]
        )
    if written == asked:
        return _(
            "Given “{first}” and then its own output, it writes the word: "
            "it has memorised one word; we asked for no more."
        ).format(first=asked[0])
    return _("Given “{first}” and then its own output, it writes “{written}”, not “{word}”.").format(
        first=asked[0], written=written, word=asked
    )


def formula(state: State) -> str:
    """The step's part of the model."""
    recurrence = r"\s{H_t} = \s{phi}(\s{X_t}\s{W_xh} + \s{H_t-1}\s{W_hh} + \s{b_h})"
    output = r"\s{O_t} = \s{H_t}\s{W_hq} + \s{b_q}"
    return [
        recurrence,
        output + r",\quad \s{l_t} = -\log\,\s{softmax}(\s{O_t})_{\s{x_t+1}}",
        r"\s{P}(\s{x_t+1} \mid \s{x_t}, \ldots, \s{x_1}) = \s{softmax}(\s{O_t})",
        output,
        recurrence,
        (
            r"\s{L} = \tfrac{1}{\s{T}}\textstyle\sum_{\s{t}=1}^{\s{T}} \s{l_t},"
            r"\qquad \s{perplexity} = \exp(\s{L})"
        ),
        r"\s{x_t+1} = \s{argmax}_{\s{x}}\ \s{P}(\s{x} \mid \s{x_t}, \ldots, \s{x_1})",
    ][state["step"]]


def picture(state: State) -> dict[str, Any]:
    """The network after `at` training steps, or what the step shows instead."""
    return {PATH: _path, WHY: _why, BATCH: _batch}.get(state["step"], _word)(state)


def _word(state: State) -> dict[str, Any]:
    run = word.run(state["word"], state["seed"])
    seen = run.at(state["at"])
    so_far = [run.at(n).perplexity for n in range(run.trained + 1)]
    return {
        "show": "word",
        "word": state["word"],
        "seed": state["seed"],
        "at": state["at"],
        "steps": run.steps,
        "inputs": list(run.inputs),
        "labels": list(run.labels),
        "targets": list(run.targets),
        "symbols": list(run.symbols),
        "p": np.round(seen.probabilities, 8).tolist(),
        "losses": np.round(seen.losses, 8).tolist(),
        "hidden": np.round(seen.hidden, 3).tolist(),
        "perplexity": seen.perplexity,
        "curve": np.round(so_far, 4).tolist(),
        "written": seen.written,
        "here": symbols.here(
            {"T": len(run.labels), "L": float(np.mean(seen.losses)), "perplexity": seen.perplexity}
        ),
        "words": {
            "word": _("word"),
            "length": _("2 to {n} characters"),
            **_names(),
            "train": _("Train"),
            "stop": _("Stop"),
            "again": _("From the start"),
            "seed": _("Other weights"),
            "step": _("training step {n} of {count}"),
            "perplexity": _("perplexity"),
            "blind": _("uniform guess"),
            "writes": _("it writes"),
        },
    }


def _names() -> dict[str, str]:
    return {
        "input": _("input"),
        "label": _("label"),
        "loss": _("loss, nats"),
        "softmax": "softmax",
        "state": _("state"),
    }


def _path(state: State) -> dict[str, Any]:
    usual, here = Machine(state["seed"]).forward, Machine(state["seed"], text=state["letters"]).forward
    outputs = usual.output[AT - 1], here.output[AT - 1]
    return {
        "show": "path",
        "at": AT,
        "letters": state["letters"],
        "usual": WORD,
        "symbols": list(SYMBOLS),
        "hidden": np.round(here.state, 3).tolist(),
        "p": here.probabilities[AT - 1].tolist(),
        "before": usual.probabilities[AT - 1].tolist(),
        "change": float(np.abs(outputs[1] - outputs[0]).max()),
        "losses": [float(usual.losses[AT - 1]), float(here.losses[AT - 1])],
        "here": symbols.here({"O_t": here.output[AT - 1], "t": AT}),
        "words": {
            **_names(),
            "press": _("character {t}: {character}; press to change it"),
            "again": _("“{word}” again").format(word=WORD),
            "change": _("largest change"),
            "usual": _("with “{word}”").format(word=WORD),
            "here": _("now"),
        },
    }


def _why(state: State) -> dict[str, Any]:
    kinds = [
        [kind.symbols, kind.readout, kind.tokens, kind.once, kind.distinct] for kind in tokens.vocabularies()
    ]
    return {
        "show": "why",
        "kinds": kinds,
        "words": {
            "characters": _("characters"),
            "words": _("words"),
            "symbols": _("different symbols, with one for unknown ones"),
            "readout": _("weights from {n} units to the output").format(n=tokens.UNITS),
            "tokens": _("time steps for the whole book"),
            "once": _("symbols the book has only once"),
            "book": _("H. G. Wells, The Time Machine, its letters and spaces"),
            "history": _("Neural language models go back to Bengio et al. (2003), who predicted words."),
        },
    }


def _batch(state: State) -> dict[str, Any]:
    book = tokens.book()
    alphabet = sorted(set(book))
    windows = tokens.windows(book, state["n"], WINDOW)
    column = [window[state["t"] - 1] for window in windows]
    return {
        "show": "batch",
        "n": state["n"],
        "most": WINDOWS,
        "t": state["t"],
        "T": WINDOW,
        "units": tokens.UNITS,
        "windows": [[visible(c) for c in window] for window in windows],
        # The last symbol is the unknown one, which the book has not got.
        "symbols": [*map(visible, alphabet), "?"],
        "x": (x := tokens.one_hot(column, [*alphabet, ""])).tolist(),
        "here": symbols.here({"X_t": x}),
        "words": {
            "n": _("rows n"),
            "t": "t",
            "inputs": _("inputs"),
            "labels": _("labels, one character further"),
            "unknown": _("?: unknown"),
            "weights": _("The weights are the same for every row, whatever n is."),
        },
    }
