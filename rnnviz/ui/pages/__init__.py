"""Look's pages, Explore, Perplexity and Learn, each a folder with its browser files."""
