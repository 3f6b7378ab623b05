"""The code beside the picture: short cells that run by themselves, and what they print.

What a cell prints is computed here without torch, by the rooms that the picture takes its numbers from; tests
run every cell and compare. A file is a scene's.
"""

from rnnviz.lecture.snippets.cell import Cell as Cell
