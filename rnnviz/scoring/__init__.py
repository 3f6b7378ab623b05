"""Scoring: a model reads a text. Traces, perplexity and its scores, sample text, compression."""
