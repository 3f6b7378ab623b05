"""Scene 6: perplexity, its meaning and its baselines.

Shannon's game (C. E. Shannon, "Prediction and Entropy of Printed English", 1951): with q_i the share of
letters found at the i-th guess, Σ_i i (q_i - q_{i+1}) log2 i ≤ F ≤ -Σ_i q_i log2 q_i bits. The upper bound
holds for any player, because the numbers of guesses restore the text. The lower bound holds for a player who
always names the likeliest remaining letter. Both are about shares over a long text. The alphabet has 27
symbols, to which a model's probabilities are restricted. No model has read the sentences, which are English
in every language.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.i18n import N_, _, language, speaking
from rnnviz.lecture.controls import Control, choice, line_of_text, list_of, number, slider, whole
from rnnviz.lecture.machine import SYMBOLS, Machine
from rnnviz.lecture.number_format import fixed, rough
from rnnviz.lecture.prediction import nats, trace
from rnnviz.lecture.primitives import (
    bars,
    button,
    cells,
    column,
    inline,
    line,
    matrix,
    plot,
    room,
    row,
    table,
    tex,
    text,
)
from rnnviz.lecture.readers import in_language, kinds, load, reader, recorded, unread
from rnnviz.lecture.steps import LetterQuestion, Question, StepPicture, step
from rnnviz.networks.ngram import NgramModel
from rnnviz.scoring.totals import character_costs
from rnnviz.text.characters import visible

TITLE = N_("Perplexity")

RAINING = {"en": "It is raining", "zh": "今天下雨"}
ENDINGS = {
    "en": (" outside", " banana tree", " piouw;kcj pwepoiut"),
    "zh": ("不敢出门", "一棵芭蕉树", "毛皮；笔左飞 手六"),
}
LONG = {
    "en": "It was a quiet evening, and for some time we sat and looked into the fire without a word.",
    "zh": "师徒们走了一日，天色晚了，只见前面山下有一座庄院。行者道：“师父，我们且去借宿一宵。”",
}

_CHANCE = r"\s{P}(\s{x_t} \mid \s{x_t-1}, \ldots, \s{x_1})"
_OVER = r"_{\s{t}=1}^{\s{T}}"
_MEAN = rf"\exp\Bigl(-\tfrac{{1}}{{\s{{T}}}}\textstyle\sum{_OVER} \log {_CHANCE}\Bigr)"
_KIND = choice(kinds, lambda: in_language({"en": "lstm", "zh": "gru"}), N_("model"))


def _printable(ending: str) -> str:
    """An ending without its leading space; an ending of blanks alone in visible form."""
    return ending.strip() or "".join(map(visible, ending))


@step(
    N_("It is raining"),
    lambda: (
        r"\exp\Bigl(-\tfrac{1}{\s{T} - \s{m}}\textstyle\sum_{\s{t}=\s{m}+1}^{\s{T}} "
        rf"\log {_CHANCE}\Bigr),\quad \s{{m}} = {len(in_language(RAINING))}"
    ),
    say=N_(
        "Imagine a model behind each ending: one knows sense, one only spelling, one nothing. Let someone "
        "type an ending."
    ),
    prompt=N_("Which of the three costs least? Which letter costs most?"),
    covers=(20, 26),
    minutes=1.5,
    minutes_of_90=2,
    prints="np.round(perplexity, 2)",
    kind=_KIND,
    ending=line_of_text(24, "", N_("another ending"), least=0),
)
def rain(kind: str, ending: str) -> StepPicture:
    model, begin = reader(kind), in_language(RAINING)
    endings = [*in_language(ENDINGS), ending] if ending else in_language(ENDINGS)
    # The beginning is read, not counted.
    nll = [nats(model, begin + word)[len(begin) :] for word in endings]
    perplexity = [np.exp(cost.mean()) for cost in nll]
    # show
    name, V = kinds()[kind], reader("gru").vocabulary.size
    head = _("perplexity of the {model}, log scale").format(model=name)
    reads = [
        _("A model that writes this knows words and sense."),
        _("A model that writes this can spell words, but misses the sense."),
        _("A model that writes this has learnt nothing yet."),
        _("typed here"),
    ]

    top = math.log(max(1000, 2 * V, *perplexity))
    sizes = (1.25, 0.9, 1.1)
    rows = [row(text(begin + " …", "quiet"), text(head, "quiet"), text(""), sizes=sizes)]
    for word, cost, value, read in zip(endings, nll, perplexity, reads, strict=False):
        marks = cells([visible(c) for c in word], (cost / math.log(2)).tolist(), full=10, stands="x_t")
        bar = bars([("", math.log(value), rough(value, 3))], top=top, colours=["model"], stands="P")
        rows.append(row(marks, bar, text(read), sizes=sizes))
    guess = bars([("", math.log(V), rough(V, 6))], top=top, colours=["uniform"])
    rows.append(row(text(""), guess, text(_("uniform guess")), sizes=sizes))
    notice = _(
        "The {model} reads all endings (the more bits, the stronger the colour): “{best}” costs least, "
        "“{worst}” most."
    )
    if max(perplexity) > V:
        notice += " " + _("That is worse than guessing among all {n} symbols.").format(n=f"{V:,}")
    best, worst = endings[int(np.argmin(perplexity))], endings[int(np.argmax(perplexity))]
    return column(*rows), notice.format(model=name, best=_printable(best), worst=_printable(worst))


@step(
    N_("Two books"),
    r"\s{P}(\s{x_1}, \ldots, \s{x_T}) = \textstyle\prod_{\s{t}} "
    rf"{_CHANCE}\quad\to\quad \tfrac{{1}}{{\s{{n.text}}}}"
    r"\textstyle\sum_{\s{t}=1}^{\s{n.text}} -\log \s{P}(\s{x_t} \mid \s{x_t-1}, \ldots, \s{x_1})",
    say=N_(
        "The shorter text is the likelier one, even if it is predicted badly. A mean is missing: one n-th of "
        "the sum of −log P, the cross-entropy. (n is the text's length; elsewhere it is called T.)"
    ),
    prompt=Question(
        N_("The same kind of text, twice as long. Which number changes a lot?"),
        [N_("likelihood and perplexity"), N_("only the likelihood"), N_("only the perplexity")],
        right=1,
    ),
    covers=(21, 23),
    minutes=2,
    minutes_of_90=3,
    prints="log10, mean",
    war=slider(2, 60, 1, 3, N_("War and Peace, perplexity")),
    prince=slider(2, 60, 1, 12, N_("The Little Prince, perplexity")),
)
def books(war: int, prince: int) -> StepPicture:
    # The third book is the second, twice.
    characters = np.array([3_000_000, 100_000, 200_000])
    perplexity = np.array([war, prince, prince])
    log10 = -characters * np.log10(perplexity)
    mean = np.log(perplexity)
    # show
    titles = [_("War and Peace"), _("The Little Prince"), _("The Little Prince, twice")]
    named = [
        _("{name}: {value}").format(name=title, value=f"{T:,}")
        for title, T in zip(titles, characters, strict=True)
    ]
    likelihood = [(name, -v, fixed(v, 0)) for name, v in zip(named, log10, strict=True)]
    means = [(name, v, fixed(v)) for name, v in zip(named, mean, strict=True)]
    notice = _(
        "Likelihoods are hard to read: the shorter book has the larger one, even if it is predicted worse. A "
        "mean is missing: it stays the same for twice the text."
    )
    title = _("cross-entropy: the mean of −log P, nats; so texts of any length can be compared")
    return column(
        text(_("approximate number of characters in English"), "quiet"),
        bars(
            likelihood,
            top=-min(log10),
            colours=["actual"] * 3,
            title=_("log₁₀ of the likelihood: the longer the bar, the less likely the book"),
            stands="P",
        ),
        bars(means, top=math.log(60), colours=["model"] * 3, title=title),
    ), notice


@step(
    N_("Bits and compression"),
    rf"-\tfrac{{1}}{{\s{{T}}}}\textstyle\sum{_OVER} \log_2 {_CHANCE} = \log_2 (\s{{perplexity}})\ \s{{bits}}",
    say=N_("A better model needs fewer bits. A uniform guess is as good as no compression."),
    prompt=N_("How many bits does a character cost at perplexity 2?"),
    covers=(22, 23, 24, 26),
    appendix=True,
    prints="cross_entropy",
    kind=_KIND,
    stored=line_of_text(48, lambda: in_language(LONG)[:48], N_("text")),
)
def bits(kind: str, stored: str) -> StepPicture:
    # −log₂ P of each character, for each model
    nll = {network: nats(reader(network), stored) for network in kinds()}
    surprisal = {network: nll[network] / math.log(2) for network in nll}
    cross_entropy = {network: surprisal[network].mean() for network in nll}
    perplexity = 2 ** cross_entropy[kind]
    # show
    names, vocabulary = kinds(), reader("gru").vocabulary
    ids = vocabulary.encode(stored)
    flat = np.full(len(ids), -math.log(vocabulary.size))
    uniform = character_costs(flat, ids, vocabulary).mean() / math.log(2)
    sizes = {_("as a file, with room for other symbols"): 8 * len(stored.encode()) / len(stored)}
    sizes[_("uniform guess, {n}: no compression").format(n=f"{vocabulary.size:,}")] = uniform
    sizes |= {names[network]: mean for network, mean in cross_entropy.items()}
    stores = bars(
        [(name, v, fixed(v)) for name, v in sizes.items()],
        top=max(sizes.values()),
        colours=["uniform"] * 2 + ["model"] * len(names),
        lit=[2 + list(names).index(kind)],
        title=_("cross-entropy: the mean surprisal; bits per character"),
        stands="bits",
    )
    notice = _(
        "No model stores this text in fewer bits than a uniform guess: the models learnt from other texts."
    )
    if min(cross_entropy.values()) < uniform:
        notice = _(
            "Information theory: the better a model predicts a text, the fewer bits store it. The "
            "{best} needs {bits:,.0f} bits here, a uniform guess {uniform:,.0f}."
        )
    best = min(names, key=lambda network: cross_entropy[network])
    notice = notice.format(
        best=names[best], bits=cross_entropy[best] * len(stored), uniform=uniform * len(stored)
    )
    notice = unread(reader("gru"), stored) or notice
    power = fixed(perplexity, 2 if perplexity < 100 else 0)
    return column(
        cells(
            [visible(c) for c in stored],
            surprisal[kind].tolist(),
            full=10,
            stands="x_t",
            look="tight",
            title=_(
                "surprisal (the stronger the colour, the higher): −log₂ P of a character, its bits in an "
                "ideal code"
            ),
        ),
        row(
            stores,
            column(
                tex(rf"\s{{perplexity}} = 2^{{{fixed(cross_entropy[kind])}}} = \text{{{power}}}"),
                text(_("perplexity instead of bits: for historical reasons"), "quiet"),
            ),
            sizes=(2, 1),
        ),
    ), notice


def perplexity_of(P: Sequence[float]) -> float:
    """exp of the mean −log P: 1 for certainty, infinite where a character with P = 0 came."""
    return math.inf if min(P) == 0 else math.exp(-math.fsum(map(math.log, P)) / len(P))


@step(
    N_("Perplexity as a game"),
    _MEAN + rf"=\Bigl(\textstyle\prod{_OVER} \tfrac{{1}}{{{_CHANCE}}}\Bigr)^{{1/\s{{T}}}}",
    say=N_(
        "Perplexity is the geometric mean of 1/P: some editions of the textbook say “harmonic”. At best it "
        "is 1, at worst infinite; for a uniform guess it is |V|, which is no compression at all. Every "
        "useful model beats that."
    ),
    prompt=Question(
        N_("999 characters are predicted with certainty. Then comes one that the model gave probability 0:"),
        [
            N_("the perplexity is a little above 1"),
            N_("the perplexity is about 2"),
            N_("the perplexity is infinite"),
        ],
        right=2,
    ),
    covers=(24, 25, 26),
    minutes=2.5,
    minutes_of_90=5,
    prints="perplexity",
    case=choice(
        {
            "own": N_("By hand"),
            "network": N_("Network"),
            "certain": N_("Certain"),
            "zero": N_("One impossible"),
            "uniform": N_("Uniform"),
        },
        "own",
        resets=("p",),
    ),
    p=Control(list_of(*[number(0, 1)] * 6), in_address=False, resets=("case",)),
)
def game(case: str, p: list[float] | None) -> StepPicture:
    # P of each letter of “achine”, from the untrained network that reads “machin”
    word = Machine()
    V = len(SYMBOLS)
    network = word.forward.probabilities[range(6), word.targets].tolist()
    cases = {"certain": [1.0] * 6, "zero": [0.9] * 5 + [0.0], "uniform": [1 / V] * 6}
    P = cases.get(case, p or network)
    perplexity, one_impossible = perplexity_of(P), perplexity_of([1.0] * 999 + [0.0])
    # show
    rows = []
    for label, probability in zip(word.labels, P, strict=True):
        inverse = 1 / probability if probability else math.inf
        summary = _("P {p}, 1/P {inverse}, {nats} nats")
        rows.append(
            (
                label,
                probability,
                summary.format(p=rough(probability), inverse=rough(inverse), nats=fixed(math.log(inverse))),
            )
        )
    beside = column(
        text(_("mean of −log P, nats: {mean}").format(mean=fixed(math.log(perplexity), 3)), "large"),
        text(_("perplexity {p}").format(p=fixed(perplexity)), "big model", "perplexity", perplexity),
        text(_("the geometric mean of 1/P: this many equally likely characters to choose among")),
        text(_("best case 1, worst case ∞, uniform guess |V| = {n}").format(n=V), "quiet"),
        text(_("999 certain characters and one impossible: {p}").format(p=fixed(one_impossible)), "quiet"),
    )
    title = _("probability given to the actual character; drag a bar")
    chart = bars(rows, edit="p", colours=["model"] * 6, title=title, stands="P")
    noticed = [
        (
            math.isinf(perplexity),
            _(
                "One character with probability 0 makes the perplexity infinite, however high the other "
                "bars are."
            ),
        ),
        (perplexity == 1, _("The best case is 1: each actual character had probability 1.")),
        (
            case == "uniform",
            _(
                "A uniform guess has perplexity |V| and costs log₂ {symbols} = {bits:.2f} bits per "
                "character, as storing without compression does. Every useful model must beat it."
            ),
        ),
        (
            perplexity > V and P is network,
            _(
                "The small network is untrained: its perplexity of {found:.2f} is worse "
                "than the {symbols} of a uniform guess. Drag its bars up."
            ),
        ),
        (
            True,
            _(
                "Perplexity {found:.2f} is the geometric mean of 1/P: "
                "as unsure as a choice among {found:.2f} equally likely characters."
            ),
        ),
    ]
    notice = next(words for holds, words in noticed if holds)
    notice = notice.format(found=perplexity, symbols=V, bits=math.log2(V))
    return row(chart, beside, sizes=(1.4, 1)), notice


@step(
    N_("Learnt by heart"),
    _MEAN,
    say=N_(
        "Press Play. Training perplexity goes to 1 while the held-out one climbs. Report the held-out number."
    ),
    prompt=Question(
        N_("After 500 passes over 10,000 characters: which perplexity says what the model is worth?"),
        [
            N_("that of the text it was trained on"),
            N_("that of text it was not trained on"),
            N_("the mean of both"),
        ],
        right=1,
    ),
    covers=(27,),
    appendix=True,
    prints="best, held_out[best - 1], train[-1]",
    passes=slider(1, 500, 1, 10, N_("pass"), play=N_("Play")),
)
def heart(passes: int) -> StepPicture:
    # The textbook's recipe, for 500 passes over the first 10,000 letters and spaces of The Time Machine
    run = recorded("memorising")
    train, held_out, V = run["train"], run["held_out"], run["uniform"]
    best = 1 + int(np.argmin(held_out))
    now = train[passes - 1], held_out[passes - 1]
    # show
    x = list(range(1, passes + 1))
    curves = plot(
        [
            line([V, V], _("uniform guess {n}").format(n=V), xs=[1, 500], colour="uniform", dash="dash"),
            line(train[:passes], _("training"), xs=x, stands="P"),
            line(held_out[:passes], _("held out"), xs=x, colour="actual", stands="P"),
        ],
        x=_("passes over 10,000 characters"),
        y=_("perplexity"),
        log=True,
        log_x=True,
        mark=best if passes >= best else None,
        xs=(1, 500),
        ys=(1, 400),
        ticks=[1, 3, 10, 30, 100, 300],
    )
    beside = [
        text(_("RNN, 512 units, one layer, 28 symbols"), "quiet"),
        text(_("training") + f" {fixed(now[0])}", "big model"),
        text(_("held out") + f" {fixed(now[1])}", "big actual"),
        text(
            _("Training: the mean over a pass, while the weights change. Held out: measured after the pass.")
        ),
        text(_("Report the held-out number."), "strong"),
    ]
    if passes >= best:
        upright = _("Vertical line: the lowest held-out perplexity, at pass {n}.")
        beside.append(text(upright.format(n=best), "quiet"))
    noticed = [
        (
            passes <= best,
            _("So far the network learns the language: both perplexities are below a uniform guess."),
        ),
        (
            now[1] <= V,
            _(
                "Training perplexity is down to {train:.2f}, but the held-out one is up again: "
                "the network begins to learn its text by heart."
            ),
        ),
        (
            True,
            _(
                "Training perplexity is down to {train:.2f}. On new text the network is worse "
                "than a uniform guess: it knows one text by heart."
            ),
        ),
    ]
    notice = next(words for holds, words in noticed if holds)
    return row(curves, column(*beside), sizes=(2, 1)), notice.format(train=now[0])


@step(
    N_("Nobody beats the entropy"),
    r"-\s{p}\log_2 \s{q} - (1 - \s{p}) \log_2 (1 - \s{q})",
    say=N_(
        "The curve shows what a model pays: least where q is p, the true share. That minimum is the entropy."
    ),
    prompt=N_("A text of 80 % a and 20 % b: which q pays least?"),
    covers=(22,),
    appendix=True,
    prints="entropy.round(2)",
    p=slider(0.5, 0.95, 0.05, 0.8, N_("share of a in the text, p"), stands="p"),
)
def entropy(p: float) -> StepPicture:
    q = np.linspace(0.01, 0.99, 99)
    curve = -p * np.log2(q) - (1 - p) * np.log2(1 - q)
    entropy = curve.min()
    # show
    chart = plot(
        [
            line(curve, _("cross-entropy"), xs=q, stands="q"),
            line(
                [entropy] * 2,
                _("entropy {n}").format(n=fixed(entropy)),
                xs=[0, 1],
                colour="actual",
                dash="dash",
            ),
        ],
        x=_("probability that a model gives to a, q"),
        y=_("bits"),
        mark=p,
        xs=(0, 1),
        ys=(0, 4),
    )
    return chart, _(
        "Letters a and b, drawn independently. Entropy is the least cross-entropy that any model can have: "
        "{bits} bits per letter, where q = p."
    ).format(bits=fixed(entropy))


HELD_OUT = {
    "en": (4.4398, 3.4943, 2.8378, 2.3718, 2.1721, 2.1241),
    "zh": (9.2423, 7.1051, 6.6771, 6.6298, 6.6223, 6.6207),
}
"""Bits a character of the book's last tenth, by counts of n = 1 … 6 characters. Recorded: the Chinese book
doesn't ship, and the English one takes half a second.
"""


@step(
    N_("Counts against networks"),
    _MEAN,
    say=N_(
        "To be honest: on this short book, counting longer and longer pieces beats an RNN without gates; a "
        "GRU beats both."
    ),
    prompt=N_("Does a larger n help the table any further?"),
    covers=(20, 26),
    appendix=True,
    prints="bits",
)
def memory() -> StepPicture:
    networks = [kind for kind in kinds() if kind in ("rnn", "gru")]
    measured = {kind: reader(kind).card["held_out"] for kind in networks}
    bits = {kind: m["bits_per_character"] for kind, m in measured.items()}
    counted = in_language(HELD_OUT)
    # show
    n_grams, looks = [1, 2, 3, 4, 5, 6], {"rnn": "model", "gru": "pinned"}
    flat = [line([cost] * 6, f"{kinds()[kind]} {fixed(cost)}", xs=n_grams, colour=looks[kind], stands="P")
            for kind, cost in bits.items()]  # fmt: skip
    counts = line(
        counted, _("n-gram {bits}").format(bits=fixed(counted[-1])), xs=n_grams, colour="ngram", dots=True
    )
    chart = plot(
        [counts, *flat], x=_("n: characters taken together"), y=_("bits per character"), ticks=n_grams
    )
    return chart, _(
        "On the book's last tenth, which no model was trained on, counts of {n} characters pay {ngram} bits "
        "per character, the GRU {gru}: an RNN with gates, whose state has no fixed reach."
    ).format(n=6, ngram=fixed(counted[-1]), gru=fixed(bits["gru"]))


ALPHABET = "abcdefghijklmnopqrstuvwxyz "
PLAYERS = {"6gram": N_("6-gram"), "gru": "GRU", "lstm": "LSTM"}
PASS = "?"  # in a history of guesses: the class gives up, which counts as 27 guesses
BOUNDS_FROM_LETTERS = 20  # letters from which the bounds are shown
SENTENCES = (  # the shown beginning and the hidden rest: plain English, written for this game
    ("the boy who lives next door ", "has lost his bicycle again and now he walks to school"),
    ("when the rain had stopped ", "we went down to the river and looked for the little boat"),
    ("she opened the old letter ", "very slowly as if there might be something alive inside"),
    ("nobody in the village ", "could remember who had planted the tree behind the church"),
    ("a good teacher knows ", "that a long silence is often the beginning of a better answer"),
    ("on the last day of winter ", "my grandmother baked more bread than we could carry home"),
)


def played(hidden: str, history: str) -> tuple[list[int], str]:
    """The number of guesses that found each letter, from a history of guesses; and the guesses at the next
    letter so far.

    Repeated guesses and those outside ALPHABET don't count.

    >>> played("has", "xh")
    ([2], '')
    """
    ranks: list[int] = []
    tried = ""
    for guess in history.lower():
        letter = hidden[len(ranks) : len(ranks) + 1]
        if letter and guess in (letter, PASS):
            ranks.append(len(ALPHABET) if guess == PASS else len(tried) + 1)
            tried = ""
        elif guess in ALPHABET and guess not in tried:
            tried += guess
    return ranks, tried


@cache
def probabilities(kind: str, sentence: int) -> Doubles:
    """(n, 27) P of ALPHABET before each hidden letter of a sentence, by a model of *The Time Machine*."""
    model, (context, hidden) = load(f"timemachine-{kind}"), SENTENCES[sentence]
    read, symbols = context + hidden, model.vocabulary.encode(ALPHABET)
    counting = isinstance(model, NgramModel)
    log_probs = model.predictions(model.vocabulary.encode(read)) if counting else trace(model, read).log_probs
    P: Doubles = np.exp(log_probs[len(context) : len(read), symbols].astype(np.float64))
    return np.asarray(P / P.sum(axis=1, keepdims=True))


def pays(kind: str, sentence: int) -> Doubles:
    """(n,) bits that a model pays for the hidden letters of a sentence."""
    P = probabilities(kind, sentence)
    return np.asarray(-np.log2(P[range(len(P)), [ALPHABET.index(c) for c in SENTENCES[sentence][1]]]))


def shannon_asks(sentence: int, history: str) -> LetterQuestion | None:
    """The next letter's question for the room; None at the end of the sentence."""
    context, hidden = SENTENCES[sentence]
    at = len(played(hidden, history)[0])
    if at == len(hidden):
        return None
    text = _("Which letter comes next? “{text}_”").format(text=context + hidden[:at])
    answers = partial(_class_answers, language(), sentence, history, at)
    return LetterQuestion(f"shannon.{sentence}.{at}", text, ALPHABET, ALPHABET.index(hidden[at]), answers)


