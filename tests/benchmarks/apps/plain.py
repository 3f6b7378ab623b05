"""The same pictures built plainly: a live text input, the whole text read again, three charts."""

import math
import os

import plotly.graph_objects as go
import streamlit as st

import rnnviz


@st.cache_resource
def load(name: str):
    return rnnviz.load(name)


model = load(os.environ["RNNVIZ_BENCHMARK_MODEL"])
text = st.text_input("text", live="0ms")
trace = rnnviz.trace(model, text)
length = len(text)
start = max(0, length - 120)
shown = trace.hidden[start:, -1]
title = f"read {length}"
heat = go.Heatmap(z=shown.T, zmin=-1, zmax=1, zmid=0, colorscale="RdBu")
characters = {"tickvals": list(range(length - start)), "ticktext": list(text[start:])}
st.plotly_chart(go.Figure(heat, {"title": title, "xaxis": characters}), key="states")
lines = go.Figure(go.Scatter(y=trace.perplexity[start:]), {"title": title, "yaxis": {"type": "log"}})
lines.add_bar(y=trace.nll[start:] / math.log(2))
st.plotly_chart(lines, key="perplexity")
top = trace.top(length, 12)
names = [character for character, _ in top]
st.plotly_chart(go.Figure(go.Bar(x=names, y=[p for _, p in top]), {"title": title}), key="next")
