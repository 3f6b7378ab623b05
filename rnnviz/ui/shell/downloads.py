"""What a reader takes home: any file, a model's, and a network as a PyTorch program."""

import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import add_script_run_ctx

from rnnviz.i18n import _
from rnnviz.networks import checkpoint, modelfile


def button(label: str, make: Callable[[], bytes], name: str, kind: str, **appearance: Any) -> None:
    """Draw a button for a file, which `make` makes at the click, without a run of the page.

    name        the file's name
    kind        its MIME type
    appearance  what else `st.download_button` takes

    Streamlit deletes such a file once two runs have ended, of whatever page and reader, and a busy browser
    may ask for it later. So the newest file stays in memory until the next is made.
    """
    # A session that no run belongs to: what it uses is in use whatever page ends.
    downloads: Any = SimpleNamespace(session_id="downloads")

    def make_and_keep() -> bytes:
        data = make()
        if not runtime.exists():  # nothing is served
            return data
        keep = runtime.get_instance().media_file_mgr.add
        # Streamlit reads the session off the thread. This one is a pool's and goes on to other work.
        thread = threading.Thread(target=keep, args=(data, kind, "newest", name, True))
        add_script_run_ctx(thread, downloads)
        thread.start()
        thread.join()
        return data

    st.download_button(label, make_and_keep, name, kind, on_click="ignore", **appearance)


def model_buttons(path: Path, name: str, key: str, *, network: bool = True) -> None:
    """Draw the buttons that download a model's file under `name` and, of a network, its program.

    key  begins the keys of both buttons
    """
    file = f"{name}{modelfile.SUFFIX}"

    def program() -> bytes:
        # Imported at the click: few readers export, and it takes the templates' library.
        from rnnviz.figures import torch_network

        return torch_network.program(checkpoint.load_numpy(path), file).encode()

    button(
        _("Download"),
        # A function: the file is read at the click, not each time the page is drawn.
        path.read_bytes,
        file,
        "application/octet-stream",
        icon=":material/download:",
        key=f"{key}-download",
        help=_("The model as one file, for this app on any machine."),
    )
    if network:
        button(
            _("Export as PyTorch"),
            program,
            # No name that Python would import in place of a library's.
            f"{name}_torch.py",
            "text/x-python",
            icon=":material/code:",
            key=f"{key}-torch",
            help=_(
                "This network in at most 80 lines of Python, which need torch and safetensors, not rnnviz. "
                "They read the file from **Download**: put both into one folder."
            ),
        )
