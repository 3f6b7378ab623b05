"""The Perplexity page, a file for each of its parts."""
