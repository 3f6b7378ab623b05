"""The live view as one HTML file that needs no server: the app's browser files, a model's weights, and an
engine in JavaScript (`engine.js`, `answers.js`).

    head     a Content-Security-Policy that allows nothing from other origins
    packed   base64 of gzip of `payload.pack`: words, colours, modules and styles
    weights  packed likewise: weights, an n-gram model's tables, and the rows' orders
    plotly   Plotly's file, read after the first picture
    boot.js  the only script in plain text; the policy names its hash

Blocks are separate because only `packed` changes with the app: version control then stores the others once.
"""

import base64
import gzip
import hashlib
import html
import re
import zlib
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.figures.live import quantities
from rnnviz.i18n import _, language
from rnnviz.networks import checkpoint, modelfile
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.page import CELLS, shown_units
from rnnviz.page.initial_data import fixed_part, opening_text
from rnnviz.page.modules import PACKAGE, module_sources, plotly_folder
from rnnviz.page.payload import pack, unpack
from rnnviz.text.characters import NORMALISERS
from rnnviz.text.vocabulary import Vocabulary

# Everything stands in the one file, because a page that a reader saved has no server to fetch from, and a
# browser lets a file: page read no file beside it. In bytes of the page of timemachine-gru: 1.96 MB Plotly,
# 1.36 MB weights, tables and orders, 0.35 MB fonts, 0.11 MB words, modules and styles; 3.8 MB in all.
PAGE_FOLDER = Path(__file__).parent
VIEW_FOLDER = PACKAGE / "ui" / "pages" / "explore" / "static"
KIT_FOLDER = PACKAGE / "ui" / "browser" / "static"

MAX_TABLE_BYTES = 2 << 20
"""Bytes of an n-gram model's tables, at most; a larger model is left out of the page."""

# The network's own predictions: a page has no setting of the app's that could say otherwise.
START_TEMPERATURE = 1.0

# Scripts run from blob: addresses alone, which boot.js makes of the unpacked modules, and boot.js itself by
# its hash. `default-src 'none'` covers connections: what is typed into a page can't leave it. Styles are
# inline, as Plotly sets them on elements.
_POLICY = (
    "default-src 'none'; script-src '{hash}' blob:; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
)
_PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="rnnviz">
<title>{title}</title>
<style>{fonts}{style}</style>
</head>
<body data-failed="{failed}">
<noscript>{noscript}</noscript>
<progress hidden aria-label="{reading}"></progress>
<main>{wait}</main>
<script type="text/plain" id="packed">{packed}</script>
<script type="text/plain" id="weights">{weights}</script>
<script type="text/plain" id="plotly">{plotly}</script>
<script>{begin}</script>
</body>
</html>
"""


def page(info: checkpoint.ModelInfo, yardstick: NgramModel | None = None) -> str:
    """The HTML page of a network, in the session's language; `yardstick` is the n-gram model beside it.

    Raises ConfigError for an n-gram model and for a cell not in CELLS, CheckpointError for a damaged file.
    """
    header, arrays = page_parts(info, yardstick)
    begin = (PAGE_FOLDER / "boot.js").read_text("utf-8")
    # The hash must be of the very bytes between <script> and </script>, or the browser runs nothing.
    digested = base64.b64encode(hashlib.sha256(begin.encode()).digest())
    return _PAGE.format(
        language=language(),
        policy=_POLICY.format(hash=f"sha256-{digested.decode()}"),
        title=html.escape(f"{info.name} · rnnviz"),
        fonts=font_css(),
        style=(PAGE_FOLDER / "page.css").read_text("utf-8"),
        noscript=_("This page needs JavaScript."),
        wait=_("One moment … If nothing else appears here, open this page in a browser of 2023 or later."),
        failed=_("The page has stopped; load it again."),
        reading=_("Reading the text"),
        packed=pack_block(pack(header, {})),
        weights=pack_block(pack({}, arrays)),
        plotly=packed_plotly(),
        begin=begin,
    )


def page_parts(
    info: checkpoint.ModelInfo, yardstick: NgramModel | None = None
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """The contents of a network's page: the header of `packed` and the arrays of `weights`.

    Raises as `page` does.
    """
    model = checkpoint.load_numpy(info.path)
    if not isinstance(model, NumpyModel):
        raise ConfigError("a page shows a network; received the n-gram model {name}", name=model.name)
    if model.config.cell not in CELLS:
        raise ConfigError(
            "a page can show networks of these cells: {cells}; the cell of {name} is {cell}",
            cells=", ".join(CELLS),
            name=model.name,
            cell=model.config.cell,
        )
    tables = table_arrays(yardstick, model.vocabulary)
    static, digest = fixed_part(model, yardstick if tables else None, START_TEMPERATURE)
    static["words"] |= {"limit.link": "", "step.link": ""}  # these link to pages of the app
    static["words"]["waiting"] = _("The page is still reading the text.")
    header = {
        "model": {
            "fixed": static,
            "digest": digest,
            "opening": opening_text(model),
            "config": model.config.to_json(),
            "normaliser": NORMALISERS[model.normaliser],
            "unknownCost": model.vocabulary.unknown_cost,
        },
        "sources": list(module_sources("page/page.js").items()),
        "markup": (VIEW_FOLDER / "view.html").read_text("utf-8"),
        "styles": "".join(
            (folder / name).read_text("utf-8")
            for folder, name in ((KIT_FOLDER, "shared.css"), (VIEW_FOLDER, "view.css"))
        ),
    }
    return header, {**weight_arrays(info.path), **tables, **order_arrays(model)}


def weight_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The file's tensors in their stored precision; float16 as raw <u2, which JavaScript decodes."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    for name, values in sorted(modelfile.read_tensors(path).items()):  # sorted, so that pages are identical
        if name == modelfile.SKETCH:
            continue
        # JavaScript has no array of float16 everywhere (Float16Array is of 2025), so its bits travel as
        # integers.
        half = values.dtype == np.float16
        arrays[f"weight:{name}"] = values.view("<u2") if half else np.asarray(values, "<f4")
    return arrays


def table_arrays(model: NgramModel | None, vocabulary: Vocabulary) -> Mapping[str, npt.NDArray[Any]]:
    """Every level's arrays, see ngram.js; {} if they exceed MAX_TABLE_BYTES or if the vocabulary differs."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    if model is None or model.vocabulary != vocabulary:
        return arrays
    for k, level in enumerate(model.levels):
        # A key numbers a sequence of characters; JavaScript's Uint32Array holds none that is larger.
        if level.keys[:-1].max(initial=0) >= 2**32:  # the last key is a sentinel, larger than any other
            return {}
        arrays[f"level:{k}.keys"] = level.keys.astype("<u4")
        arrays[f"level:{k}.share"] = level.share.astype("<f4")
        arrays[f"level:{k}.backoff"] = level.backoff.astype("<f4")
    return arrays if sum(array.nbytes for array in arrays.values()) <= MAX_TABLE_BYTES else {}


