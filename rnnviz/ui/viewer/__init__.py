"""The text viewer: a scored text of any length, coloured, with its curve, in one component.

See `component` for its place in a page and `session` for what travels.
"""
