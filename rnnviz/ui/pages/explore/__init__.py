"""The Explore page: the live view, a text area and a picture in one component."""
