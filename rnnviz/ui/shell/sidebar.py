"""The sidebar: the model and its card, the device, and the language."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from rnnviz import i18n, sentences
from rnnviz.i18n import N_, _, ngettext
from rnnviz.networks import model_card
from rnnviz.networks.cells import CELLS
from rnnviz.networks.checkpoint import Damaged, ModelInfo, current_name
from rnnviz.networks.ngram import NgramModel
from rnnviz.page.formatting import choices, network, title, titles
from rnnviz.ui.shell import address, downloads, model_cache
from rnnviz.ui.shell.error_messages import plain, translate_error
from rnnviz.ui.shell.fields import Field

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import Model

DEFAULT_TEMPERATURE = 0.8
MODEL = Field[str]("model", address="model", title=N_("Model"), parse=current_name, always=True)

# `_` translates into the language of the session that runs the script.
i18n.spoken_by(lambda: st.session_state.get(i18n.STATE))


def adopt_language() -> None:
    """In a session's first run, set its language: the address's `lang`, else the browser's."""
    # Only once a session: a reload of the address begins a new session, a click on another page doesn't.
    if i18n.STATE not in st.session_state:
        st.session_state[i18n.STATE] = sentences.match_language(
            st.query_params.get("lang") or st.context.locale
        )


def language_switch() -> None:
    """Draw the choice of a language; the address holds it if it isn't the browser's."""
    spoken = i18n.language()
    address.set_values(lang=None if spoken == sentences.match_language(st.context.locale) else spoken)
    st.segmented_control(
        "Language / 语言",
        list(sentences.LANGUAGES),
        key=i18n.STATE,
        persist_state="session",  # else a run that is cut off before this line would drop the choice
        format_func=sentences.LANGUAGES.__getitem__,
        required=True,
        label_visibility="collapsed",
    )


def choose_model(models: list[ModelInfo], damaged: list[Damaged]) -> ModelInfo | None:
    """Draw the choice of a model, and a note on damaged files. Returns the model; None without models."""
    model_info = None
    if models:
        name = MODEL.choose(
            _("Model"),
            titles(models),
            model_cache.first_model(models).path.stem,
            why=partial(missing_model_message, damaged),
            draw=st.selectbox,
            help=_("The trained model you are looking into: what it read, and how it is built."),
        )
        model_info = next(info for info in models if info.path.stem == name)
    if damaged:
        with st.expander(
            _("Files that can't be used ({count})").format(count=len(damaged)), icon=":material/warning:"
        ):
            for file in damaged:
                st.caption(plain(translate_error(file.error)))
    return model_info


def missing_model_message(damaged: list[Damaged], name: str) -> str:
    """The sentence that says why the model `name` is not in the list."""
    # A damaged file is not in the list either: why it isn't usable says more than that it isn't there.
    errors = [file.error for file in damaged if file.path.stem == name]
    if errors:
        return plain(translate_error(errors[0]))
    exists = name in (info.path.stem for info in model_cache.list_models()[0])
    message = (
        _("**{asked}** counts n-grams and has no hidden state to look at.")
        if exists
        else _("There is no model called **{asked}** here; its file may have been renamed or removed.")
    )
    return message.format(asked=plain(name, 100))


def no_model() -> str:
    """The sentence for folders without a usable model."""
    return _(
        "There is no trained model to look into. Put a model file (`.safetensors`) into the folder `models`, "
        "or train one in a terminal: `python -m rnnviz train --help` shows how. Then reload this page."
    )


def kind(info: ModelInfo, model: Model) -> str:
    """The kind of model in a few words."""
    if isinstance(model, NgramModel):
        return _("Counts of {order}-grams").format(order=model.order)
    units = model.config.hidden_size
    if info.kind == "mlp":
        return _("MLP without a hidden state, {units} units").format(units=units)
    return network(CELLS[info.kind].label, units, model.config.layers)


def draw_card(info: ModelInfo, model: Model, *, notes: Callable[[], str], share: Callable[[], None]) -> None:
    """Draw the model's card: text, kind, device, held-out perplexity, and details.

    notes  called once the details are open, returns sentences on its named units
    share  draws the buttons that share it
    """
    facts = info.card
    text = str(facts.get("title") or facts.get("corpus") or "")
    description = _("{kind}, on {device}").format(kind=kind(info, model), device=plain(device(model)))
    if title(info) != info.path.stem:  # commands and addresses have the name
        description = f"`{info.path.stem}` · {description}"
    st.markdown(f"**{plain(text)}**  \n{description}" if text else description)
    draw_held_out(facts.get("held_out"))
    # Its dozen elements take a browser as long as the page: only once they are to be read.
    about = st.expander(_("About this model"), key="about", on_change="rerun")
    if not about.open:
        return
    with about:
        share()
        downloads.model_buttons(info.path, info.path.stem, "about", network=info.kind != "ngram")
        if sentences_on_units := notes():
            st.caption(plain(sentences_on_units))
        st.caption(_("{count} parameters").format(count=f"{model.parameter_count:,}"))
        for sentence in card_in_words(facts):
            st.caption(sentence)
        if isinstance(command := facts.get("command"), str) and command:
            st.caption(_("Made by"))
            st.html(preformatted(command))
        if isinstance(digest := facts.get("sha256"), str) and digest:
            st.caption(_("Training text, SHA-256"))
            st.html(preformatted(digest))


