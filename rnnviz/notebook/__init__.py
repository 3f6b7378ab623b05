"""rnnviz in a notebook: what objects look like there, and the live view as a widget."""
