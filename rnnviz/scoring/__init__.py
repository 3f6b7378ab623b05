"""A model reads a text: traces, perplexity and what is said of it, continuations, compression."""