def preformatted(text: str) -> str:
    """HTML of a text as wrapped code. With `st.code`, the first page would fetch 1.5 MB of highlighting."""
    style = "white-space:pre-wrap;overflow-wrap:anywhere;font-size:.8rem;margin:0"
    return f"<pre style='{style}'><code>{escape(text)}</code></pre>"


def draw_held_out(figures: Any) -> None:
    """Draw the card's held-out perplexity, beside those of the n-gram model and of a uniform guess."""
    if not isinstance(figures, dict) or not isinstance(perplexity := figures.get("perplexity"), int | float):
        st.caption(_("Its card doesn't say how well it does on new text."))
        return
    rows = [
        (name, float(value), f"{value:,.{digits}f}")
        for name, value, digits in (
            (_("this model"), perplexity, 2),
            (_("table of counts"), figures.get("ngram"), 2),
            (_("uniform guess"), figures.get("uniform"), 0),
        )
        if isinstance(value, int | float)
    ]
    st.html(bars(rows))
    st.caption(
        _(
            "Perplexity; lower is better. On new text of its kind, the model hesitates between about {n} "
            "characters each time."
        ).format(n=choices(perplexity))
    )


def bars(rows: Sequence[tuple[str, float, str]]) -> str:
    """HTML of rows (name, perplexity, its text) with bars, the first bold; a bar's length is log2 of the
    perplexity.
    """
    bits = [math.log2(value) if value > 1 and math.isfinite(value) else 0.0 for _name, value, _text in rows]
    # Never 0, by which the lengths are divided: all perplexities may be 1.
    max_bits = max([*bits, 1e-9])
    cells = []
    for n, ((name, _value, text), length) in enumerate(zip(rows, bits, strict=True)):
        weight, strength = (600, 0.75) if n == 0 else (400, 0.3)
        cells.append(
            f"<span style='font-weight:{weight}'>{escape(name)}</span>"
            f"<span style='font-weight:{weight};text-align:right;font-variant-numeric:tabular-nums'>"
            f"{escape(text)}</span>"
            f"<span aria-hidden='true' style='height:.5em;border-radius:2px;background:currentColor;"
            f"opacity:{strength};width:{100 * length / max_bits:.1f}%'></span>"
        )
    style = (
        "display:grid;grid-template-columns:auto auto 1fr;gap:.15rem .6rem;align-items:center;font-size:.9rem"
    )
    return f"<div style='{style}'>{''.join(cells)}</div>"


def choose_temperature() -> float:
    """Draw the choice of the temperature of sampled continuations, and return it."""
    value = st.slider(
        _("Temperature"),
        0.2,
        1.6,
        DEFAULT_TEMPERATURE,
        0.1,
        key="temperature",
        persist_state="session",
        help=_(
            "Used where the network writes on. Below 1 the likely characters become likelier and the text "
            "tamer; 1 samples exactly what the model believes; above 1 it becomes wilder."
        ),
    )
    return float(value)


HEADER_CSS = """
:where(body:has([data-testid="stExpandSidebarButton"])) [data-testid="stMainBlockContainer"] {
  padding-top: 3.8rem;
}
@media (max-width: 760px) { [data-testid="stHeader"] { background: var(--st-background-color, Canvas); } }
"""
"""CSS of a page with a heading: while the sidebar is closed, Streamlit's buttons would cover it."""


def add_styles() -> None:
    """Add CSS: a tighter sidebar on a low screen, whose last row, the language and Share, stays in view;
    buttons that are readable, hovered or not, and large enough; a visible focus.
    """
    # The test ids are the only names in Streamlit's page that its releases keep (1.67); classes are
    # generated.
    st.html(
        """<style>[data-testid="stLayoutWrapper"]:has(> .st-key-always) {
          position: sticky; bottom: 0; z-index: 1; padding-block: 0.5rem;
          background: light-dark(#f6f8f9, #182127);  /* the sidebar's own, of .streamlit/config.toml */
        }
        @media (max-height: 760px) {
        [data-testid="stSidebarUserContent"] [data-testid="stVerticalBlock"] { gap: 0.4rem; }
        [data-testid="stSidebarUserContent"] { padding-bottom: 0.25rem; }
        }
        [data-testid="stApp"] button[kind^="primary"]:not(:disabled),
        [data-testid="stMultiSelect"] span[title] {
          color: light-dark(#ffffff, #0a141b);
        }
        [data-testid="stApp"] button[kind^="primary"]:hover:not(:disabled) { color: #ffffff; }
        [data-testid="stApp"] [role="radio"][aria-checked="true"]:hover,
        [data-testid="stApp"] [role="radio"][aria-checked="true"]:hover p {
          color: light-dark(#084e64, #9ad6e8);
        }
        [data-testid="stMultiSelect"] button[data-rac] { min-width: 24px; min-height: 24px; }
        [data-testid="stApp"] :is(button, a, summary, [tabindex="0"]):focus-visible {
          outline: 2px solid light-dark(#0b6a88, #5cc0de);
          outline-offset: 1px;
        }
        [data-testid="stApp"] main:focus-visible { outline-offset: -2px; }
        </style>"""
    )


