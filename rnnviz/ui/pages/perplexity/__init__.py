"""The Perplexity page: how well a model predicts texts, why, and against what. page.py is the layout,
texts.py what a reader chose, work.py the jobs, answer.py a text's figures; the rest are sections below.
"""
