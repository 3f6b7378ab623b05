"""The Perplexity page: how well a model predicts texts, why, and against what.

page.py stands on texts.py (what a reader chose), work.py (the jobs) and answer.py (the figures of a text).
Below the answer is one section at a time: origin.py, against.py, sum.py, compression.py, take.py.
"""
