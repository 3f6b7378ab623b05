"""The class in the room: phones that answer what the lecture asks, through a listener of their own."""
