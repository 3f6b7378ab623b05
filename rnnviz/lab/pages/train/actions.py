"""The actions on the run in view: stop, resume, delete, download, open in Explore."""

import contextlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from rnnviz.errors import RnnvizError
from rnnviz.i18n import _
from rnnviz.lab.pages.train import run_words
from rnnviz.lab.pages.train.selected_run import RUN, SelectedRun, run_name
from rnnviz.lab.run import runs
from rnnviz.lab.run.folder import RunFolder
from rnnviz.networks import checkpoint, modelfile
from rnnviz.page import shown_units
from rnnviz.text import files
from rnnviz.ui.shell import downloads, error_messages
from rnnviz.ui.shell.error_messages import plain

_TROUBLE = "train.trouble"  # a key of st.session_state: the error of the last click, for the next run


def show(selected: SelectedRun, explore: Any) -> None:
    """Draw the run's name, state and buttons; below them the findings on its units and the last click's
    error.
    """
    run = selected.run
    stopping = run is not None and run.alive and RunFolder(run.path).stop.exists()
    # After Stop the run still ends its step and saves: the file `stop` tells that it was asked.
    state = _("stopping …") if stopping else run_words.state_word(selected.state)
    facts = (
        f"{run_words.ICONS[selected.state]} **{state}**",
        _("logged by another program") if run is not None and run.logged else run_words.kind(selected.config),
        plain(str(selected.description.get("title") or ""), files.MAX_NAME_CHARS),
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="train-toolbar"):
        st.markdown(f"## {plain(run_name(selected.id))}\n" + " · ".join(filter(None, facts)), width="stretch")
        if run is None:
            _explore(explore, lambda: run_name(selected.id))
        elif run.alive:
            _stop_button(run, stopping)
        else:
            _ended_buttons(run, explore)
    if sentence := _unit_sentence(selected):
        st.markdown(sentence)
    # A click's callback runs before the page is drawn, and so leaves its error here. Popped, so that it
    # shows once.
    if (error := st.session_state.pop(_TROUBLE, None)) is not None:
        error_messages.show_error(error)


def _unit_sentence(selected: SelectedRun) -> str:
    """The sentence on the finished model's named units, or on the reason why it has none; "" before that."""
    try:
        path = checkpoint.find(run_name(selected.id)) if selected.run is None else model_file(selected.run)
        card = checkpoint.read_info(path).card if path is not None else {}
    except RnnvizError:  # a damaged or missing file: the buttons show the error once they are pressed
        return ""
    targets = shown_units.followed_targets(card)
    if not targets:
        return shown_units.unnamed_targets(card)
    return targets + " " + _("Explore opens on the first of them.")


def _explore(explore: Any, name: Callable[[], str | None], help: str | None = None) -> None:
    """Draw the button that opens a model. `name` is called at the click: it may save the model first, and
    returns None if that fails.
    """
    pressed = st.button(
        _("Open in Explore"), icon=":material/waves:", key="train-explore", type="primary", help=help
    )
    if pressed and (model := name()) is not None:
        st.switch_page(explore, query_params={"model": model})


def _stop_button(run: runs.Run, stopping: bool) -> None:
    if run.logged:
        help = _("Asks the program that trains it to stop: its loop looks at run.stopping.")
    else:
        help = _("It saves its state. Resume continues from there.")
    st.button(
        _("Leave the queue") if run.state == "waiting" else _("Stop"),
        icon=":material/stop:",
        key="train-stop",
        disabled=stopping,
        help=help,
        on_click=_do,
        args=(runs.stop, run.id),
    )


def _ended_buttons(run: runs.Run, explore: Any) -> None:
    if (model := model_file(run)) is not None:
        _explore(
            explore,
            partial(_saved_name, run),
            _("Saves the model under the run's name, and opens it for typing."),
        )
        downloads.model_buttons(model, run.name, "train")
    if run.state not in ("finished", "diverged") and not run.logged:
        st.button(
            _("Resume"),
            icon=":material/play_arrow:",
            key="train-resume",
            on_click=_do,
            args=(runs.resume, run.id),
        )
    # Keys of this run alone: with shared keys, an open question would carry over to the next run in view.
    mine = f"{run.id}.{run.created}"
    with st.popover(_("Delete"), icon=":material/delete:", key=f"train-delete.{mine}"):
        st.markdown(
            _("Delete **{name}**? It can't be restored.").format(name=plain(run_name(run.id)))
            + " "
            + _("A saved model stays.")
        )
        st.button(
            _("Delete this run"),
            icon=":material/delete:",
            key=f"train-delete-really.{mine}",
            on_click=_delete,
            args=(run.id, run.created),
        )


def _saved_name(run: runs.Run) -> str | None:
    """The name of the run's saved model, saved now if it isn't yet. Shows an error and returns None if that
    fails.
    """
    if (saved := _current_save(run)) is not None:
        return saved
    taken_names = {info.path.stem for info in checkpoint.available()[0]}
    free = next(n for n in (run.id, *(f"{run.id}-{k}" for k in range(2, 10_000))) if n not in taken_names)
    try:
        with st.spinner(_("Saving the model …")):
            runs.keep(run.id, free)
    except RnnvizError as error:
        error_messages.show_error(error)
        return None
    with contextlib.suppress(OSError):  # without this record, the next click saves the model again
        (run.path / "kept").write_text(f"{free} {_step(run)}", "utf-8")
    return free


def _current_save(run: runs.Run) -> str | None:
    """The name of the run's saved model, if it was saved at the run's present step; else None."""
    with contextlib.suppress(OSError, ValueError, RnnvizError):
        name, step = files.read(run.path / "kept", 1000).decode().split()
        if step == _step(run) and checkpoint.find(name):
            return name
    return None


def _step(run: runs.Run) -> str:
    return str((run.progress or {}).get("step", 0))


def model_file(run: runs.Run) -> Path | None:
    """The file of the finished model, else of the best so far, else None."""
    folder = RunFolder(run.path)
    finished = sorted(folder.finished.glob(f"*{modelfile.SUFFIX}")) if run.state == "finished" else []
    return next((path for path in (*finished, folder.best) if path.is_file()), None)


def _delete(id: str, created: float) -> None:
    _do(partial(runs.delete, created=created), id)
    if _TROUBLE not in st.session_state:
        RUN.request(None)  # else the page would warn that the chosen run is missing


def _do(action: Callable[[str], None], id: str) -> None:
    try:
        action(id)
    except RnnvizError as error:
        st.session_state[_TROUBLE] = error
