"""The Train page: choose a text and a recipe, start a run, and watch a state take shape. A run is a process
of its own (rnnviz.training): a page closed or reloaded finds everything in the runs' folders.
"""
