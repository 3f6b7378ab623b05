"""Scene 7, gates that look at the input alone: what that gains and what it costs."""

from typing import Any

import numpy as np

from rnnviz.i18n import _
from rnnviz.lecture import linear, symbols
from rnnviz.lecture.controls import State
from rnnviz.lecture.word import LONGEST, STEPS, Parameters
from rnnviz.text.characters import visible

WORD = "remember"
AGAINST = ("same", "other")
LEARNED = ("trained", "untrained")


def formula(state: State) -> str:
    """The minGRU."""
    return (
        r"\s{Z_t} = \s{sigma}(\s{X_t}\s{W_xz} + \s{b_z}),\quad "
        r"\s{H_t} = \s{Z_t} \odot \s{H_t-1} + (1 - \s{Z_t}) \odot \s{H_t.new}"
    )


def networks(state: State) -> dict[linear.Cell, tuple[linear.Cell, Parameters, list[int]]]:
    """Both cells, as `linear.read` takes them."""
    return {cell: linear.network(cell, state["cued"], steps=steps(state)) for cell in linear.CELLS}


def steps(state: State) -> int:
    """How many steps they were trained."""
    return STEPS if state["learned"] == "trained" else 0


def places(state: State) -> tuple[int, int]:
    """The step that is looked at and the one beside it, from 1.

    By default one whose letter has come before and is followed by another this time. Beside it the nearest
    with the same letter, or with another; where the word has none, the nearest of the other kind.
    """
    word = state["cued"]
    read, T = word[:-1], len(word) - 1
    t = state["place"]
    if t is None:
        again = [n for n in range(1, T) if word[n] in word[:n]]
        parted = [n for n in again if any(word[n + 1] != word[m + 1] for m in range(n) if word[m] == word[n])]
        t = (parted or again or [T - 1])[0] + 1
    t = min(t, T)
    others = sorted((n for n in range(T) if n != t - 1), key=lambda n: (n > t - 1, abs(n - t + 1)))
    same = [n for n in others if read[n] == read[t - 1]]
    unlike = [n for n in others if read[n] != read[t - 1]]
    chosen = (same or unlike) if state["against"] == "same" else (unlike or same)
    return t, chosen[0] + 1


def _apart(run: linear.Read, t: int, s: int) -> tuple[float, float]:
    """How far gates, and what is written, are apart at two steps: the largest difference over units."""
    gates, written = (np.abs(part[t - 1] - part[s - 1]).max() for part in (run.keep, run.write))
    return float(gates), float(written)


def notice(state: State) -> str:
    """What happens to one letter at two places, in numbers."""
    (t, s), word = places(state), state["cued"]
    runs = {cell: linear.read(*found) for cell, found in networks(state).items()}
    apart = {cell: f"{_apart(run, t, s)[0]:.2f}" for cell, run in runs.items()}
    if word[t - 1] != word[s - 1]:
        if state["against"] == "same":
            return _("This letter stands only once here. Choose one that comes twice, or write another word.")
        return _("Two letters: now the gates of both networks differ, by up to {mingru} and {gru}.").format(
            **apart
        )
    letter = visible(word[t - 1])
    if state["learned"] == "untrained":
        return _(
            "It takes no training: “{letter}” opens the minGRU's gates alike at both places, "
            "the GRU's differ by up to {gru}."
        ).format(letter=letter, gru=apart["gru"])
    return _(
        "What if the gate may not look at the state? "
        "Then “{letter}” opens it just as far wherever it stands. "
        "The GRU's gates differ by up to {gru}."
    ).format(letter=letter, gru=apart["gru"])


def picture(state: State) -> dict[str, Any]:
    """The scan of one unit, what is left of each letter, and both networks at two places."""
    t, s = places(state)
    found = networks(state)
    runs = {cell: linear.read(*network) for cell, network in found.items()}
    blind, unit = runs["mingru"], state["cued_unit"] - 1
    all_rounds = [addends for _factors, addends in linear.rounds(blind.keep, blind.write)]
    word = state["cued"]
    T = len(word) - 1
    _cell, weights, ids = found["mingru"]
    targets = linear.spelled(word)[2]
    return {
        "word": word,
        "marks": [visible(c) for c in word[:-1]],
        "t": t,
        "s": s,
        "unit": unit,
        "against": state["against"],
        "learned": state["learned"],
        "rounds": [np.round(addends[:, unit], 4).tolist() for addends in all_rounds],
        "joins": sum(T - 2**n for n in range(len(all_rounds) - 1)),
        "difference": float(np.abs(all_rounds[-1] - blind.state).max()),
        "shares": blind.shares(t).tolist(),
        "rows": [
            {
                "name": {"mingru": "minGRU", "gru": "GRU"}[cell],
                "perplexity": run.perplexity(targets),
                "keep": run.keep[[s - 1, t - 1]].tolist(),
                "write": run.write[[s - 1, t - 1]].tolist(),
                "apart": _apart(run, t, s),
            }
            for cell, run in runs.items()
        ],
        "here": symbols.here(
            {
                "X_t": np.eye(len(weights["b_q"]))[ids[t - 1]],
                "W_xz": weights["W_xz"],
                "b_z": weights["b_z"],
                "Z_t": blind.keep[t - 1],
                "H_t-1": blind.before[t - 1],
                "H_t": blind.state[t - 1],
                "H_t.new": blind.candidate[t - 1],
            }
        ),
        "words": _words() | {"rounds.n": str(len(all_rounds) - 1), "steps.n": str(T)},
    }


def _words() -> dict[str, str]:
    return {
        "word": _("word"),
        "length": _("Write a word of {least} to {n} characters.").format(least=3, n=LONGEST),
        "against": _("beside it"),
        "against.same": _("the same letter"),
        "against.other": _("another letter"),
        "learned": _("weights"),
        "learned.trained": _("trained"),
        "learned.untrained": _("untrained"),
        "scan": _("Gained: fewer rounds than steps, {rounds} in place of {steps}"),
        "written": _("written"),
        "round": _("round {n}"),
        "joined": _(
            "Unit {unit}. In a round no column waits for another; filled ones are done. "
            "Sums: {joins} against {steps} step by step. The states agree to {difference}."
        ),
        "left": _("Gained: what is left of each letter after step {t}, in %"),
        "lost": _("Lost: a letter does the same wherever it stands"),
        "at": _("“{letter}” at {t}"),
        "keeps": _("keeps"),
        "writes": _("writes"),
        "press": _("step {t}: {letter}; press to look at it"),
        "pick": _("unit {unit}: {value}; press to follow it"),
        "perplexity": _("perplexity on the word: minGRU {minimal}, GRU {whole}"),
        "share": _("{letter} {value} %"),
    }
