"""A model trained elsewhere: checked like any untrusted file, and added to the models."""

import tempfile
from pathlib import Path

import streamlit as st

from rnnviz.errors import CheckpointError, RnnvizError
from rnnviz.i18n import _
from rnnviz.lab.pages.train.training_text import file_name
from rnnviz.networks import checkpoint, modelfile
from rnnviz.ui.shell import error_messages
from rnnviz.ui.shell.error_messages import plain


def show() -> None:
    """Draw the upload field, a name for the model, and the button that saves it."""
    st.caption(
        _(
            "A `.safetensors` file that this app made, here or on another machine. It holds numbers and a "
            "card; nothing in it is run."
        )
    )
    file = st.file_uploader(_("Model file"), type=["safetensors"], key="train-add")
    if file is None:
        return
    usual, key = file_name(Path(file.name).stem), f"train-add-name.{file.file_id}"
    name = st.text_input(_("Name of the model"), usual, key=key)
    if not st.button(_("Save among the models"), key="train-add-save", icon=":material/save:"):
        return
    try:
        path = save(file.getvalue(), name.strip())
    except RnnvizError as error:
        error_messages.show(error)
    else:
        st.success(_("Saved. The model picker lists it as **{name}**.").format(name=plain(path.stem)))


def save(data: bytes, name: str) -> Path:
    """Add an uploaded file to the models and return its path.

    Raises CheckpointError for a damaged file and an invalid or taken name.
    """
    target = checkpoint.folders()[0] / f"{modelfile.check_name(name)}{modelfile.SUFFIX}"
    if any((folder / target.name).exists() for folder in checkpoint.folders()):
        raise CheckpointError("there is a model called {name!r} already; choose another name", name=name)
    with tempfile.TemporaryDirectory(prefix="rnnviz-") as folder:
        path = Path(folder) / target.name
        path.write_bytes(data)
        checkpoint.load_numpy(path)  # a check of the whole file: the weights too, not the header alone
        return modelfile.copy(path, target)
