"""The room: a class's phones, which answer the lecture's questions through a separate listener."""
