"""rnnviz in a notebook: HTML representations of objects, and the live view as a widget."""
