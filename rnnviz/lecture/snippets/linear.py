"""Scene 7's cell for gates that look at the input alone: all steps of a word in a few rounds."""

from rnnviz.lecture.linear import Read, network, read, rounds, spelled
from rnnviz.lecture.snippets.cell import Cell, cell, literal, tensor
from rnnviz.lecture.word import STEPS


def joined(word: str, t: int, *, steps: int = STEPS) -> Cell:
    """The gates of a minGRU that learned `word` in so many `steps`, its states by rounds, and what is left of
    each letter after step `t`.

    >>> joined("tea", 2).printed.splitlines()[2]
    '2 steps, rounds: 1'
    """
    found = network("mingru", word, steps=steps)
    run: Read = read(*found)
    code = """
        import torch

        torch.set_printoptions(2, sci_mode=False)
        W_xz = $W_xz
        b_z = $b_z
        W_xh = $W_xh
        b_h = $b_h

        symbols, text = $symbols, $text
        ids = [symbols.index(c) for c in text]
        Z = torch.sigmoid(W_xz[ids] + b_z)  # no H here
        C = W_xh[ids] + b_h
        C = torch.where(C < 0, C.sigmoid(), C + 0.5)
        print(Z)  # a row for each letter

        A, B = Z, (1 - Z) * C  # H_t = A_t H_t-1 + B_t
        H, n, rounds = B, 1, 0
        while n < len(ids):  # each with the n-th before
            H = torch.cat((H[:n], A[n:] * H[:-n] + H[n:]))
            A = torch.cat((A[:n], A[n:] * A[:-n]))
            n, rounds = 2 * n, rounds + 1
        print(f"{len(ids)} steps, rounds: {rounds}")
        print(H)

        t = $t
        kept = [Z[s + 1 : t].prod(0) for s in range(t)]
        left = (torch.stack(kept) * B[:t]).sum(1)
        print(left / left.sum())
    """
    symbols, ids, _ = spelled(word)
    names = ("W_xz", "b_z", "W_xh", "b_h")
    count = len(rounds(run.keep, run.write)) - 1
    printed = [
        *tensor(run.keep),
        f"{len(ids)} steps, rounds: {count}",
        *tensor(run.state),
        *tensor(run.shares(t)),
    ]
    values = {name: literal(found[1][name]) for name in names}
    return cell(code, printed, symbols=repr("".join(symbols)), text=repr(word[:-1]), t=t, **values)
