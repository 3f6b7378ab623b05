"""Figures: from Traces and reports to Plotly figures as plain dictionaries."""
