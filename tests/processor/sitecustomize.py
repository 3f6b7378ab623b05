"""Python runs this at its start, in the processes that tests start: see `other_processor`."""

import other_processor

other_processor.install()
