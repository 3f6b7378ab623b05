"""Figures: Plotly figures as plain dictionaries, from traces and reports."""
