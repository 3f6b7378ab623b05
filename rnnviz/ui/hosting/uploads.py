"""Uploaded files. Streamlit holds them as long as their session, whether a page uses them or not."""

from typing import Any

from streamlit import runtime

from rnnviz.ui.hosting import user


def _files() -> Any:
    """Streamlit's upload manager, as Any: its protocol lacks `file_storage` and `remove_file`."""
    return runtime.get_instance().uploaded_file_mgr


def held(session: str) -> int:
    """Bytes that a session has uploaded."""
    if not runtime.exists():
        return 0
    return sum(len(file.data) for file in list(_files().file_storage.get(session, {}).values()))


def holding() -> list[str]:
    """The ids of all sessions with uploads, even if the script has never run in them."""
    return list(_files().file_storage)


def drop(file: str) -> None:
    """Remove an upload of this session, by its file id, from the server's memory."""
    if runtime.exists():
        _files().remove_file(user.session(), file)


def drop_all() -> None:
    """Remove all uploads of this session from the server's memory."""
    if runtime.exists():
        _files().remove_session_files(user.session())