def device(model: Model) -> str:
    """The model's device: "CPU", or the GPU's name."""
    return getattr(model, "device_name", "CPU")


def card_in_words(card: Mapping[str, Any]) -> Iterator[str]:
    """Sentences on the model's training, safe as Markdown, in the order of a reader's questions.

    Entries that are missing or invalid are left out.
    """
    # A card comes with a model's file, which may be anybody's: each entry is checked before it is shown.
    recipe = card.get("recipe")
    recipe = recipe if isinstance(recipe, dict) else {}
    if numbers := _numbers(card, "characters"):
        count, part = f"{numbers[0]:,.0f}", re.fullmatch(r"first (\d+) %", str(card.get("trained_on")))
        if part:
            yield _("Trained on the first {percent} % of a text of {count} characters.").format(
                percent=part[1], count=count
            )
        else:
            yield _("Trained on a text of {count} characters.").format(count=count)
    if rows := model_card.sound_candidates(card.get("choice")):
        yield ngettext(
            "Its settings come from {n} candidate, by its perplexity on validation text: {list}.",
            "Its settings were chosen among {n} candidates, by their perplexity on validation text: {list}.",
            len(rows),
        ).format(n=len(rows), list="; ".join(map(_candidate, rows)))
    if numbers := _numbers(recipe, "epochs", "batch", "steps"):
        epochs, batch, steps = numbers
        yield _(
            "It read that text {epochs} times, with batch size {batch}; every update looks "
            "back {steps} characters."
        ).format(epochs=f"{epochs:g}", batch=f"{batch:.0f}", steps=f"{steps:.0f}")
    # `any`: a share of 0 is left out like a missing one.
    if any(numbers := _numbers(recipe, "fresh_rows")):
        yield _(
            "In every update, {percent} % of the batch began at a random paragraph, with an empty state, "
            "just like the text you type."
        ).format(percent=f"{100 * numbers[0]:.0f}")
    if numbers := _numbers(recipe, "learning_rate"):
        optimiser = {"sgd": "SGD", "momentum": _("SGD with momentum")}.get(str(recipe.get("optimiser")))
        yield (
            _("{optimiser} with a learning rate of {rate} throughout.")
            if optimiser
            else _("AdamW with a learning rate of up to {rate}, falling to almost nothing by the end.")
        ).format(optimiser=optimiser, rate=f"{numbers[0]:g}")
    if numbers := _numbers(recipe, "clip"):
        yield _("Gradients clipped at {clip}.").format(clip=f"{numbers[0]:g}")
    if used := list(_dropout(recipe)):
        yield _("Regularisation by dropout: {list}.").format(list=_(", ").join(used))
    if numbers := _numbers(card, "training_seconds"):
        if numbers[0] < 90:
            n = max(1, round(numbers[0]))
            yield ngettext("Training took {n} second.", "Training took {n} seconds.", n).format(n=n)
        else:
            n = round(numbers[0] / 60)
            yield ngettext("Training took {n} minute.", "Training took {n} minutes.", n).format(n=n)
    if isinstance(versions := card.get("versions"), dict) and versions:
        named = [f"{plain(str(k))} {plain(str(v))}" for k, v in versions.items()]
        yield _("Versions: {list}.").format(list=_(", ").join(named))


def _numbers(facts: Mapping[str, Any], *names: str) -> list[float]:
    """The values of these entries; [] if one of them is no number."""
    # JSON's true is an int in Python, but no number of a card.
    values = [facts.get(name) for name in names]
    if any(isinstance(v, bool) or not isinstance(v, int | float) for v in values):
        return []
    return [float(v) for v in values if v is not None]


def _candidate(row: Mapping[str, Any]) -> str:
    """A row of the comparison of settings, in bold if it was chosen."""
    bold = "**" if row.get("chosen") is True else ""
    settings = plain(model_card.settings_in_words(row["settings"]))
    return f"{bold}{settings}: {row['validation_perplexity']:,.2f}{bold}"


def _dropout(recipe: Mapping[str, Any]) -> Iterator[str]:
    """Each kind of dropout that the recipe uses, with its share."""
    for place, name in (
        (_("the output"), "dropout_output"),
        (_("what goes from layer to layer"), "dropout_layer"),
        (_("the recurrent weights"), "dropout_weight"),
        (_("whole characters"), "dropout_embedding"),
    ):
        if any(numbers := _numbers(recipe, name)):
            yield _("{percent} % of {what}").format(percent=f"{100 * numbers[0]:g}", what=place)
