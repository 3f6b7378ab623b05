"""Scene 9: what to take home. Each point has a number that shows it, and a way back to its step."""

from typing import Any

from rnnviz.i18n import _
from rnnviz.lecture import summary
from rnnviz.lecture.controls import State
from rnnviz.lecture.machine import WORD
from rnnviz.ui.pages.learn import models, scene_8_questions, scenes
from rnnviz.ui.pages.learn.question_words import said

NAMES = ("points", "backwards", "further")
STEPS = len(NAMES)
POINTS, BACKWARDS, FURTHER = range(STEPS)
BORROWS = {"picks": "scene_8_questions"}
CONTROLS = (*(control for control in scene_8_questions.CONTROLS if control.name in BORROWS),)

READING = (
    ("Shannon", 1951, "Prediction and Entropy of Printed English"),
    ("Elman", 1990, "Finding Structure in Time"),
    ("Werbos", 1990, "Backpropagation Through Time: What It Does and How to Do It"),
    ("Hochreiter, Schmidhuber", 1997, "Long Short-Term Memory"),
    ("Bengio, Ducharme, Vincent, Jauvin", 2003, "A Neural Probabilistic Language Model"),
    ("Pascanu, Mikolov, Bengio", 2013, "On the Difficulty of Training Recurrent Neural Networks"),
    (
        "Cho et al.",
        2014,
        "Learning Phrase Representations using RNN Encoder–Decoder for Statistical Machine Translation",
    ),
    ("Tallec, Ollivier", 2017, "Unbiasing Truncated Backpropagation Through Time"),
)


def notice(state: State) -> str:
    """What to notice."""
    return [
        _("A number for each point; the button beside it leads to the step that is about it."),
        _("The way back is as long as the text: hence caches, cuts, and powers of one matrix."),
        _further(state),
    ][state["step"]]


def _further(state: State) -> str:
    """What is left to do: questions, or reading."""
    left = scene_8_questions.STEPS - scene_8_questions.score(state["picks"])["given"]
    if left:
        return _("Scene 8 has {n} more to answer: predict, then compute. Then read one of these.").format(
            n=left
        )
    return _("The questions are worth another try with another setting. Then read one of these.")


def formula(state: State) -> str:
    """The lecture in a line."""
    return [
        (
            r"\s{H_t} = \s{phi}(\s{X_t}\s{W_xh} + \s{H_t-1}\s{W_hh} + \s{b_h}),\quad "
            r"\s{O_t} = \s{H_t}\s{W_hq} + \s{b_q}"
        ),
        (
            r"\tfrac{\partial \s{L}}{\partial \s{W_hh}} = "
            r"\textstyle\sum_{\s{t}=1}^{\s{T}} \s{H_t-1}^\top\s{delta_t}"
        ),
        r"\s{perplexity} = \exp(\s{L})",
    ][state["step"]]


def picture(state: State) -> dict[str, Any]:
    """The points of the step, or the score and what to read."""
    words = {
        "go": _("Show it"),
        "to": _("Go to scene {scene}, step {step}"),
        "score": _("Check yourself"),
        "right": _("right, of those answered"),
        "none": _("not answered yet"),
        "left": _("{n} more to answer"),
        "read": _("Read on"),
    }
    if state["step"] == FURTHER:
        score = scene_8_questions.score(state["picks"])
        return {
            "show": "further",
            "score": score,
            "count": scene_8_questions.STEPS,
            "go": scenes.place("scene_8_questions", scene_8_questions.NAMES[0]),
            "reading": [list(one) for one in READING],
            "words": words,
        }
    rows = _points() if state["step"] == POINTS else _backwards()
    return {"show": "points", "rows": rows, "words": words}


def _row(number: str, of: str, says: str, module: str, name: str) -> dict[str, Any]:
    """A point: its number, what the number is, what it shows, and the step that it is from."""
    return {"number": number, "of": of, "says": says, "go": scenes.place(module, name)}


def _points() -> list[dict[str, Any]]:
    learned, gru = summary.learned(), models.network("timemachine-gru")
    held_out = 2.0 ** float(gru.card["held_out"]["bits_per_character"])
    return [
        _row(
            f"{summary.recurrent(models.network('timemachine-rnn')):.2f}",
            _("largest difference in probability after two texts that end alike, in an RNN"),
            _("A recurrent network computes each hidden state from the one before it."),
            "scene_2_memoryless",
            "state",
        ),
        _row(
            f"{summary.history():.2f}",
            _("largest change in H₆ if “{inputs}” begins with “{other}”").format(
                inputs=WORD[:-1], other=summary.OTHER
            ),
            _("So a state can depend on every character read so far."),
            "scene_3_recurrence",
            "third",
        ),
        _row(
            f"{summary.parameters()}",
            _("parameters of the small network, for any T"),
            _("A longer text needs no more parameters."),
            "scene_3_recurrence",
            "parameters",
        ),
        _row(
            f"{learned.before:.1f} → {learned.after:.2f}",
            _("perplexity of “{word}”, untrained and trained").format(word=WORD),
            _("Trained to name the next character, it is a language model."),
            "scene_5_word",
            "train",
        ),
        _row(
            f"{held_out:.2f}",
            _("perplexity of a GRU on new text; a uniform guess has {symbols}").format(
                symbols=gru.vocabulary.size
            ),
            _("Perplexity compares language models, whatever the text's length."),
            "scene_6_perplexity",
            "game",
        ),
    ]


def _backwards() -> list[dict[str, Any]]:
    kept, every = summary.left()
    return [
        _row(
            f"{summary.handed_back(recurrent=True):.3f}",
            _("norm of what step 2 hands back to step 1; without a state 0"),
            _("Only a network with a hidden state has a way back through time."),
            "scene_7_backwards",
            "word",
        ),
        _row(
            f"{summary.cached()}",
            _("numbers kept for the way back, for {steps} steps").format(steps=len(WORD) - 1),
            _("The way back needs numbers of every step, so they are kept."),
            "scene_7_backwards",
            "cost",
        ),
        _row(
            said(float(f"{summary.powers():.2g}")),
            _("norm of the {k}th power of a matrix with ρ = {rho}").format(
                k=summary.STEPS, rho=summary.RADIUS
            ),
            _("Many factors of one matrix let gradients vanish or explode."),
            "scene_7_backwards",
            "dial",
        ),
        _row(
            _("{kept} of {every}").format(kept=kept, every=every),
            _("terms of the gradient that are left with a cut every {n} steps").format(n=summary.CUT),
            _("A cut, regular or random, keeps training cheap and stable."),
            "scene_7_backwards",
            "cut",
        ),
    ]
