"""The five pages, each a folder with its browser files."""