def _class_answers(
    language_code: str, sentence: int, history: str, at: int, counts: Mapping[str, Sequence[int]]
) -> dict[str, Any]:
    """The class's distribution of letter `at` beside the models', and the bits that each has paid so far.

    With n_c votes for letter c and N votes, P(c) = (n_c + 1/27) / (N + 1): one further vote, shared by all
    letters (Perks 1947), makes none impossible. Space continues the history with the class's guesses: letters
    with more votes than the right one, most votes first, then the right letter; PASS where nobody voted for
    it.
    """
    truth = [ALPHABET.index(c) for c in SENTENCES[sentence][1]]
    votes = {n: np.array(counts[key]) for n in range(at + 1) if (key := f"shannon.{sentence}.{n}") in counts}
    class_probabilities = {
        n: (letter_votes + 1 / 27) / (letter_votes.sum() + 1) for n, letter_votes in votes.items()
    }
    bits = [[-math.log2(P[truth[n]]) for n, P in class_probabilities.items()]]
    bits += [pays(kind, sentence)[list(votes)].tolist() for kind in PLAYERS]
    current = np.array([class_probabilities[at], *(probabilities(kind, sentence)[at] for kind in PLAYERS)])
    # 4 % is just above 1/27, each letter's share where all are equally likely.
    shown_letters = [c for c in range(27) if c == truth[at] or current[:, c].max() > 0.04]
    likelier_letters = [
        int(c) for c in np.argsort(-votes[at], kind="stable") if votes[at][c] > votes[at][truth[at]]
    ]
    guesses = "".join(ALPHABET[c] for c in [*likelier_letters, truth[at]]) if votes[at][truth[at]] else PASS
    with speaking(language_code):
        names = [_("the class"), *map(_, PLAYERS.values())]
        chart = matrix(
            current[:, shown_letters],
            rows=names,
            columns=[visible(ALPHABET[c]) for c in shown_letters],
            lit=[(i, shown_letters.index(truth[at])) for i in range(len(names))],
            scale="sequential",
            look="plain said small",
        )
        head = ["", _("this letter, bits"), _("mean of {n}").format(n=len(votes))]
        cost_rows = [
            [name, fixed(costs[-1]), fixed(sum(costs) / len(costs))]
            for name, costs in zip(names, bits, strict=True)
        ]
        note = _(
            "Class: each letter's share of {n} votes and one more, which all letters share. A vote names "
            "one letter, not how likely it is: where all agree, the class looks surer than it may be."
        ).format(n=int(votes[at].sum()))
    picture = column(row(chart, table(head, cost_rows), sizes=(3, 2)), text(note, "quiet"))
    return {"picture": picture, "changes": {"history": history + guesses}}


