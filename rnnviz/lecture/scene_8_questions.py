"""Scene 8: questions to predict before trying. They answer the chapter's exercises.

`writing.json` records how shipped models of *The Time Machine* write, from many beginnings, beside the book
itself. The beginnings are from the book's last tenth, which the models were not trained on. Each row has
means with their standard errors; `docs/tools/writing.py` measures all. `birth.json` is of `birth.py` there.
"""

import numpy as np

import rnnviz
from rnnviz.i18n import N_, _
from rnnviz.lecture.controls import again, choice, slider
from rnnviz.lecture.number_format import fixed, in_full, percent, rough
from rnnviz.lecture.prediction import chances, likeliest, trace
from rnnviz.lecture.primitives import Node, bars, button, cells, column, line, plot, row, table, text
from rnnviz.lecture.readers import load, recorded
from rnnviz.lecture.scene_3_recurrence import OUTPUT
from rnnviz.lecture.steps import PICK, SEEN, Question, StepPicture, step
from rnnviz.text.characters import visible

TITLE = N_("Check yourself")

_NETWORKS = {"rnn": "RNN", "gru": "GRU", "lstm": "LSTM"}
_TEXT = "It is a remarkable discover"
_GREEDY = r"\s{x_t+1} = \s{argmax}_{\s{x}}\ \s{P}(\s{x} \mid \s{x_t}, \ldots, \s{x_1})"


_STAGES = (1, 2, 4, 8, 15, 35, 75, 150)
SECOND_TEN = _STAGES.index(15)
"""The middle of each stage of `own_input`, in characters after the beginning."""


_CONTEXTS = (1, 2, 3, 5, 10, 20, 50, 100, 200)


def link(number: str, step: str, says: str, unit: str = "") -> Node:
    """A number that leads to the step that shows it, what it says, and its unit."""
    # SEEN opens the picture, not the question before it.
    parts = [button(number, {PICK: SEEN}, "large strong model", step), text(says, "strong" if unit else "")]
    return row(*parts, *([text(unit, "quiet")] if unit else []), sizes=[1, 3.2, 3.2] if unit else [1, 6])


@step(
    N_("How far back it looks"),
    r"\s{P}(\s{x_t} \mid \s{x_t-1}, \ldots, \s{x_t-k}) \approx \s{P}(\s{x_t} \mid \s{h_t-1})",
    say=N_(
        "A gradient shows what could pass; this shows what is used, at 600 places that the network was not "
        "trained on. A thread over many sentences can't depend on so few characters."
    ),
    prompt=Question(
        N_("The LSTM has read a thousand characters. How many of the last ones does its prediction need?"),
        [
            N_("about 3 characters"),
            N_("about 10 characters"),
            N_("about 100 characters"),
            N_("all of them"),
        ],
        right=1,
    ),
    covers=(29,),
    minutes_of_90=3,
    prints="reach",
)
def far() -> StepPicture:
    rows = {entry["cell"]: entry["lost"] for entry in recorded("writing")["contexts"]}
    reach = {}
    for cell, lost in rows.items():
        near = [nats < 0.02 for nats, _error in lost]
        reach[cell] = _CONTEXTS[near.index(True)]
    # show
    colours = {"rnn": "ngram", "gru": "pinned", "lstm": "model"}
    lines = [
        line([nats for nats, _error in lost], cell.upper(), xs=_CONTEXTS, colour=colours[cell], dots=True)
        for cell, lost in rows.items()
    ]
    return (
        plot(
            lines,
            log_x=True,
            ticks=_CONTEXTS,
            x=_("last characters that are read"),
            y=_("nats lost per character"),
        ),
        _(
            "An LSTM that reads the last {reach} characters alone loses less than 0.02 nats per character; "
            "so does an RNN that reads {rnn}. Gates let far gradients pass; this book and this training "
            "hardly used that."
        ).format(reach=reach["lstm"], rnn=reach["rnn"]),
    )


