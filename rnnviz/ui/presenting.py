"""Presenting: a page shows nothing but a view, large enough for a projector. browser/static/present.js begins
and ends it, without a run of the script.
"""

from rnnviz.i18n import _

_ON = "html[data-rv-presenting]"


def words() -> dict[str, str]:
    """What the button says, by the names that present.js uses; Learn's button says the same."""
    return {
        "present": _("Present"),
        "present.help": _("Fill the screen, for a projector (P; Escape comes back)"),
        "leave": _("Leave the presentation (Escape)"),
    }


def style(key: str) -> str:
    """CSS that hides everything but the component of this key while the page presents."""
    block = f'{_ON} [data-testid="stMainBlockContainer"]'
    shown = f".st-key-{key}"
    return f"""
{_ON} :is([data-testid="stSidebar"], [data-testid="stHeader"], [data-testid="stExpandSidebarButton"]) {{
  display: none;
}}
{block} {{ padding: 0.5rem 1.5rem 0; max-width: none; }}
{block} [data-testid="stVerticalBlock"] > :not(:has({shown}), {shown}) {{ display: none; }}
"""
