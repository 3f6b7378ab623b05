"""The live view: a text area and a picture in one component. See `component` for its place in a page."""
