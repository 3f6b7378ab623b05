"""Reports on a scored text: where its bits lie, how certain its perplexity is, and baselines."""
