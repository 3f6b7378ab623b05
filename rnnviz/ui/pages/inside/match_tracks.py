"""The annotations beside the matches: a reader's own, and what can be found in a text by rule."""

from __future__ import annotations

import hashlib
import io
from itertools import repeat
from typing import TYPE_CHECKING, Any

import streamlit as st

from rnnviz import units
from rnnviz.errors import RnnvizError
from rnnviz.text.characters import visible
from rnnviz.ui import forgetting
from rnnviz.ui.hosting import allowed
from rnnviz.ui.i18n import _
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.pages.inside import words
from rnnviz.ui.pages.inside.common import kept
from rnnviz.ui.pages.inside.dashboard import TRACKS
from rnnviz.ui.trouble import describe

if TYPE_CHECKING:
    from rnnviz.ui.pages.inside.indexing import Indexed
    from rnnviz.units import Target
    from rnnviz.units.match_controls import Controls, Share
    from rnnviz.units.match_untrained import Compared, Untrained

LONGEST = 30  # characters of an ending that are named


def pick(indexed: Indexed, which: Any, own: Any) -> tuple[list[Target], str]:
    """The tracks that the reader chose in the places `which` and `own` of the page, and what identifies
    them.
    """
    file = own.file_uploader(
        _("Annotations of your own"),
        type=["csv", "json"],
        key=forgetting.fresh("inside.match.annotations"),
        max_upload_size=allowed.megabytes(),
        help=_(
            "A CSV file with the columns start, stop and label, or a JSON list of objects with these. "
            "Characters are counted from 0; stop is the first one after the span."
        ),
    )
    mine: dict[str, Target] = {}
    mark = ""
    if file is not None and not allowed.to_read(file.size):
        own.warning(_("A visitor's text has at most {size} MB.").format(size=allowed.megabytes()))
    elif file is not None:
        data = file.getvalue()
        mark = hashlib.sha256(data).hexdigest()
        try:
            read = kept(
                Key("annotations", mark, indexed.whole),
                lambda: units.read_annotations(io.BytesIO(data), indexed.whole),
            )
            mine = {track.name: track for track in read}
        except RnnvizError as error:
            own.warning(describe(error), icon=":material/error:")
    named = {f"own {name}": name for name in mine} | {
        name: about for name, about in words.targets(python=True).items() if name in indexed.targets
    }
    usual = "py-string" if "py-string" in named else "quotes"
    chosen = which.multiselect(
        _("Annotations to show"),
        list(named),
        default=[f"own {name}" for name in mine][:TRACKS] or [usual],
        key=f"inside.match.tracks.{usual}.{' '.join(mine)}",
        format_func=named.__getitem__,
        max_selections=TRACKS,
        persist_state="session",
    )
    tracks = {**indexed.targets, **{f"own {name}": track for name, track in mine.items()}}
    return [units.Target(named[name], tracks[name].values) for name in chosen], f"{mark} {chosen}"


def table(controls: Controls, untrained: Untrained | None) -> None:
    """What the matches have in common, beside what simpler things have, and untrained copies' matches."""
    ending = "".join(map(visible, controls.ending))
    rows = [
        _line(name, share, ending, compared, untrained)
        for name, share, compared in zip(
            [_ends(controls.whole.name), _ends(controls.ends.name), *(one.name for one in controls.tracks)],
            [controls.whole, controls.ends, *controls.tracks],
            untrained.shares if untrained is not None else repeat(None),
            strict=False,
        )
    ]
    if controls.ending == controls.whole.name:
        del rows[1]
    st.dataframe(rows, hide_index=True, width="content")
    st.caption(
        _(
            "What to notice: if most matches end in the passage itself, the units may follow its characters "
            "and nothing more. An annotation means something only if it is much rarer after the same last "
            "characters, in the whole text, and in the untrained copies' matches. Not shown: other passages; "
            "and {n} matches are few."
        ).format(n=controls.ends.matches)
    )


def _ends(text: str) -> str:
    shown = "".join(map(visible, text))
    return _("ends in “{text}”").format(text=shown if len(shown) <= LONGEST else f"…{shown[-LONGEST:]}")


def _line(
    name: str, share: Share, ending: str, compared: Compared | None, untrained: Untrained | None
) -> dict[str, str]:
    line = {
        _("what holds at the last character"): name,
        _("in the matches"): _("{n} of {all}").format(n=share.inside, all=share.matches),
        _("after any “{text}”").format(text=ending): ""
        if share.same is None
        else f"{100 * share.same:.1f} %",
        _("in the whole text"): f"{100 * share.everywhere:.2f} %",
    }
    if compared is None or untrained is None:
        return line
    return line | {
        _("matches, first {n} characters").format(n=f"{untrained.characters:,}"): _("{n} of {all}").format(
            n=compared.own, all=untrained.own
        ),
        _("there, untrained copies"): _("{n} of {all}").format(n=compared.untrained, all=untrained.matches),
    }
