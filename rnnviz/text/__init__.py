"""Text: from bytes to characters to the integers a model reads, and corpora to take them from."""
