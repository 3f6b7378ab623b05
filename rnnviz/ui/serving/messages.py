"""A workaround for Streamlit 1.67, which loses the address of an upload at a rerun."""

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import app_session
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue


class Queue(ForwardMsgQueue):
    """A session's queue of messages to its browser.

    When the script reruns, Streamlit's queue drops the messages of the last run. In 1.67 it drops the
    upload's address (`file_urls_response`) too, for which the browser then waits for ever. This one keeps it.
    """

    def clear(
        self, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
    ) -> None:
        before = self._queue
        super().clear(retain_lifecycle_msgs, fragment_ids_this_run)
        if retain_lifecycle_msgs:
            there = {id(message) for message in self._queue}
            self._queue += [one for one in before if _is_address(one) and id(one) not in there]


def keep_addresses() -> None:
    """Replace Streamlit's queue for all sessions that begin from now on."""
    app_session.ForwardMsgQueue = Queue  # type: ignore[attr-defined]


def _is_address(message: ForwardMsg) -> bool:
    return message.WhichOneof("type") == "file_urls_response"
