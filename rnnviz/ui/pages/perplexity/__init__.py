"""The Perplexity page: how well a model predicts texts, why, and against what. page.py uses texts.py (what a
reader chose), work.py (the jobs) and answer.py (a text's figures). Below the answer is one section at a time:
origin.py, against.py, sum.py, compression.py, take.py.
"""
