"""Reports: what is shown of analyses and runs."""
