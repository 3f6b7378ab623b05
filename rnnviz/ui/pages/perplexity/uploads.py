"""Uploaded files, kept while the reader visits other pages; Streamlit's own field would drop them."""

from typing import Any

import streamlit as st

from rnnviz.i18n import _
from rnnviz.ui.jobs import clear_data
from rnnviz.ui.shell import address
from rnnviz.ui.shell.error_messages import plain

FIELD = "files"
NAMED = 80  # characters of the files' names in the address
# Keys of st.session_state.
_FOLDER = "perplexity.folder"  # whether the field takes a folder, not files
_KEPT = "perplexity.uploads"  # files by id
_EMPTIED = "perplexity.uploads.emptied"  # how often the field listed files that the server had lost
_GONE = "perplexity.uploads.gone"  # names of files that the server has lost
_SHOWN = "perplexity.uploads.shown"  # ids of the files that the field lists


def files() -> list[Any]:
    """Draw the upload field and, below it, earlier uploads. Returns all files."""
    state = st.session_state
    folder = state.get(_FOLDER, False)
    field = _field()
    given = st.file_uploader(
        _("A folder with text files") if folder else _("Text files: drop them here or choose them"),
        accept_multiple_files="directory" if folder else True,
        key=field,
        on_change=_changed,
        help=_("Plain text in any language and encoding. Files stay on the machine that runs this app."),
    )
    st.toggle(_("Upload a folder"), key=_FOLDER, persist_state="session")
    if lost(state[field]):
        _take(given)
        state[_EMPTIED] = state.get(_EMPTIED, 0) + 1  # a new field, which doesn't list the lost files
        state.setdefault(_GONE, _("Your files"))
        st.rerun()
    _take(given)
    kept: dict[str, Any] = state[_KEPT]
    if named := address.asked("files"):
        state[_GONE] = named
    if kept:
        state.pop(_GONE, None)
    if _GONE in state:
        said = _("**{names}**: not here any more. Files don't outlast a reload; upload them again.")
        st.warning(said.format(names=plain(state[_GONE], NAMED)), icon=":material/upload_file:")
    address.say(files=", ".join(file.name for file in kept.values())[:NAMED] or None)
    earlier = [file for id, file in kept.items() if id not in state[_SHOWN]]
    if earlier:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(_("Uploaded before:"), width="content")
            for file in earlier:
                st.button(
                    plain(file.name),
                    key=f"forget-{file.file_id}",
                    icon=":material/close:",
                    help=_("Remove this file"),
                    on_click=_drop,
                    args=(file.file_id,),
                )
    return [file for file in (*earlier, *given) if not _hidden(file)]


def _hidden(file: Any) -> bool:
    """Whether a file in an uploaded folder, or a folder on its path, is hidden, as system files are."""
    return any(part.startswith(".") for part in file.name.split("/")[1:])


def _field() -> str:
    name = clear_data.fresh(f"{FIELD}.folder" if st.session_state.get(_FOLDER) else FIELD)
    return f"{name}.{emptied}" if (emptied := st.session_state.get(_EMPTIED)) else name


def lost(given: list[Any]) -> bool:
    """Whether the browser lists files that the server has lost, as after a restart."""
    return any(not hasattr(file, "getvalue") for file in given)


def _drop(id: str) -> None:
    st.session_state[_KEPT].pop(id, None)
    clear_data.drop(id)


def _changed() -> None:
    given = [file for file in st.session_state[_field()] or [] if not lost([file])]
    gone = st.session_state.get(_SHOWN, set()) - {file.file_id for file in given}
    for id in gone:
        st.session_state[_KEPT].pop(id, None)


def _take(given: list[Any]) -> None:
    state = st.session_state
    state[_SHOWN] = {file.file_id for file in given}
    state.setdefault(_KEPT, {}).update({file.file_id: file for file in given})
