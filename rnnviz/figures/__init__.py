"""Figures: Plotly figures as plain dictionaries, from traces and reports."""

from typing import TYPE_CHECKING

from rnnviz.checks import renamed_names

if not TYPE_CHECKING:
    __getattr__ = renamed_names(__name__, training="rnnviz.lab.reports.training")
