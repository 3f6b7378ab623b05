"""The numbers behind the lecture, as functions to import in a notebook.

A module for each scene of the Learn page, by its name: counts, memoryless, recurrence, product, word,
perplexity (with memorising and shannon), backwards, questions. Everything is computed by shipped models or by
small nets whose every number can be shown.
"""
