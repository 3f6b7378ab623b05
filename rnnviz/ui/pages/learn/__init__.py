"""The Learn page: the lecture in nine scenes, and the mode that puts it on a projector."""
