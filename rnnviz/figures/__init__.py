"""Figures: from Traces and reports to Plotly figures as plain dictionaries. No page, no Streamlit."""
