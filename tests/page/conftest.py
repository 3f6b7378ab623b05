"""The app beside the page."""

from tests.support.app import (
    _no_run_goes_wrong as _no_run_goes_wrong,
)
from tests.support.app import (
    _no_word_about_each_look_outside_a_run as _no_word_about_each_look_outside_a_run,
)
from tests.support.app import (
    _nothing_scored as _nothing_scored,
)
from tests.support.app import (
    _one_look_for_components as _one_look_for_components,
)
from tests.support.app import (
    open_app as open_app,
)
from tests.support.app import (
    shipped as shipped,
)
from tests.support.app import (
    troubled as troubled,
)