@step(
    N_("Shannon's game"),
    (
        r"\textstyle\sum_{\s{i_guess}} \s{i_guess}\,(\s{q_i} - \s{q_i+1}) \log_2 \s{i_guess} "
        r"\;\le\; \s{F} \;\le\; -\sum_{\s{i_guess}} \s{q_i} \log_2 \s{q_i}"
    ),
    say=N_("Guess until you are right. After twenty letters, bounds on the entropy appear."),
    prompt=N_("What is the next letter?"),
    covers=(22,),
    appendix=True,
    prints="lower.round(2), upper.round(2)",
    room_question=shannon_asks,
    sentence=Control(whole(0, len(SENTENCES) - 1), 0, resets=("history",)),
    history=line_of_text(330, "", N_("guesses"), least=0),
)
def shannon(sentence: int, history: str) -> StepPicture:
    context, hidden = SENTENCES[sentence]
    ranks, tried = played(hidden, history)
    n = len(ranks)
    shares = np.bincount(ranks, minlength=28)[1:] / max(1, n)
    # Sorted: an ideal player's shares fall
    q, i = -np.sort(-shares), np.arange(1, 28)
    lower = np.sum(i * (q - np.append(q[1:], 0)) * np.log2(i))
    upper = np.sum(q[q > 0] * -np.log2(q[q > 0]))
    paid = {_(name): pays(kind, sentence)[:n].mean() for kind, name in PLAYERS.items() if n}
    # show
    keys = [
        button(
            {" ": _("space"), PASS: _("Give up")}.get(c, c),
            {"history": history + c},
            "quiet" if c in tried else "strong",
        )
        for c in ALPHABET + PASS
    ]
    keys.append(button(_("Another sentence"), {"sentence": (sentence + 1) % len(SENTENCES), "history": ""}))
    share_bars = bars(
        [(name, v, fixed(v)) for name, v in (*zip("12345", shares, strict=False), ("6+", shares[5:].sum()))],
        title=_("share of the letters found at guess i"),
        stands="q_i i_guess",
    )
    listed = [[_("the class"), f"{fixed(lower)} – {fixed(upper)}" if n >= BOUNDS_FROM_LETTERS else "–", ""]]
    listed += [[name, "", fixed(bits)] for name, bits in paid.items()]
    listed.append([_("uniform guess"), "", fixed(math.log2(27))])
    bounds = table(["", _("bounds of F, bits"), _("pays here, bits")], listed)
    without = column(inline(*keys[:14]), inline(*keys[14:]), row(share_bars, bounds), look="start")
    prompt = text(_("Which letter comes next? Answer on your phone."), "big")
    marks = [visible(c) for c in context + hidden[:n]] + ["?"] * (n < len(hidden))
    notice = _("Bounds of F, a letter's entropy given all before, appear after {least} letters; {n} so far.")
    if n >= BOUNDS_FROM_LETTERS:
        notice = _(
            "The bounds hold for F over a long text, for a player who guesses the likeliest letter "
            "first. With only {n} letters the upper bound tends to come out too low."
        )
    so_far = cells(marks, lit=[len(context) + n], stands="F", look="tight")
    return column(so_far, room(f"shannon.{sentence}.{n}", without, prompt)), notice.format(
        least=BOUNDS_FROM_LETTERS, n=n
    )
