"""The Train page: choose a text and a recipe, start a run, and watch its hidden state.

A run is a separate process (rnnviz.lab.run). A page that was closed or reloaded reads all from the runs'
folders.
"""
