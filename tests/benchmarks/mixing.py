"""What mixing with an n-gram model and going on learning bring on text that was never read.

    python tests/benchmarks/mixing.py [--corpora timemachine tinyshakespeare]

Bits a character on the held-out last tenth, by the shipped LSTM of each corpus: alone, mixed with its 6-gram
(`rnnviz.mix`), going on learning (`rnnviz.dynamic`), and both. The last three learn from the text that they
are measured on, after each prediction: compare them with one another, or with a compressor, which does so
too. Their settings were chosen on validation text.
"""

from __future__ import annotations

import argparse
import math
import time

import rnnviz
from rnnviz.text import corpora
from tests.benchmarks.figures import figure

MODELS = {
    "timemachine": ("timemachine-lstm", "timemachine-6gram", 1.97),
    "tinyshakespeare": ("shakespeare-lstm", "shakespeare-6gram", 2.00),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", nargs="+", choices=list(MODELS), default=list(MODELS))
    for corpus in parser.parse_args().corpora:
        name, counted, wanted = MODELS[corpus]
        text = corpora.read(corpus).split().held_out
        network, counts = rnnviz.load(name), rnnviz.load(counted)
        learning = rnnviz.dynamic(network)
        both = rnnviz.mix(learning, counts)
        for model in (network, rnnviz.mix(network, counts), learning, both):
            began = time.perf_counter()
            bits = math.log2(rnnviz.perplexity(model, text=text).perplexity)
            speed = len(text) / (time.perf_counter() - began)
            print(
                f"{model.name:50} {bits:.4f} bits a character {speed:9,.0f} characters a second", flush=True
            )
            figure(
                f"held-out tenth of {corpus}: {model.name}", bits, "bits a character", digits=4,
                at_most=wanted if model is both else None,
            )  # fmt: skip


if __name__ == "__main__":
    main()
