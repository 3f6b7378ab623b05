"""The Explore view as one file that needs no server."""
