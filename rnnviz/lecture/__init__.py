"""The lecture's numbers, as functions to import in a notebook; a module for each scene of the Learn page."""
