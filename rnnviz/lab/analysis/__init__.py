"""Analyses of a trained network: units and their targets, interventions on them, gradients back through
time. What is shown of a result stands in `rnnviz.lab.reports`.
"""
