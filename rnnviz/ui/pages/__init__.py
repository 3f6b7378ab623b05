"""The five pages; a folder each, with its own browser files."""
