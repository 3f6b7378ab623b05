"""A model trained elsewhere: checked like any untrusted file, and added to the models."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from rnnviz.errors import CheckpointError, RnnvizError
from rnnviz.i18n import _
from rnnviz.networks import checkpoint, modelfile
from rnnviz.text.files import LONGEST_NAME
from rnnviz.ui import trouble
from rnnviz.ui.hosting import allowed
from rnnviz.ui.pages.train.texts import file_name
from rnnviz.ui.trouble import plain


def show() -> None:
    """The upload, what it is, and a name to save it under."""
    allowed.insist(allowed.to_bring())
    st.caption(
        _(
            "A `.safetensors` file that this app made, here or on another machine. It holds numbers and a "
            "card; nothing in it is run."
        )
    )
    file = st.file_uploader(_("Model file"), type=["safetensors"], key="train-bring")
    if file is None:
        return
    try:
        info = _checked(file.file_id, file.name, file.getvalue())
    except RnnvizError as error:
        trouble.show(error)
        return
    st.success(
        _("**{name}** is a sound {kind} model with {n} characters in its vocabulary.").format(
            name=plain(file.name, LONGEST_NAME),
            kind=plain(info.kind.upper()),
            n=f"{max(0, info.vocabulary_size - 1):,}",
        ),
        icon=":material/verified:",
    )
    with st.form("train-bring-form", border=False):
        name = st.text_input(
            _("Name of the model"), file_name(Path(file.name).stem), key=f"train-bring-name.{file.file_id}"
        )
        asked = st.form_submit_button(_("Save among the models"), type="primary", icon=":material/save:")
    if asked:
        try:
            path = save(file.getvalue(), name.strip())
        except RnnvizError as error:
            trouble.show(error)
        else:
            st.success(_("Saved. The model picker lists it as **{name}**.").format(name=plain(path.stem)))


@contextmanager
def _written(data: bytes, name: str) -> Iterator[Path]:
    """An uploaded model as a file, its weights read once. Raises CheckpointError."""
    with tempfile.TemporaryDirectory(prefix="rnnviz-") as folder:
        path = Path(folder) / f"{name}{modelfile.SUFFIX}"
        path.write_bytes(data)
        checkpoint.load_numpy(path)
        yield path


def _checked(id: str, name: str, data: bytes) -> checkpoint.ModelInfo:
    """What an uploaded file is. Raises CheckpointError."""
    kept: dict[str, checkpoint.ModelInfo] = st.session_state.setdefault("train.brought", {})
    if id not in kept:
        kept.clear()
        # The name without anything that could lead to another folder.
        stem = os.path.basename(name.replace("\\", "/")).removesuffix(modelfile.SUFFIX)
        with _written(data, file_name(stem)) as path:
            kept[id] = checkpoint.read_info(path)
    return kept[id]


def save(data: bytes, name: str) -> Path:
    """Add an uploaded file to the models. Raises CheckpointError for a bad or taken name, ConfigError where
    this person may not.
    """
    allowed.insist(allowed.to_bring())
    target = checkpoint.folders()[0] / f"{modelfile.check_name(name)}{modelfile.SUFFIX}"
    if any((folder / target.name).exists() for folder in checkpoint.folders()):
        raise CheckpointError("there is a model called {name!r} already; choose another name", name=name)
    with _written(data, name) as path:
        return modelfile.copy(path, target)
