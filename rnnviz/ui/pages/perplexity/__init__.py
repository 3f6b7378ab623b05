"""The Perplexity page. page.py has the layout, text_sources.py the chosen texts, scoring_jobs.py the jobs,
and answer.py the number; the other modules are sections below it.
"""
