"""Any PyTorch loop, shown live on the Train page: run it beside `streamlit run app.py`, in the same folder.

    python examples/5_any_training_loop.py --steps 2000

The loop is plain PyTorch. Three lines are for the page: `follow` opens a run, `log` says how far it is, and
`stopping` hears the page's Stop button.
"""

import argparse

import torch
from torch.nn import functional

import rnnviz

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=2000)
steps = parser.parse_args().steps

torch.manual_seed(0)
split = rnnviz.corpora.open_corpus("timemachine").split()
characters = sorted(set(split.train))
index = {character: n for n, character in enumerate(characters)}


def ids(text: str) -> torch.Tensor:
    return torch.tensor([index[character] for character in text if character in index])


embedding = torch.nn.Embedding(len(characters), 32)
gru = torch.nn.GRU(32, 128, batch_first=True)
output = torch.nn.Linear(128, len(characters))
layers = torch.nn.ModuleList([embedding, gru, output])
optimiser = torch.optim.AdamW(layers.parameters(), lr=4e-3)


def loss_on(batch: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy in nats per character; batch is (streams, characters)."""
    states, _ = gru(embedding(batch[:, :-1]))
    return functional.cross_entropy(output(states).flatten(0, 1), batch[:, 1:].flatten())


def readable():
    """The network as it is now, as a model that rnnviz can read."""
    return rnnviz.adapt(gru, output, characters, embedding=embedding, name="any-loop")


train, validation = ids(split.train), ids(split.validation).unfold(0, 65, 65)
watch_text = "the time traveller smiled at the machine"
with rnnviz.follow("any-loop", readable, watch_text=watch_text, text="timemachine", total=steps) as run:
    print("follow it on the Train page:", run.path)
    for step in range(1, steps + 1):
        begins = torch.randint(len(train) - 65, (32, 1))
        loss = loss_on(train[begins + torch.arange(65)])
        optimiser.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(layers.parameters(), 1.0)
        optimiser.step()

        unseen = loss_on(validation).item() if step == 1 or step % 100 == 0 or step == steps else None
        run.log(step, loss, validation_loss=unseen, learning_rate=4e-3, gradient_norm=norm)
        if run.stopping:
            break
print("finished; Open in Explore, on the page, types with it")
