"""The code of each step that has some, by the scene's module and the step's name.

cell(module, name, state, shown)      `state` and `shown`: the scene's state, and its picture of it
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from rnnviz.lecture import counts, shannon, tokens, word
from rnnviz.lecture.controls import State
from rnnviz.lecture.counts import shortened
from rnnviz.lecture.machine import WORD, Machine
from rnnviz.lecture.product import NAMES as MATRICES
from rnnviz.lecture.product import Factors
from rnnviz.lecture.recurrence import Recurrence
from rnnviz.lecture.snippets import Cell
from rnnviz.lecture.snippets import backwards as back
from rnnviz.lecture.snippets import counts as tables
from rnnviz.lecture.snippets import linear as blind
from rnnviz.lecture.snippets import memoryless as without
from rnnviz.lecture.snippets import perplexity as costs
from rnnviz.lecture.snippets import product as products
from rnnviz.lecture.snippets import recurrence as loops
from rnnviz.lecture.snippets import word as words
from rnnviz.ui.pages.learn import examples, models, scene_7_linear, scene_7_powers

Shown = dict[str, Any]
Make = Callable[[State, Shown], Cell | None]
_MAKE: dict[tuple[str, str], Make] = {}


def has(module: str, name: str) -> bool:
    """Whether the step called `name` has code."""
    return (module, name) in _MAKE


def steps() -> set[tuple[str, str]]:
    """The steps that have code: a module and a name."""
    return set(_MAKE)


def cell(module: str, name: str, state: State, shown: Shown) -> Cell | None:
    """The code of the step called `name`; None where there is none, as before a game has begun."""
    make = _MAKE.get((module, name))
    return make(state, shown) if make else None


def _of(module: str, *names: str) -> Callable[[Make], Make]:
    def keep(make: Make) -> Make:
        _MAKE.update({(module, name): make for name in names})
        return make

    return keep


@_of("scene_1_counts", "grows")
def _grows(state: State, shown: Shown) -> Cell:
    return tables.grows(state["text"], shown["n"], shown["size"])


@_of("scene_1_counts", "book")
def _book(state: State, shown: Shown) -> Cell:
    ngram = models.ngram(examples.reader("6gram").name)
    if ngram.name != "timemachine-6gram":  # its book does not ship
        return tables.seen(ngram, shown["n"])
    return tables.book(shown["n"], shown["size"])


@_of("scene_1_counts", "surprise", "memory")
def _surprise(state: State, shown: Shown) -> Cell:
    ngram, kinds = models.ngram(examples.reader("6gram").name), examples.kinds()
    orders = {"ngram": shown["n"], **({} if "mlp" in kinds else {"mlp": 2})}
    several = [
        shortened(ngram, orders[row["kind"]]) if row["kind"] in orders else examples.reader(row["kind"])
        for row in shown["rows"]
        if row["bits"]
    ]
    return tables.surprise(state["text"], several)


@_of("scene_1_counts", "state")
def _rules(state: State, shown: Shown) -> Cell:
    return tables.rules(shown["first"], shown["t"], counts.book()[0])


@_of("scene_1_counts", "any")
def _apart(state: State, shown: Shown) -> Cell:
    return tables.apart(models.network("timemachine-rnn"), shown["first"], shown["second"], shown["t"])


@_of("scene_2_memoryless", "prediction", "layer", "state", "gates")
def _endings(state: State, shown: Shown) -> Cell:
    model = models.network(f"timemachine-{shown['kind']}")
    return without.endings(model, state["left"], state["right"])


@_of("scene_2_memoryless", "hidden")
def _hidden(state: State, shown: Shown) -> Cell:
    return without.hidden(Machine().net, shown["pairs"])


@_of("scene_2_memoryless", "output")
def _output(state: State, shown: Shown) -> Cell:
    return without.output(Machine().net, shown["pairs"])


@_of("scene_3_recurrence", "first", "second", "third", "apart")
def _loop(state: State, shown: Shown) -> Cell:
    return loops.loop(Machine(state["seed"]).net, state["word"])


@_of("scene_3_recurrence", "parameters")
def _sizes(state: State, shown: Shown) -> Cell:
    return loops.sizes(Machine(state["seed"]).net)


@_of("scene_3_recurrence", "adjacent")
def _figure(state: State, shown: Shown) -> Cell:
    return loops.joined(Machine(state["seed"]).net, state["word"])


@_of("scene_3_recurrence", "minibatch")
def _rows(state: State, shown: Shown) -> Cell:
    return loops.rows(Machine(state["seed"]).net, shown["texts"])


@_of("scene_3_recurrence", "unit")
def _unit(state: State, shown: Shown) -> Cell:
    seen = Recurrence(models.network(shown["model"]), shown["text"])
    return loops.unit(shown["model"], seen, shown["text"], shown["t"], shown["unit"])


def _factors(shown: Shown) -> Factors:
    return Factors(*(np.array(shown[name], float) for name in MATRICES))


@_of("scene_4_product", "two")
def _two(state: State, shown: Shown) -> Cell:
    return products.two(_factors(shown))


@_of("scene_4_product", "joined")
def _joined(state: State, shown: Shown) -> Cell:
    return products.joined(_factors(shown))


@_of("scene_4_product", "one", "try")
def _one(state: State, shown: Shown) -> Cell:
    return products.one(_factors(shown))


@_of("scene_4_product", "word")
def _step(state: State, shown: Shown) -> Cell:
    return products.step(Machine(), state["t"])


@_of("scene_5_word", "labels")
def _labels(state: State, shown: Shown) -> Cell:
    return words.labels(shown["word"])


@_of("scene_5_word", "softmax")
def _losses(state: State, shown: Shown) -> Cell:
    if state["at"] == 0 and state["word"] == WORD:
        return words.losses(Machine(state["seed"]))
    return words.trained(word.run(state["word"], state["seed"]), state["at"], losses=True)


@_of("scene_5_word", "path")
def _path(state: State, shown: Shown) -> Cell:
    return words.losses(Machine(state["seed"], text=shown["letters"]))


@_of("scene_5_word", "why")
def _why(state: State, shown: Shown) -> Cell:
    return words.why()


@_of("scene_5_word", "batch")
def _batch(state: State, shown: Shown) -> Cell:
    windows = tokens.windows(tokens.book(), state["n"], shown["T"])
    return words.batch(windows, [*sorted(set(tokens.book())), "?"], state["t"])


@_of("scene_5_word", "train")
def _trained(state: State, shown: Shown) -> Cell:
    return words.trained(word.run(state["word"], state["seed"]), state["at"])


@_of("scene_5_word", "writes")
def _writes(state: State, shown: Shown) -> Cell:
    return words.trained(word.run(state["word"], state["seed"]), state["at"], writes=True)


@_of("scene_6_perplexity", "game")
def _game(state: State, shown: Shown) -> Cell:
    return costs.mean(shown["p"], shown["size"])


@_of("scene_6_perplexity", "rain")
def _rain(state: State, shown: Shown) -> Cell:
    return costs.endings(examples.reader(state["kind"]), shown["beginning"], state["endings"])


@_of("scene_6_perplexity", "books")
def _books(state: State, shown: Shown) -> Cell:
    rows = [[row[name] for row in shown["rows"]] for name in ("title", "characters", "perplexity")]
    return costs.books(*rows)


@_of("scene_6_perplexity", "bits")
def _bits(state: State, shown: Shown) -> Cell:
    return costs.stored(examples.reader(state["kind"]), state["stored"])


@_of("scene_6_perplexity", "length")
def _length(state: State, shown: Shown) -> Cell:
    cuts = [(row["text"], row["cut"]) for row in shown["rows"]]
    return costs.beginnings(examples.reader(state["kind"]), cuts)


@_of("scene_6_perplexity", "shannon")
def _guessed(state: State, shown: Shown) -> Cell | None:
    ranks = shannon.play(state["sentence"], state["history"]).ranks
    return costs.guessed(ranks) if len(ranks) >= shannon.LEAST else None  # as on the page


@_of("scene_7_backwards", "flow")
def _flow(state: State, shown: Shown) -> Cell | None:
    text = state["text"]
    if len(text) < 3:
        return None
    networks = [models.network(f"timemachine-{cell}") for cell in scene_7_powers.CELLS]
    norms = scene_7_powers.norms(text).values()
    return back.flow(networks, text, [float(norm[-1] / norm[0]) for norm in norms])


@_of("scene_7_backwards", "dial")
def _dial(state: State, shown: Shown) -> Cell:
    return back.power(state["radius"], state["seed"], state["power"])


@_of("scene_7_backwards", "word")
def _back(state: State, shown: Shown) -> Cell:
    return back.through_time(Machine(steps=shown["steps"], recurrent=shown["recurrent"]))


@_of("scene_7_backwards", "gap")
def _gap(state: State, shown: Shown) -> Cell:
    return back.gates(shown["gap"])


@_of("scene_7_backwards", "linear")
def _linear(state: State, shown: Shown) -> Cell:
    return blind.joined(state["cued"], shown["t"], steps=scene_7_linear.steps(state))


@_of("scene_7_backwards", "clip")
def _clip(state: State, shown: Shown) -> Cell:
    return back.shortened(Machine(steps=state["steps"]), state["threshold"])


@_of("scene_7_backwards", "cut")
def _cut(state: State, shown: Shown) -> Cell:
    return back.detached(Machine(steps=shown["steps"]), shown["tau"])


@_of("scene_7_backwards", "random")
def _random(state: State, shown: Shown) -> Cell:
    return back.random(state["seed"], state["keep"], state["draw"], shown["draws"], state["cut"])
