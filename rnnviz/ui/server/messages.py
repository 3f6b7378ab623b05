"""Messages that wait to be sent to a browser: the address of an upload stays among them."""

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import app_session
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue


class Queue(ForwardMsgQueue):
    """Streamlit's queue of a session. When the script starts anew it drops what the run before wanted shown,
    and with it, as of 1.67, the answer to "where do I send this file": the browser waits for that for ever.
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
    """Give every session from now on such a queue."""
    app_session.ForwardMsgQueue = Queue  # type: ignore[attr-defined]


def _is_address(message: ForwardMsg) -> bool:
    return message.WhichOneof("type") == "file_urls_response"
