"""Scoring: a model reads a text. Traces, perplexity and its reports, sample text, compression."""