def order_arrays(model: NumpyModel) -> dict[str, npt.NDArray[Any]]:
    named_units = shown_units.named_units(model)
    orders: dict[str, npt.NDArray[Any]] = {
        f"rows:{order},{layer},{quantity}": shown_units.unit_order(
            model, order, layer, quantity, shown_units.named_among(named_units, quantity, layer)
        ).astype("<u2")
        for order in shown_units.ORDERS
        if order != "index"
        for layer in range(model.config.layers)
        for quantity in quantities(model.config.cell)
    }
    return orders | {f"reach:{name}": values for name, values in shown_units.unit_reach(model).items()}


def pack_block(content: bytes) -> str:
    # Without a time inside, the same content gives the same page. Base64 adds a third, but survives every
    # editor, mail program and encoding that the file may pass through.
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


# A packed block: its opening tag, its id, and its base64, which holds no "<".
_BLOCK = re.compile(r'(<script type="text/plain" id="(\w+)">)([^<]*)')


def comparable_page(page: str) -> str:
    """A page with digests in place of its packed blocks: equal for pages of the same contents, because gzip's
    bytes differ between machines.

    The rows' orders and the units' reach are left out: their sums' last digits differ between processors.
    """

    def digest_block(block: re.Match[str]) -> str:
        try:
            content = gzip.decompress(base64.b64decode(block[3]))
            if block[2] == "weights":
                arrays = unpack(content)[1]
                same = {name: arrays[name] for name in arrays if not name.startswith(("rows:", "reach:"))}
                content = pack({}, same)
        except (ValueError, OSError, EOFError, zlib.error):
            return block[0]
        return block[1] + hashlib.sha256(content).hexdigest()

    return _BLOCK.sub(digest_block, page)


@cache
def packed_plotly() -> str:
    """Plotly's file, packed. Raises ConfigError if Plotly isn't installed."""
    return pack_block((plotly_folder() / "plotly.min.js").read_bytes())


def font_css() -> str:
    """CSS with Streamlit's upright fonts embedded; "" if they are not found: the browser's then serve."""
    streamlit_spec = find_spec("streamlit")
    media = (
        Path(cast(str, streamlit_spec.origin)).parent / "static" / "static" / "media"
        if streamlit_spec
        else PAGE_FOLDER
    )
    # The variable fonts, upright only: one file each for all weights. Without them a page would look unlike
    # the app, and its columns of characters would have the widths of another font.
    rules = []
    for family, pattern in (
        ("Source Sans", "SourceSansVF-Upright*.woff2"),
        ("Source Code Pro", "SourceCodeVF-Upright*.woff2"),
    ):
        for file in sorted(media.glob(pattern))[:1]:
            content = base64.b64encode(file.read_bytes()).decode()
            rules.append(
                f'@font-face {{ font-family: "{family}"; font-weight: 200 900; '
                f'src: url("data:font/woff2;base64,{content}") format("woff2"); }}'
            )
    return "\n".join(rules)