@step(
    N_("The birth of a meaning"),
    r"\s{C_t} = \s{F_t} \odot \s{C_t-1} + \s{I_t} \odot \s{C_t.new}",
    say=N_(
        "Nobody told the network what a quotation is. One unit of its cell state learns it, because that "
        "helps to predict the next character. Press Play."
    ),
    prompt=N_("When will the unit differ inside and outside the quotation marks?"),
    covers=(27,),
    minutes_of_90=3,
    prints="read[born], scores[born]",
    moment=slider(1, 42, 1, 42, N_("kept moment"), play=N_("Play")),
)
def birth(moment: int) -> StepPicture:
    # of the training of an LSTM
    run = recorded("birth")
    moments = run["moments"]
    read, scores = ([m[key] for m in moments] for key in ("characters", "score"))
    # 0.5 is chance
    born = next(i for i, s in enumerate(scores) if s > 0.75)
    # show
    now, before = moments[moment], moments[born - 1]
    sentences = [
        cells([visible(c) for c in words], values, scale="diverging", full=1.5, look="tight", stands="C_t")
        for words, values in zip(run["sentences"], now["values"], strict=True)
    ]
    chart = plot(
        [
            line(scores[1:], "AUC", xs=read[1:]),
            line([0.5] * len(read[1:]), _("chance"), xs=read[1:], colour="uniform", dash="dash"),
        ],
        log_x=True,
        ys=(0.4, 1),
        mark=read[moment],
        x=_("characters read in training"),
        y=_("inside or outside: AUC"),
    )
    return column(
        *sentences,
        row(
            chart,
            table(
                [],
                [
                    (_("characters read"), in_full(read[moment])),
                    (_("training perplexity"), fixed(now["perplexity"])),
                    (_("the unit's AUC"), fixed(now["score"])),
                ],
            ),
            sizes=(3, 2),
        ),
    ), _(
        "This unit was found in the finished network and followed back: between {before} and {after} "
        "characters it begins to respond to text in quotation marks: AUC {low}, then {high}; 0.5 is chance."
    ).format(
        before=in_full(before["characters"]),
        after=in_full(read[born]),
        low=fixed(before["score"]),
        high=fixed(scores[born]),
    )


@step(
    N_("What such a model can't do"),
    _GREEDY,
    say=N_("All of exercise 4. Each number leads to the step that measures it."),
    prompt=N_("Which of these would a larger network cure?"),
    covers=(29,),
    minutes_of_90=3,
    prints="reads_ahead, unknown",
)
def problems() -> StepPicture:
    model = load("timemachine-lstm")
    T = len(_TEXT)
    ahead = [trace(model, _TEXT + rest).log_probs[T] for rest in ("y of fire", "zzzzzzzzz")]
    # float32 may round the same rows differently
    reads_ahead = round(abs(np.exp(ahead[0]) - np.exp(ahead[1])).max(), 6)
    unknown = sum(c not in model.vocabulary for c in "café")
    # show
    writing = recorded("writing")
    greedy, free_text = (
        next(entry for entry in writing[key] if entry["cell"] == "lstm") for key in ("greedy", "own_input")
    )
    made_up = next(entry["made_up"][0] for entry in writing["temperatures"] if entry["temperature"] == 1)
    rows = [
        (_("{n} of 20").format(n=greedy["looped"]), "greedy", _("Its likeliest text goes round in circles.")),
        (
            percent(made_up),
            "temperature",
            _("Drawn at temperature 1, this share of its words isn't in its book."),
        ),
        (
            percent(free_text["free"][SECOND_TEN][0]),
            "free_running",
            _("Reading itself, it soon agrees with the book only by accident."),
        ),
        ("10", "far", _("It uses about this many characters: no thread runs over many sentences.")),
        (
            f"{1000:,}",
            "minibatch",
            _("A thousand characters are as many steps, each waiting for the one before."),
        ),
        (
            rough(reads_ahead),
            "path",
            _("It reads from the left only: what comes later changes a prediction this much."),
        ),
        (
            _("{n} of 4").format(n=unknown),
            "why",
            _("Its vocabulary is fixed: this many characters of “café” are unknown to it."),
        ),
    ]
    return column(*(link(*entry) for entry in rows)), _(
        "The first three are about writing, the fourth about this training, the last three about the kind of "
        "model: sequential, left to right, with a fixed vocabulary."
    )


@step(
    N_("How many outputs?"),
    OUTPUT,
    say=N_("Exercise 1 of the chapter. Let everybody predict, by hand or by phone."),
    prompt=Question(
        N_("A network predicts the next character. How many numbers must it output at every time step?"),
        [
            N_("one: the character's number"),
            N_("as many as there are hidden units"),
            N_("as many as there are different characters"),
            N_("one for every pair of characters"),
        ],
        right=2,
    ),
    covers=(29,),
    appendix=True,
    prints="V, len(P), P.sum().round(4)",
    name=choice(
        {"timemachine-rnn": "RNN", "shakespeare-lstm": "LSTM", "timemachine-gru": "GRU"},
        "timemachine-rnn",
        N_("model"),
    ),
)
def outputs(name: str) -> StepPicture:
    model = load(name)
    P = np.exp(trace(model, "machine").log_probs[-1])
    V = model.vocabulary.size
    H = model.config.hidden_size
    # show
    sizes = [
        (_("hidden units"), f"{H:,}"),
        (_("different symbols |V|"), f"{V:,}"),
        (_("numbers in the output"), f"{len(P):,}"),
        (_("sum of softmax(output)"), rough(P.sum(), 6)),
    ]
    picture = row(
        table([], sizes, lit=[(1, 1), (2, 1)]),
        bars(
            chances(P, likeliest(P, 8), model.vocabulary),
            title=_("what comes after “machine”: the first eight of {n}").format(n=len(P)),
        ),
    )
    return picture, _(
        "Softmax needs one score for every symbol that may come: O has q = |V| columns, whatever h is."
    )


