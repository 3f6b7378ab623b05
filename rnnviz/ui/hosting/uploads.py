"""What has been uploaded: Streamlit holds it as long as the session, whether a page looks at it or not."""

from typing import Any

from streamlit import runtime

from rnnviz.ui.hosting import user


def _files() -> Any:
    """Streamlit's own, whose protocol names neither its storage nor the removal of one file."""
    return runtime.get_instance().uploaded_file_mgr


def held(session: str) -> int:
    """Bytes that a session has uploaded."""
    if not runtime.exists():
        return 0
    return sum(len(file.data) for file in list(_files().file_storage.get(session, {}).values()))


def holding() -> list[str]:
    """The sessions that have uploaded something, whether their pages have ever run or not."""
    return list(_files().file_storage)


def drop(file: str) -> None:
    """This session's page has done with an upload: the server lets go of it."""
    if runtime.exists():
        _files().remove_file(user.session(), file)


def drop_all() -> None:
    """The same of all uploads of this session."""
    if runtime.exists():
        _files().remove_session_files(user.session())
