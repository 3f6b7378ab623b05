"""Scene 8: fourteen questions. Predict first, then try it out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rnnviz.lecture.questions import BY_KEY, QUESTIONS
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.learn import given, question_words

if TYPE_CHECKING:
    from rnnviz.lecture.questions import Evidence, Question
    from rnnviz.networks.ngram import NgramModel
    from rnnviz.networks.numpy_model import NumpyModel
    from rnnviz.ui.pages.learn.context import Context
    from rnnviz.ui.pages.learn.scenes import Ask, State

STEPS = len(QUESTIONS)
NONE = "-"


def notice(state: State) -> str:
    """What to notice."""
    if state["picks"][state["step"]] == NONE:
        if state["step"] < 4:
            return _("One of the chapter's exercises, in our words. Predict first; only then it is computed.")
        return _("Predict first; only then it is computed.")
    return question_words.reason(QUESTIONS[state["step"]].key)


def formula(state: State) -> str:
    """What the question is about."""
    return _FORMULAS[QUESTIONS[state["step"]].key]


def initial(query: Mapping[str, str]) -> State:
    """The predictions in the address: the number of the option for each question, or NONE."""
    answers = query.get("answers", "")
    picks = "".join(
        c if c.isascii() and c.isdigit() and int(c) < len(q.options) else NONE
        for c, q in zip(answers.ljust(STEPS, NONE), QUESTIONS, strict=False)
    )
    return {"picks": picks, "settings": [q.first for q in QUESTIONS]}


def query(state: State) -> dict[str, str]:
    """The predictions so far."""
    return {"answers": state["picks"].rstrip(NONE)} if state["picks"].strip(NONE) else {}


def answer(state: State, ask: Ask, context: Context) -> tuple[State, dict[str, Any]]:
    """The question, and its evidence once something was predicted."""
    step = state["step"]
    question = BY_KEY[QUESTIONS[step].key]
    picks, settings = state["picks"], list(state["settings"])
    if ask.get("question") == question.key:  # an ask that was under way when the question changed is none
        pick = given.whole(ask.get("pick"), 0, len(question.options) - 1)
        if ask.get("again") is True:
            picks = picks[:step] + NONE + picks[step + 1 :]
        elif pick is not None and picks[step] == NONE:
            picks = picks[:step] + str(pick) + picks[step + 1 :]
        setting = given.whole(ask.get("setting"), 0, len(question.settings) - 1)
        settings[step] = settings[step] if setting is None else setting
    state = {**state, "picks": picks, "settings": settings}
    words = question_words.words(question.key)
    data: dict[str, Any] = {
        "key": question.key,
        "number": step + 1,
        "count": STEPS,
        "chapter": step < 4,
        "question": words.question,
        "options": [words.options[key] for key in question.options],
        "pick": None,
        "score": _score(picks, context),
        "words": {
            "predict": _("What do you think?"),
            "right": _("Right"),
            "wrong": _("Not so"),
            "again": _("Predict again"),
            "try": _("Try it"),
            "chapter": _("question {n} of {count}, from the chapter"),
            "own": _("question {n} of {count}"),
            "score": _("{right} of {given} right"),
        },
    }
    if picks[step] != NONE:
        found = _evidence(question, settings[step], context)
        data |= {
            "pick": int(picks[step]),
            "answer": question.options.index(found.answer),
            "reason": question_words.reason(question.key),
            "setting": settings[step],
            "settings": [question_words.setting(question.key, s) for s in question.settings],
            "dial": words.dial,
            "rows": [
                {
                    "label": words.rows.get(key, key),
                    "value": question_words.said(value),
                    "share": float(value) if key in words.bars else None,
                }
                for key, value in found.rows
            ],
        }
    return state, data


def _score(picks: str, context: Context) -> dict[str, int]:
    """How many predictions were right; each question has one answer, whatever its setting."""
    made = [(q, int(c)) for q, c in zip(QUESTIONS, picks, strict=True) if c != NONE]
    right = sum(q.options[pick] == _evidence(q, q.first, context).answer for q, pick in made)
    return {"right": right, "given": len(made)}


_found: dict[tuple[str, int], Evidence] = {}
"""What was computed so far: the models that are shipped don't change while the app runs."""


def _evidence(question: Question, setting: int, context: Context) -> Evidence:
    key = (question.key, setting)
    if key not in _found:
        _found[key] = question.evidence(setting, lambda name: _load(name, context))
    return _found[key]


def _load(name: str, context: Context) -> NumpyModel | NgramModel:
    return context.ngram(name) if name.endswith("gram") else context.network(name)


_FORMULAS = {
    "output": r"\mathbf{O}_t = \mathbf{H}_t\mathbf{W}_{hq} + \mathbf{b}_q",
    "all_before": r"P(x_t \mid x_{t-1}, \ldots, x_1) \approx P(x_t \mid h_{t-1})",
    "long_way": r"\bigl(\mathbf{W}_{hh}^\top\bigr)^{k}",
    "greedy": r"x_{t+1} = \mathrm{argmax}\ P(x \mid x_1, \ldots, x_t)",
    "parameters": r"\mathbf{W}_{xh},\ \mathbf{W}_{hh},\ \mathbf{b}_h,\ \mathbf{W}_{hq},\ \mathbf{b}_q",
    "uniform": r"\exp\Bigl(-\tfrac{1}{n}\textstyle\sum_{t} \log \tfrac{1}{|\mathcal{V}|}\Bigr)",
    "one_zero": r"\exp\Bigl(-\tfrac{1}{n}\textstyle\sum_{t} \log P(x_t \mid \ldots)\Bigr)",
    "twice": (
        r"\textstyle\prod_t P(x_t \mid \ldots),\quad "
        r"\exp\Bigl(-\tfrac{1}{n}\sum_t \log P(x_t \mid \ldots)\Bigr)"
    ),
    "concatenated": (
        r"[\mathbf{X}_t,\ \mathbf{H}_{t-1}]\ "
        r"\bigl[\begin{smallmatrix}\mathbf{W}_{xh}\\ \mathbf{W}_{hh}\end{smallmatrix}\bigr]"
    ),
    "forgets": r"\mathbf{H} = \phi(\mathbf{X}\mathbf{W}_{xh} + \mathbf{b}_h)",
    "hundredth": r"\rho^{k} < \tfrac{1}{100}",
    "clipped": r"\mathbf{g} \leftarrow \min\bigl(1, \tfrac{\theta}{\lVert\mathbf{g}\rVert}\bigr)\,\mathbf{g}",
    "mean": r"E[\xi_t] = \pi \cdot \tfrac{1}{\pi} + (1 - \pi) \cdot 0",
    "print": r"\exp\Bigl(-\tfrac{1}{n}\textstyle\sum_{t} \log P(x_t \mid \ldots)\Bigr)",
}
