"""The presentation: a page that shows only its view, for a projector. browser/static/present.js begins and
ends it, without a run of the script.
"""

from rnnviz.i18n import _

_ON = "html[data-rv-presenting]"


def words() -> dict[str, str]:
    """The button's words, by the names that present.js uses; Learn's button has the same."""
    return {
        "present": _("Present"),
        "present.help": _("Fill the screen, for a projector (P; Escape comes back)"),
        "leave": _("Leave the presentation (Escape)"),
    }


def style(key: str) -> str:
    """CSS that hides all but the component of this key during the presentation."""
    block = f'{_ON} [data-testid="stMainBlockContainer"]'
    shown = f".st-key-{key}"
    return f"""
{_ON} :is([data-testid="stSidebar"], [data-testid="stHeader"], [data-testid="stExpandSidebarButton"]) {{
  display: none;
}}
{block} {{ padding: 0.5rem 1.5rem 0; max-width: none; }}
{block} [data-testid="stVerticalBlock"] > :not(:has({shown}), {shown}) {{ display: none; }}
"""
