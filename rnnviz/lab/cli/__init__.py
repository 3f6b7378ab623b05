"""The commands that train and research."""
