"""Streamlit's own words in the session's language: its browser code has them in English alone.

The address's component, which every page mounts, puts them in (`browser/static/widget_words.js`). In a
word, {x} stands for a name or a number.
"""

from rnnviz.i18n import N_, _, language
from rnnviz.sentences import DEFAULT

WORDS = (
    # A field for files.
    N_("Upload"),
    N_("Upload directories"),
    N_("Drag and drop a file here"),
    N_("Drag and drop files here"),
    N_("Drag and drop directories here"),
    N_("{x} per file"),
    N_("file upload"),
    N_("Add files"),
    N_("Remove {x}"),
    N_("{x} files are not allowed."),
    # A table's tools and the menu of a column.
    N_("Show/hide columns"),
    N_("Show/hide columns: {x}"),
    N_("Search"),
    N_("Search: {x}"),
    N_("Close Search"),
    N_("Type to search"),
    N_("Fullscreen"),
    N_("Fullscreen: {x}"),
    N_("Close fullscreen"),
    N_("Clear selection"),
    N_("Sort ascending"),
    N_("Sort descending"),
    N_("Format"),
    N_("Autosize"),
    N_("Pin column"),
    N_("Unpin column"),
    N_("Hide column"),
    # Choices and fields.
    N_("Choose an option"),
    N_("Choose options"),
    N_("Select all"),
    N_("No results"),
    N_("No options to select"),
    N_("{x} options available."),
    N_("Press Enter to apply"),
    N_("Press Enter to submit form"),
    N_("Press ⌘+Enter to apply"),
    N_("Press Ctrl+Enter to apply"),
    N_("Increment"),
    N_("Decrement"),
    N_("Open"),
    N_("Close"),
    N_("Dismiss"),
    N_("Help"),
    N_("Help for {x}"),
    N_("Link to heading"),
    # The frame of the page.
    N_("Skip to main content"),
    N_("Sidebar"),
    N_("Collapse sidebar"),
    N_("Expand sidebar"),
    N_("Navigate to home page"),
    N_("App pages"),
    N_("Main menu"),
    N_("Theme"),
    N_("System"),
    N_("Light"),
    N_("Dark"),
    N_("About"),
    N_("Made with Streamlit v"),
    N_("Copy version to clipboard"),
    N_("Stop"),
    N_("Running..."),
    N_("Connecting"),
)


def spoken() -> dict[str, str]:
    """The words by Streamlit's English ones; none in English."""
    return {} if language() == DEFAULT else {word: _(word) for word in WORDS}
