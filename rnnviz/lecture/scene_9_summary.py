"""Scene 9: the summary. Each point has a number, which leads to the step that shows it."""

import numpy as np

from rnnviz.i18n import N_, _
from rnnviz.lecture.machine import NAMES, SYMBOLS, Machine
from rnnviz.lecture.number_format import fixed, percent, rough
from rnnviz.lecture.prediction import trace
from rnnviz.lecture.primitives import column
from rnnviz.lecture.readers import load
from rnnviz.lecture.scene_3_recurrence import BOTH, ENDINGS
from rnnviz.lecture.scene_8_questions import link
from rnnviz.lecture.steps import StepPicture, step

TITLE = N_("What to take home")


@step(
    N_("The section in eight points"),
    BOTH,
    say=N_("Read each point aloud. Its number leads to the step that shows it."),
    prompt=N_("Which step shows this? Say it before I press."),
    covers=(27, 28),
    minutes=2,
    minutes_of_90=2,
    prints="apart, powers",
)
def points() -> StepPicture:
    word, rnn = Machine(), load("timemachine-rnn")
    added = word.net.W_hh.shape
    first, second = (np.exp(trace(rnn, ending).log_probs[-1]) for ending in ENDINGS)
    apart = abs(first - second).max()
    parameters = sum(getattr(word.net, name).size for name in NAMES)
    cached = sum(array.size for array in Machine(steps=3).cached().values())
    powers = 0.8**40, 1.25**40
    size = np.linalg.norm(word.pairs(), axis=(2, 3))
    left_out = size[~word.uncut_pairs(2)] > 0
    # show
    rows = [
        (
            " × ".join(map(str, added)),
            "first",
            _("A recurrent network computes each hidden state from the one before it."),
            _("weights from a state to the next: all that is new"),
        ),
        (
            percent(apart),
            "prediction",
            _("So a state can depend on every character read so far."),
            _("largest difference of a probability after two texts that end alike, in an RNN"),
        ),
        (
            str(parameters),
            "parameters",
            _("A longer text needs no more parameters."),
            _("parameters of the small network, for any T"),
        ),
        (
            fixed(word.forward.perplexity),
            "train",
            _("Trained to predict the next character, it is a character-level language model."),
            _("perplexity of “machine”, untrained; training brings it close to 1"),
        ),
        (
            str(len(SYMBOLS)),
            "game",
            _("Perplexity compares language models, whatever the text's length."),
            _("perplexity of a uniform guess among 7 symbols; a useful model beats it"),
        ),
        (
            str(cached),
            "back",
            _(
                "Only sequence models with a hidden state need backpropagation through time; every step "
                "caches values for it."
            ),
            _("numbers cached for three steps"),
        ),
        (
            rough(powers[0]),
            "dial",
            _("High powers of a matrix can make gradients vanish or explode."),
            _("ρ to the power of 40 at ρ = 0.8; {n} at ρ = 1.25").format(n=rough(powers[1])),
        ),
        (
            _("{out} of {count}").format(out=left_out.sum(), count=(size > 0).sum()),
            "cut",
            _("Truncation makes training cheaper and more stable; in practice it is regular."),
            _("terms that aren't zero are left out by truncation every 2 steps"),
        ),
    ]
    return column(*(link(*point) for point in rows)), _(
        "Each number is a button: it leads to the step that shows it."
    )
