"""A visitor without a browser: the messages over a WebSocket that Streamlit's page in a browser exchanges."""

import threading
import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any
from urllib.parse import urlsplit

import requests
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect


class Visitor:
    """One tab at `url` on a page, with the address's `query`. Fragments are rerun when they ask for it.

    `cookie` is the Cookie header of its browser; `session` one that it wants to go on with.
    """

    def __init__(
        self, url: str, page: str = "", query: str = "", *, cookie: str = "", session: str = ""
    ) -> None:
        self.url, self.page, self.query = url, page, query
        self.elements: dict[tuple[int, ...], Any] = {}  # what stands on the page, by its place
        self.session = ""
        self.runs = 0  # of the script that have ended
        self._hash = ""  # the page's, as the server calls it
        self._widgets: dict[str, WidgetState] = {}
        self._answers: dict[str, Any] = {}
        self._again: dict[str, tuple[float, float]] = {}  # fragments: every how many seconds, and when next
        self._changed = threading.Condition()
        self._open = ExitStack()
        self._socket = self._open.enter_context(
            connect(
                f"ws://{urlsplit(url).netloc}/_stcore/stream",
                origin=url,  # type: ignore[arg-type]
                subprotocols=["streamlit", *(["none", session] if session else [])],  # type: ignore[list-item]
                additional_headers={"Cookie": cookie} if cookie else None,
                max_size=None,
            )
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self.rerun()

    def leave(self) -> None:
        """Close the tab."""
        self._open.close()
        self._listener.join()

    def rerun(self, fragment: str = "") -> None:
        """Run the script, or one of its fragments, with the widgets as they are."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.fragment_id = self.query, fragment
        state.page_name, state.page_script_hash = self.page, self._hash
        state.is_auto_rerun = bool(fragment)
        state.widget_states.widgets.extend(self._widgets.values())
        state.context_info.locale = "en-GB"
        self._send(message)

    def find(self, kind: str, holds: str = "") -> Any:
        """The first element of a kind, such as "metric", in whose message a text occurs; else None."""
        with self._changed:
            found = [e for _place, e in sorted(self.elements.items()) if e.WhichOneof("type") == kind]
        return next((getattr(e, kind) for e in found if holds in str(e)), None)

    def wait(self, until: Callable[[], Any], timeout: float = 120.0) -> Any:
        """What `until` returns as soon as that is something. Raises TimeoutError."""
        end = time.monotonic() + timeout
        with self._changed:
            while not (found := until()):
                if not self._changed.wait(end - time.monotonic()):
                    raise TimeoutError(f"{self.page} did not come that far within {timeout:g} s")
            return found

    def set(self, id: str, **value: Any) -> None:
        """Give a widget a value, as a reader does, such as set(id, string_value="all")."""
        self._widgets[id] = WidgetState(id=id, **value)
        self.rerun()

    def press(self, id: str) -> None:
        """Press a button."""
        self._widgets[id] = WidgetState(id=id, trigger_value=True)
        self.rerun()
        del self._widgets[id]

    def place_for(self, name: str, timeout: float = 120.0) -> Any:
        """Where a file is to be sent, by the server's answer. Raises TimeoutError."""
        asked = BackMsg()
        asked.file_urls_request.request_id = uuid.uuid4().hex
        asked.file_urls_request.session_id = self.session
        asked.file_urls_request.file_names.append(name)
        self._send(asked)
        return self.wait(lambda: self._answers.pop(asked.file_urls_request.request_id, None), timeout)

    def upload(self, name: str, data: bytes) -> None:
        """Drop a file on the first upload field."""
        field = self.wait(lambda: self.find("file_uploader"))
        urls = self.place_for(name)
        with requests.Session() as browser:
            browser.trust_env = False
            browser.get(f"{self.url}/_stcore/health", timeout=60)
            token = browser.cookies.get("_streamlit_xsrf") or ""
            sent = browser.put(
                self.url + urls.upload_url,
                files={name: (name, data, "text/plain")},
                headers={"X-Xsrftoken": token},
                timeout=60,
            )
            sent.raise_for_status()
        state = self._widgets.setdefault(field.id, WidgetState(id=field.id))
        state.file_uploader_state_value.uploaded_file_info.add(
            name=name, size=len(data), file_id=urls.file_id, file_urls=urls
        )
        self.rerun()

    def _send(self, message: BackMsg) -> None:
        self._socket.send(message.SerializeToString())

    def _listen(self) -> None:
        with suppress(ConnectionClosed):
            while True:
                self._again_when_due()
                due = min((when for _every, when in self._again.values()), default=None)
                try:
                    data = self._socket.recv(None if due is None else max(0.0, due - time.monotonic()))
                except TimeoutError:
                    continue
                message = ForwardMsg()
                message.ParseFromString(data)  # type: ignore[arg-type]
                with self._changed:
                    self._take(message)
                    self._changed.notify_all()

    def _again_when_due(self) -> None:
        now = time.monotonic()
        for fragment, (every, when) in self._again.items():
            if when <= now:
                self._again[fragment] = every, now + every
                self.rerun(fragment)

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.session = message.new_session.initialize.session_id
            self._seen: set[tuple[int, ...]] = set()
            if not message.metadata.run.fragment_ids:
                self._again.clear()
        elif kind == "delta":
            place = tuple(message.metadata.delta_path)
            self._seen.add(place)
            if message.delta.WhichOneof("type") == "new_element":
                self.elements[place] = message.delta.new_element
            elif message.delta.WhichOneof("type") == "add_block":
                self.elements.pop(place, None)
        elif kind == "script_finished":
            self.runs += 1
            if (
                message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
            ):  # the whole script: the rest is gone
                for place in self.elements.keys() - self._seen:
                    del self.elements[place]
        elif kind == "navigation":
            self._hash = message.navigation.page_script_hash
        elif kind == "auto_rerun":
            every = message.auto_rerun.interval
            self._again[message.auto_rerun.fragment_id] = every, time.monotonic() + every
        elif kind == "stop_auto_rerun":
            for fragment in message.stop_auto_rerun.fragment_ids:
                self._again.pop(fragment, None)
        elif kind == "file_urls_response":
            self._answers[message.file_urls_response.response_id] = message.file_urls_response.file_urls[0]
