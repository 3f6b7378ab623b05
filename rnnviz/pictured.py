"""What a notebook shows in place of an object's repr. The pictures are drawn by a room above all that are shown,
`rnnviz.notebook.pictures`, which is looked up here when a notebook asks: the only name that points upwards.
"""

from importlib import import_module

PICTURES = "rnnviz.notebook.pictures"


class Pictured:
    """An object with a picture in a notebook: static HTML, without a script."""

    def _repr_html_(self) -> str:
        html: str = import_module(PICTURES).html(self)
        return html
