"""Actions on the run on the stage: stop, resume, delete, keep, download, explore."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from rnnviz.errors import RnnvizError
from rnnviz.i18n import _
from rnnviz.networks import checkpoint, modelfile
from rnnviz.runs import api as runs
from rnnviz.runs.folder import VISITOR, RunFolder
from rnnviz.text import files
from rnnviz.ui import trouble
from rnnviz.ui.hosting import allowed
from rnnviz.ui.pages.explore import words as explore_words
from rnnviz.ui.pages.inside import words as inside
from rnnviz.ui.pages.train import words as say
from rnnviz.ui.pages.train.subject import Subject, called
from rnnviz.ui.trouble import plain

_TROUBLE, _STOPPING = "train.trouble", "train.stopping"


def show(subject: Subject, explore: Any) -> None:
    """Name, state and buttons; below them what went wrong with the last click."""
    stopping = st.session_state.get(_STOPPING) == subject.id and subject.alive
    state = _("stopping …") if stopping else say.state(subject.state)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="train-toolbar"):
        st.markdown(
            f"## {plain(called(subject.id))}\n"
            f"{say.ICONS.get(subject.state, '')} **{state}** · "
            + (_("logged by another program") if subject.logged else say.kind(subject.config))
            + (
                f" · {plain(text, files.LONGEST_NAME)}"
                if (text := str(subject.description.get("title") or ""))
                else ""
            )
            + (f" · {whose}" if (whose := _whose(subject)) else ""),
            width="stretch",
        )
        if subject.run is not None:
            _of_run(subject.run, explore, stopping)
        elif st.button(_("Open in Explore"), icon=":material/waves:", key="train-explore", type="primary"):
            st.switch_page(explore, query_params={"model": subject.name})
    if said := _found(subject):
        st.markdown(said)
    if (error := st.session_state.pop(_TROUBLE, None)) is not None:
        trouble.show(error)


def _found(subject: Subject) -> str:
    """What the units of the finished model were found to follow, with which Explore opens; or why nothing."""
    try:
        path = checkpoint.find(subject.name) if subject.run is None else file_of(subject.run)
        card = checkpoint.read_info(path).card if path is not None else {}
    except RnnvizError:  # the toolbar's buttons say so once they are pressed
        return ""
    if said := inside.found(card):
        return said + " " + _("Explore opens on the first.")
    return explore_words.unnamed(card)


def _whose(subject: Subject) -> str:
    """Whose run it is, where that says what can be done with it."""
    if subject.run is None:
        return ""
    if subject.run.owner:
        return _("yours: only you and the lecturer see it") if allowed.whose() else _("a visitor's")
    return _("the lecturer's") if allowed.whose() else ""


def _of_run(run: runs.Run, explore: Any, stopping: bool) -> None:
    if not allowed.to_change(run):
        _of_another(run, explore)
        return
    if run.alive:
        waiting = run.state == "waiting"
        st.button(
            _("Leave the queue") if waiting else _("Stop"),
            icon=":material/stop:",
            key="train-stop",
            disabled=stopping,
            help=_("Asks the program that trains it to stop: its loop looks at run.stopping.")
            if run.logged
            else _("It saves its state. Resume continues from there.")
            if allowed.to_resume()
            else _("It ends here. What you see stays until you leave."),
            on_click=_stop,
            args=(run.id,),
        )
        return
    if allowed.to_keep() and (model := file_of(run)) is not None:
        _of_model(run, model, explore)
    if run.state != "finished" and not run.logged and allowed.to_resume():
        st.button(
            _("Resume"), icon=":material/play_arrow:", key="train-resume", on_click=_resume, args=(run.id,)
        )
    _deleting(run)
    if st.session_state.pop("train.again", False):
        st.rerun()


def _of_another(run: runs.Run, explore: Any) -> None:
    """What there is to do with a run of somebody else: look at its model, if that was saved."""
    if (name := _saved(run)) is not None and st.button(
        _("Open in Explore"), icon=":material/waves:", key="train-explore", type="primary"
    ):
        st.switch_page(explore, query_params={"model": name})


def _of_model(run: runs.Run, model: Path, explore: Any) -> None:
    opening = st.button(
        _("Open in Explore"),
        icon=":material/waves:",
        key="train-explore",
        type="primary",
        help=_("Saves the model under its name, and opens it for typing."),
    )
    if opening and (name := _kept(run)) is not None:
        st.switch_page(explore, query_params={"model": name})
    with st.popover(_("Save"), icon=":material/bookmark:", key="train-keep"):
        _keep_form(run)
    st.download_button(
        _("Download"),
        model.read_bytes,
        f"{run.name}{modelfile.SUFFIX}",
        "application/octet-stream",
        icon=":material/download:",
        on_click="ignore",
        key="train-download",
        help=_("The model as one file, for this app on any machine."),
    )


def _deleting(run: runs.Run) -> None:
    # Question and answer are of this run alone: those of another one are other widgets, and closed.
    mine = f"{run.id}.{run.created}"
    with st.popover(_("Delete"), icon=":material/delete:", key=f"train-delete.{mine}"):
        st.markdown(
            _("Delete **{name}**? It can't be restored.").format(name=plain(called(run.id)))
            + (" " + _("A saved model stays.") if allowed.to_keep() else "")
        )
        st.button(
            _("Delete this run"),
            icon=":material/delete:",
            key=f"train-delete-really.{mine}",
            on_click=_delete,
            args=(run.id, run.created),
        )


def _keep_form(run: runs.Run) -> None:
    with st.form("train-keep-form", border=False):
        name = st.text_input(
            _("Name of the model"),
            run.id.removeprefix(VISITOR),
            key=f"train-keep-name.{run.id}",
            help=_("Letters, digits, '.', '_' and '-'."),
        )
        asked = st.form_submit_button(_("Save among the models"), type="primary", icon=":material/save:")
    if asked and (kept := _keep(run, name.strip())) is not None:
        st.success(_("Saved. The model picker lists it as **{name}**.").format(name=plain(kept)))


def _kept(run: runs.Run) -> str | None:
    """The name that the run's model is kept under, kept now if it isn't yet. None if that fails."""
    if (saved := _saved(run)) is not None:
        return saved
    taken = {info.path.stem for info in checkpoint.available()[0]}
    name = run.id.removeprefix(VISITOR)
    return _keep(run, next(n for n in (name, *(f"{name}-{k}" for k in range(2, 10_000))) if n not in taken))


def _saved(run: runs.Run) -> str | None:
    """The name that the run's model is kept under already, as it is now."""
    with contextlib.suppress(OSError, ValueError, RnnvizError):
        name, step = files.read(run.path / "kept", 1000).decode().split()
        if step == str(_step(run)) and checkpoint.find(name):
            return name
    return None