@step(
    N_("How far back an output looks"),
    r"\s{P}(\s{x_t} \mid \s{x_t-1}, \ldots, \s{x_1}) \approx \s{P}(\s{x_t} \mid \s{h_t-1})",
    say=N_("Exercise 2. One letter is changed; how much does the prediction at the end change?"),
    prompt=Question(
        N_("How can one step's output depend on every character before it, when it sees only the last one?"),
        [
            N_("the previous state already depends on them all"),
            N_("the network reads the whole text at each step"),
            N_("it can't: only the last few characters count"),
        ],
        right=0,
    ),
    covers=(2, 29),
    appendix=True,
    prints="moved",
    back=slider(1, 26, 1, 8, N_("character to change, from the end")),
)
def all_before(back: int) -> StepPicture:
    place = len(_TEXT) - back
    changed = _TEXT[:place] + "x" + _TEXT[place + 1 :]
    moved = {}
    for kind in ("mlp", "rnn", "gru", "lstm"):
        model = load(f"timemachine-{kind}")
        P, Q = (np.exp(trace(model, read).log_probs[-1]) for read in (_TEXT, changed))
        moved[kind] = np.abs(P - Q).sum() / 2
    # show
    rows = [(kind.upper(), float(share), fixed(share, 4)) for kind, share in moved.items()]
    title = _("change of the prediction at the end: 0 none, 1 a different one altogether")
    picture = column(
        cells([visible(c) for c in changed], framed=[place]),
        bars(rows, title=title),
    )
    return (
        picture,
        _(
            "Each state is computed from the one before, back to the first character. The MLP has no "
            "state: only the last character changes its prediction."
        ),
    )


@step(
    N_("Always the likeliest"),
    _GREEDY,
    say=N_("Exercise 4. Nothing is drawn here: the same state always writes the same."),
    prompt=Question(
        N_("A character model writes its most probable character each time. What goes wrong?"),
        [
            N_("nothing: it tells the likeliest story"),
            N_("it falls apart into noise"),
            N_("it soon goes round in circles"),
        ],
        right=2,
    ),
    covers=(29,),
    appendix=True,
    prints="written",
    cell=choice(_NETWORKS, "lstm", N_("model")),
)
def greedy(cell: str) -> StepPicture:
    model = load(f"timemachine-{cell}")
    written = rnnviz.sample(model, "The ", 160, temperature=0)
    # show
    measured = next(entry for entry in recorded("writing")["greedy"] if entry["cell"] == cell)
    facts = [
        (_("of 20 texts, those that end in a circle"), str(measured["looped"])),
        (_("its perplexity on its own texts"), fixed(np.exp(measured["own"][0]))),
        (_("its perplexity on the book"), fixed(np.exp(measured["book"][0]))),
    ]
    return (
        row(text("The " + written, "mono large"), table([], facts), sizes=(3, 2)),
        _(
            "Once a state comes back, the same text follows again. To the model its own circles have "
            "a lower perplexity than the book."
        ),
    )


