"""A model reads a text: traces, perplexity, continuations, compression."""
