"""The lecture's numbers, as functions to import in a notebook; one module for each scene of the Learn
page.
"""
