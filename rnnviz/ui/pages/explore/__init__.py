"""The live view: a text area and a picture in one component."""