@step(
    N_("Too cold and too hot"),
    r"\s{P}(\s{x_t+1} \mid \s{x_t}, \ldots, \s{x_1})^{1/\s{temperature}}\, /\, "
    r"\textstyle\sum_{\s{x}} \s{P}(\s{x} \mid \s{x_t}, \ldots, \s{x_1})^{1/\s{temperature}}",
    say=N_("Exercise 4 again: before a character is drawn, P is sharpened or flattened."),
    prompt=Question(
        N_("The LSTM draws its characters at a low, then at a high temperature. What goes wrong?"),
        [
            N_("low: makes up words; high: repeats itself"),
            N_("low: repeats itself; high: makes up words"),
            N_("nothing: both read like the book"),
        ],
        right=1,
    ),
    covers=(29,),
    appendix=True,
    prints="written",
    temperature=choice(
        {"0.2": "0.2", "0.5": "0.5", "0.7": "0.7", "1.0": "1", "1.5": "1.5"}, "0.2", N_("temperature")
    ),
    seed=again(1, N_("Draw again")),
)
def temperature(temperature: str, seed: int) -> StepPicture:
    model = load("timemachine-lstm")
    start = "The Time Traveller"
    written = start + rnnviz.sample(model, start, 150, temperature=float(temperature), seed=seed)
    # show
    rows = recorded("writing")["temperatures"]
    columns = [
        "",
        *(_("book") if entry["temperature"] is None else f"{entry['temperature']:g}" for entry in rows),
    ]
    at = [entry["temperature"] for entry in rows].index(float(temperature)) + 1
    row_names = {
        "repeated": _("ten characters in a row that it has written before"),
        "made_up": _("words its training text lacks"),
    }
    shares = [[words, *(percent(entry[key][0]) for entry in rows)] for key, words in row_names.items()]
    picture = column(text(written, "mono large"), table(columns, shares, lit=[(0, at), (1, at)]))
    return (
        picture,
        _(
            "Low: it takes the same few paths again and again. High: misspellings become likely. Of these "
            "temperatures, 0.7 is nearest to the book."
        ),
    )


@step(
    N_("Reading its own output"),
    _GREEDY,
    say=N_(
        "Exercise 4 again: in training the text led it back at every step, now nothing does. That is the "
        "price of teacher forcing."
    ),
    prompt=N_("After how many characters has it left the book?"),
    covers=(29,),
    appendix=True,
    prints="free, by_accident",
    cell=choice(_NETWORKS, "lstm", N_("model")),
)
def free_running(cell: str) -> StepPicture:
    read = next(entry for entry in recorded("writing")["own_input"] if entry["cell"] == cell)
    # the second ten characters
    free, by_accident = (100 * read[name][SECOND_TEN][0] for name in ("free", "by_accident"))
    # show
    names = {"forced": _("reads the book"), "free": _("reads itself"), "by_accident": _("by accident")}
    looks = {"forced": "model", "free": "actual", "by_accident": "muted"}
    lines = [
        line([entry[0] for entry in read[key]], words, xs=_STAGES, colour=looks[key])
        for key, words in names.items()
    ]
    return plot(
        lines,
        log_x=True,
        ys=(0, 0.75),
        x=_("characters after the beginning"),
        y=_("guesses as in the book"),
    ), _(
        "Reading its own guesses, it agrees with the book in {free} % of places after ten to twenty "
        "characters; by accident alone it would be {accident} %."
    ).format(free=fixed(free, 0), accident=fixed(by_accident, 0))


@step(
    N_("A search for the likeliest text"),
    r"\s{argmax}_{\s{x_1}, \ldots, \s{x_T}}\ \textstyle\prod_{\s{t}} "
    r"\s{P}(\s{x_t} \mid \s{x_t-1}, \ldots, \s{x_1})",
    say=N_(
        "Beam search keeps the likeliest texts so far. One kept text is the likeliest character each time."
    ),
    prompt=Question(
        N_("Beam search looks for the likeliest whole text. Compared with text drawn from P, what it finds"),
        [
            N_("is likelier, and repeats itself more"),
            N_("is likelier, and reads more like the book"),
            N_("is less likely: a search can miss it"),
        ],
        right=0,
    ),
    covers=(29,),
    appendix=True,
    prints='[entry["nats"][0] for entry in rows]',
    width=choice({"1": "1", "2": "2", "4": "4", "8": "8", "16": "16"}, "16", N_("texts kept")),
)
def beams(width: str) -> StepPicture:
    rows = recorded("writing")["beams"]
    # show
    named = {0: _("drawn"), None: _("book")}
    columns = ["", *(named.get(entry["width"], str(entry["width"])) for entry in rows)]
    at = [entry["width"] for entry in rows].index(int(width)) + 1
    shares = [
        [_("log P of a character, nats"), *(fixed(entry["nats"][0]) for entry in rows)],
        [
            _("ten characters in a row that it has written before"),
            *(percent(entry["repeated"][0]) for entry in rows),
        ],
    ]
    picture = column(
        text(rows[at - 1]["example"], "mono large"), table(columns, shares, lit=[(0, at), (1, at)])
    )
    return (
        picture,
        _(
            "Every wider search found likelier texts, all likelier than the book. They repeat themselves far "
            "more than drawn text, but less than with one kept text."
        ),
    )
