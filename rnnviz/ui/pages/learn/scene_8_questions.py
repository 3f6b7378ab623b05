"""Scene 8: eighteen questions. Predict first, then try it out."""

from functools import cache
from typing import Any

from rnnviz.i18n import _
from rnnviz.lecture.controls import Ask, Control, State, whole
from rnnviz.lecture.questions import BY_KEY, QUESTIONS, Evidence, Question
from rnnviz.ui.pages.learn import models
from rnnviz.ui.pages.learn.question_words import WORDS, said, setting
from rnnviz.ui.room.room import Question as Asked

NAMES = tuple(question.key for question in QUESTIONS)
STEPS = len(NAMES)
NONE = "-"


def _picks(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    return "".join(
        c if c.isascii() and c.isdigit() and int(c) < len(question.options) else NONE
        for c, question in zip(value.ljust(STEPS, NONE), QUESTIONS, strict=False)
    )


CONTROLS = (
    Control("picks", _picks, NONE * STEPS, address="answers", written=lambda picks: picks.rstrip(NONE)),
    Control("settings", lambda value: None, [question.first for question in QUESTIONS], address=""),
)


def notice(state: State) -> str:
    """What to notice."""
    words, pick = WORDS[QUESTIONS[state["step"]].key], state["picks"][state["step"]]
    if pick == NONE:
        if QUESTIONS[state["step"]].exercise:
            return _("One of the chapter's exercises, in our words. Predict, then see.")
        return _("Predict, then see.")
    return _(words.reason)


def formula(state: State) -> str:
    """What the question is about."""
    return WORDS[QUESTIONS[state["step"]].key].formula


def take(state: State, ask: Ask) -> State:
    """A prediction, once for each question, or a setting of the question shown."""
    step = state["step"]
    question, picks, settings = QUESTIONS[step], state["picks"], list(state["settings"])
    if ask.get("question") != question.key:  # it was on its way when the question changed
        return state
    pick = whole(0, len(question.options) - 1)(ask.get("pick"))
    if ask.get("again") is True:
        picks = picks[:step] + NONE + picks[step + 1 :]
    elif pick is not None and picks[step] == NONE:
        picks = picks[:step] + str(pick) + picks[step + 1 :]
    chosen = whole(0, len(question.settings) - 1)(ask.get("setting"))
    settings[step] = settings[step] if chosen is None else chosen
    return {**state, "picks": picks, "settings": settings}


def asked(state: State) -> Asked:
    """The question, for the room too; over once a prediction has been made, which shows the answer."""
    question, pick = QUESTIONS[state["step"]], state["picks"][state["step"]]
    words, right = WORDS[question.key], None
    if pick != NONE:
        right = question.options.index(_evidence(question.key, state["settings"][state["step"]]).answer)
    options = tuple(_(words.options[key]) for key in question.options)
    return Asked(f"question.{question.key}", _(words.question), options, right=right, over=pick != NONE)


def picture(state: State) -> dict[str, Any]:
    """The question, and its evidence once something was predicted."""
    step, pick = state["step"], state["picks"][state["step"]]
    question = QUESTIONS[step]
    words = WORDS[question.key]
    shown: dict[str, Any] = {
        "key": question.key,
        "number": step + 1,
        "count": STEPS,
        "exercise": question.exercise,
        "question": _(words.question),
        "options": [_(words.options[key]) for key in question.options],
        "pick": None,
        "score": score(state["picks"]),
        "words": {
            "predict": _("What do you think?"),
            "right": _("Right"),
            "wrong": _("Not so"),
            "again": _("Predict again"),
            "try": _("Try it"),
            "chapter": _("question {n} of {count}, the chapter's exercise {exercise}"),
            "own": _("question {n} of {count}"),
            "score": _("{right} of {given} right"),
        },
    }
    if pick == NONE:
        return shown
    evidence = _evidence(question.key, state["settings"][step])
    rows = [
        {
            "label": _(words.rows[key]).format(cell=key.upper()),
            "value": said(value),
            "share": float(value) if key in words.bars else None,
        }
        for key, value in evidence.rows.items()
    ]
    return shown | {
        "pick": int(pick),
        "answer": question.options.index(evidence.answer),
        "reason": _(words.reason),
        "setting": state["settings"][step],
        "settings": [setting(question.key, value) for value in question.settings],
        "dial": _(words.dial),
        "rows": rows,
        "table": _table(question, evidence),
    }


def _table(question: Question, evidence: Evidence) -> dict[str, Any] | None:
    """The measurements: each row's label and its means as they are written, a column for each condition."""
    if not evidence.table:
        return None
    words = WORDS[question.key]
    errors = [error for key in words.shares for _m, error in evidence.table[key]]
    return {
        "title": _(words.columns),
        "columns": [_column(column) for column in evidence.columns],
        "column": evidence.column,
        "rows": [
            {
                "label": _(words.table[key]),
                "values": [_mean(mean, key in words.shares) for mean, _e in spreads],
            }
            for key, spreads in evidence.table.items()
        ],
        "measured": _(words.measured).format(error=_mean(max(errors), True)),
    }


def _column(column: float | str) -> str:
    named = {0: _("drawn"), "book": _("book"), "all": _("all")}
    return named[column] if column in named else f"{column:g}" if not isinstance(column, str) else column


def _mean(mean: float, share: bool) -> str:
    """A share in percent, anything else with two decimals."""
    if not share:
        return f"{mean:.2f}".replace("-", "−")
    percent = 100 * mean
    written = f"{percent:.0f}" if abs(percent) >= 9.95 else f"{percent:.1f}".replace("-0.0", "0.0")
    return written.replace("-", "−") + " %"


def score(picks: str) -> dict[str, int]:
    """How many predictions were given, and how many of them are right."""

    def right(question: Question, pick: str) -> bool:
        return question.options[int(pick)] == _evidence(question.key, question.first).answer

    made = [(question, pick) for question, pick in zip(QUESTIONS, picks, strict=True) if pick != NONE]
    return {"right": sum(right(*one) for one in made), "given": len(made)}


@cache
def _evidence(key: str, setting: int) -> Evidence:
    return BY_KEY[key].evidence(setting, models.load)
