"""The Perplexity page: how well a model predicts texts, why, and beside others. page.py is the layout,
text_sources.py the texts that a reader chose, scoring_jobs.py the jobs, answer.py the number; the rest are
sections below.
"""
