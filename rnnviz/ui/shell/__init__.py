"""What every page of the app shares: the sidebar, fields, the address, words, and models."""
