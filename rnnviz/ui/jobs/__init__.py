"""Work that outlasts a script run."""