def _keep(run: runs.Run, name: str) -> str | None:
    """The name that the model was kept under; None if it failed, with the reason on the page."""
    try:
        allowed.insist(allowed.to_keep())
        with st.spinner(_("Saving the model …")):
            name = runs.keep(run.id, name).stem
    except RnnvizError as error:
        trouble.show(error)
        return None
    with contextlib.suppress(OSError):  # it is then kept twice, under two names
        (run.path / "kept").write_text(f"{name} {_step(run)}", "utf-8")
    return name


def _step(run: runs.Run) -> int:
    return int((run.last or {}).get("step", 0))


def file_of(run: runs.Run) -> Path | None:
    """The finished model's file, else the best so far, else None."""
    folder = RunFolder(run.path)
    finished = sorted(folder.finished.glob(f"*{modelfile.SUFFIX}")) if run.state == "finished" else []
    return next((path for path in (*finished, folder.best) if path.is_file()), None)


def _stop(id: str) -> None:
    _do(runs.stop, id, allowed.to_change)
    st.session_state[_STOPPING] = id


def _resume(id: str) -> None:
    st.session_state.pop(_STOPPING, None)
    _do(runs.resume, id, lambda run: allowed.to_resume())
    st.session_state["train.again"] = True


def _delete(id: str, created: float) -> None:
    def delete(id: str) -> None:
        runs.delete(id, created=created)
        st.session_state["train.deleted"] = id
        st.session_state["train.again"] = True

    _do(delete, id, allowed.to_change)


def _do(action: Callable[[str], None], id: str, may: Callable[[runs.Run], bool]) -> None:
    try:
        allowed.insist(may(runs.find(id)))
        action(id)
    except RnnvizError as error:
        st.session_state[_TROUBLE] = error
