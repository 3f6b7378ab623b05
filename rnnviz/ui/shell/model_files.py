"""What a reader takes home of a model: its file, and a network as a PyTorch program."""

from pathlib import Path

import streamlit as st

from rnnviz.i18n import _
from rnnviz.networks import checkpoint, modelfile


def buttons(path: Path, name: str, key: str, *, network: bool = True) -> None:
    """Draw the buttons that download a model's file under `name` and, of a network, its program.

    key  begins the keys of both buttons
    """
    file = f"{name}{modelfile.SUFFIX}"

    def program() -> str:
        # Imported at the click: few readers export, and it takes the templates' library.
        from rnnviz.figures import torch_network

        return torch_network.program(checkpoint.load_numpy(path), file)

    st.download_button(
        _("Download"),
        # A function: the file is read at the click, not each time the page is drawn.
        path.read_bytes,
        file,
        "application/octet-stream",
        icon=":material/download:",
        on_click="ignore",
        key=f"{key}-download",
        help=_("The model as one file, for this app on any machine."),
    )
    if network:
        st.download_button(
            _("Export as PyTorch"),
            program,
            # No name that Python would import in place of a library's.
            f"{name}_torch.py",
            "text/x-python",
            icon=":material/code:",
            on_click="ignore",
            key=f"{key}-torch",
            help=_(
                "This network in at most 80 lines of Python, which need torch and safetensors, not rnnviz. "
                "They read the file from **Download**: put both into one folder."
            ),
        )
