"""What is shown of one target searched in several networks."""

from rnnviz.findings import Bars, Number, Panel, Sentence, Table, count, make_sentences, words
from rnnviz.lab.analysis.search_result import Replication
from rnnviz.networks.verdicts import measured


def table(replication: Replication) -> Table:
    """A row a network."""
    tables = [search.table() for search in replication.searches]
    rows = [
        (name, *search_table.rows[0]) for name, search_table in zip(replication.networks, tables, strict=True)
    ]
    return Table([words("head.network"), *tables[0].columns], rows)


def sentences(replication: Replication) -> list[Sentence]:
    """The number of networks with a unit that remembers, and the range of their best scores."""
    n, k = len(replication.searches), replication.remember
    # Too little text for one network is too little for all: they read the same text.
    if all(search.verdict in ("short", "same text") for search in replication.searches):
        return replication.searches[0].sentences()
    return make_sentences(
        [
            "replication.all" if k == n else "replication.some" if k else "replication.none",
            "replication.scores",
        ],
        n=count(n),
        k=count(k),
        target=replication.searches[0].target,
        measure=measured(replication.searches[0].measure),
        low=Number(min(replication.scores)),
        high=Number(max(replication.scores)),
    )


def panels(replication: Replication) -> list[Panel]:
    """Each network's best unit, beside the highest chance level of any."""
    chance = max(search.chance for search in replication.searches)
    mask = replication.searches[0].measure == "AUC"
    picture = Bars(
        replication.networks,
        replication.scores,
        measured(replication.searches[0].measure),
        [(words("search.level-chance"), chance)],
        first=0.5 if mask else 0.0,
        last=1.0 if mask else None,
    )
    notice = [words("replication.notice")]
    return [Panel("replication", words("replication.title"), picture, notice, words("replication.limits"))]
