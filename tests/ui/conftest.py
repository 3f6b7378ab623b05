"""The app as Streamlit runs it."""

from tests.support.app import *  # noqa: F403 - its fixtures
