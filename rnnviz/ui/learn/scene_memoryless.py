"""Scene 2, to come: until then it shows scene 4."""

from rnnviz.ui.learn.scene_product import STEPS, answer, formula, initial, notice, query

__all__ = ["STEPS", "answer", "formula", "initial", "notice", "query"]
