"""The Perplexity page: how well a model predicts texts, why, and against what.

    page.py      what stands where
    texts.py     the texts a reader chose: files, a pasted text, a corpus
    uploads.py   the uploaded files, kept while another page is looked at
    jobs.py      work in the background, which can be watched and cancelled
    progress.py  the bar of what is at work
    store.py     what was scored, kept within bounds and shared by all sessions
    scratch.py   its folder among temporary files, removed at the next start if not before
    work.py      the jobs themselves: scoring, comparing, fetching, compressing
    answer.py    the figures of one text
    caution.py   what to mind about a figure: interval, overlap, short texts
    encodings.py which encoding a file was read in, and reading it in another
    sections.py  which of the following is open
    origin.py    where the number comes from, one model or two      where.py  its pictures
    against.py   the same text under other models and under compressors
    sums.py      the number laid open
    squeeze.py   the text as a compressed file
    take.py      downloads

Scoring itself is rnnviz.reading.scoring; nothing here computes a perplexity.
"""
