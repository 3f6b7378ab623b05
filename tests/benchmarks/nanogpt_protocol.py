"""The shipped shakespeare-lstm by nanoGPT's protocol, beside ours.

    python tests/benchmarks/nanogpt_protocol.py [--model shakespeare-lstm] [--seed 0]

nanoGPT (https://github.com/karpathy/nanoGPT) publishes a best validation loss of 1.4697 nats for a
Transformer of 10.7 million parameters on `shakespeare_char`: Tiny Shakespeare. It validates on the last
tenth, `data[int(0.9 * n):]`, which ours never read. Its `estimate_loss` draws 200 batches of 64 windows of
256 characters with replacement, reads each window from nothing, and takes the mean over all positions: the
first prediction of a window knows one character, the last knows 256.

    theirs, drawn   so many windows, drawn with a seed; the range is that of twice the standard error
    theirs, all     each of the consecutive windows once: nothing is drawn
    ours            the whole tenth in one go, the state carried from its first character to its last

Theirs is the lowest of 21 such figures (config/train_shakespeare_char.py: one each 250 of 5,000 steps), of a
network with 10,745,088 parameters by its configuration, and can't read more than 256 characters back. Ours is
one network's, with settings chosen on other text; models/README.md says what was looked at before.
"""

import math

import numpy as np
import torch
from sitting import figure, options_of

import rnnviz
from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.text import corpora

PUBLISHED = 1.4697
WINDOW, BATCH, BATCHES = 256, 64, 200


def losses(model: CharModel, ids: torch.Tensor, starts: torch.Tensor) -> np.ndarray:
    """Nats (windows,): the mean over the 256 predictions of each window that begins there."""
    found = []
    for some in starts.split(BATCH):
        rows = torch.stack([ids[start : start + WINDOW + 1] for start in some.tolist()])  # (B, 257)
        start = torch.full((len(rows), 1), model.vocabulary.start)
        with torch.inference_mode():
            hidden, _state = model.hidden(model.embed(torch.cat([start, rows[:, :-1]], dim=1)))
            log_probs = torch.log_softmax(model.readout(hidden), dim=-1)[:, 1:]  # (B, 256, V)
            found.append(-log_probs.gather(2, rows[:, 1:, None])[..., 0].mean(dim=1))
    return torch.cat(found).double().numpy()


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--model", default="shakespeare-lstm")
    parser.add_argument("--corpus", default="tinyshakespeare")
    parser.add_argument("--batches", type=int, default=BATCHES)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    corpus = corpora.read(options.corpus)
    last = corpus.text[int(len(corpus.text) * 0.9) :]
    assert last == corpus.split().held_out, "ours was held out from another text"
    if options.corpus == "tinyshakespeare":
        assert (len(corpus.text), len(last)) == (1_115_394, 111_540), "nanoGPT's text has these lengths"
    model = rnnviz.load(options.model)
    assert isinstance(model, CharModel)
    ids = torch.from_numpy(model.vocabulary.encode(last))
    drawn = torch.randint(
        len(ids) - WINDOW, (options.batches * BATCH,), generator=torch.Generator().manual_seed(options.seed)
    )
    random = losses(model, ids, drawn)
    every = losses(model, ids, torch.arange(0, len(ids) - WINDOW, WINDOW))
    # Windows overlap: what is drawn is uncertain by the draw alone, not by how little text there is.
    error = 2 * random.std(ddof=1) / math.sqrt(len(random))
    carried = math.log(rnnviz.perplexity(model, text=last).perplexity)
    print(f"{options.model}, {model.parameter_count:,} parameters, nats a character")
    print(f"theirs, drawn   {random.mean():.4f} ± {error:.4f}, {len(random):,} windows of {WINDOW}")
    print(f"theirs, all     {every.mean():.4f}, {len(every):,} windows of {WINDOW}")
    print(f"ours            {carried:.4f}, all {len(last):,} characters")
    print(f"nanoGPT publishes {PUBLISHED}, with 10.7 million parameters, by theirs")
    what = f"nats a character on the last tenth of {corpus.name} ({options.model})"
    figure(f"{what}, windows of {WINDOW} characters, no state carried: nanoGPT's protocol", random.mean())
    figure(f"{what}, each consecutive window of {WINDOW} once", every.mean())
    figure(f"{what}, the state carried: ours", carried)


if __name__ == "__main__":
    main()
