"""Reports: what is shown of a finding, in columns, sentences and pictures, a module each; and the curves of
training runs. How a finding gets to its report stands in `rnnviz.findings.Reported`.
"""
