"""What the lecture's scenes compute: small experiments on the shipped models and on networks small enough to read.

One module a scene or an idea. Pure functions; who draws what they return is
`rnnviz.ui.learn`. This package knows no screen.
"""
