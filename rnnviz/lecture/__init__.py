"""The lecture's arithmetic: what the Learn page shows, as functions to import in a notebook.

One module an idea. Everything is computed by shipped models or by small nets
whose every number can be shown; nothing here knows a screen.
"""
