"""The words around every scene, in the session's language: the browser's modules hold none.

Braces are filled in by the browser.
"""

from __future__ import annotations

from rnnviz.ui.i18n import _


def words() -> dict[str, str]:
    """Every word of the frame, by the name its modules use."""
    return {
        "scenes": _("Scenes"),
        "notice": _("Notice"),
        "step": _("Step {n} of {count}"),
        "next": _("Next step (Space)"),
        "back": _("Step back (↑)"),
        "scene.next": _("Next scene (→)"),
        "scene.back": _("Previous scene (←)"),
        "present": _("Present"),
        "present.help": _("Fill the screen, for a projector (P; Escape comes back)"),
        "leave": _("Leave the presentation (Escape)"),
        "late": _("The answer takes longer than usual …"),
        "edit": _("row {i}, column {j}: {value}; press Enter to change it"),
    }
