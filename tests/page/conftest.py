"""The app beside the page."""

from tests.support.app import *  # noqa: F403 - its fixtures
