"""The Learn page: the lecture in eight scenes, and the mode that puts it on a projector."""
