"""Writes `what_a_network_remembers.md`, its figures, and `numbers.json`, from which both are made.

    python examples/article/what_a_network_remembers.py           measure everything again: some minutes
    python examples/article/what_a_network_remembers.py --again   write it again from numbers.json

The words stand in `template.txt`, with a name in braces where a number belongs; `claims` refuses to write
what the numbers don't say. `measuring.py` has the measurements, `pictures.py` the figures.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import measuring
import numpy as np
from measuring import BEFORE, BOOK, CELLS, CONTEXTS, COUNTER, LAGS, UNREAD, WIDTHS, of_passages, rounded
from pictures import FIGURES

import rnnviz
from rnnviz import units
from rnnviz.figures.themes import DARK, LIGHT

HERE = Path(__file__).resolve().parent
NUMBERS = HERE / "numbers.json"
TEMPLATE = HERE / "template.txt"
ARTICLE = HERE / "what_a_network_remembers.md"
KEPT = (("gru", 0), ("lstm", 0), ("mingru", 0), ("mingru", 1), ("mingru", 2))
Numbers = dict[str, Any]


def measure() -> Numbers:
    """Everything that the article says, as plain values; says on standard error how far it is."""
    found: Numbers = {"letter": {}, "context": {}, "told": {"line-position": {}, "quotes": {}}, "kept": {}}
    for cell in CELLS:
        print(f"{cell}: one changed letter, short contexts, what units tell", file=sys.stderr)
        found["letter"][cell] = {
            name: measuring.changed_letter(cell, trained=name == "trained")
            for name in ("trained", "untrained")
        }
        found["context"][cell] = {n: measuring.short_contexts(cell, n) for n in CONTEXTS}
        found["context"][cell]["whole"] = measuring.whole_context(cell)
        for kind in found["told"]:
            found["told"][kind][cell] = measuring.told(cell, kind)
    print("the n-gram model, the counter, gates", file=sys.stderr)
    found["context"]["6gram"] = {n: measuring.short_contexts("6gram", n) for n in CONTEXTS}
    found["chosen"] = measuring.chosen()
    text = BOOK[UNREAD:]
    texts = {"70": text, **{str(width): measuring.wrapped(text, width) for width in WIDTHS}}
    found["counter"] = {width: measuring.counter(one) for width, one in texts.items()}
    found["held"] = held()
    for cell, layer in KEPT:
        for name in ("trained", "untrained"):
            rows = measuring.kept(cell, layer, trained=name == "trained")
            median, longest = (
                of_passages(rows, lambda some, figure=figure: figure(measuring.lifetimes(some)))
                for figure in (np.median, np.max)
            )
            found["kept"][f"{cell} {layer} {name}"] = {
                "median": [median.estimate, median.low, median.high],
                "longest": [longest.estimate, longest.low, longest.high],
            }
    card = rnnviz.load("chinese-gru").card["units"]["findings"][0]
    found["chinese"] = {"unit": card["unit"], **card["evidence"]["report"], "target": card["target"]}
    return rounded(found)


def held() -> Numbers:
    """Line ends as they are, with the counter held as it is where a line begins, and with other units."""
    change, others = measuring.held(COUNTER), measuring.others()
    plain, with_it = measuring.line_end(), measuring.line_end(change)
    beside = [measuring.line_end(measuring.held(unit)) for unit in others]
    return {
        "value": change.value,
        "read": {"plain": plain[0], "held": with_it[0], "others": [one[0] for one in beside]},
        "spaces": {"plain": plain[1], "held": with_it[1], "others": [one[1] for one in beside]},
        "written": {
            "plain": measuring.written(None),
            "held": measuring.written(change),
            "others": [measuring.written(measuring.held(unit)) for unit in others],
        },
    }


def derived(numbers: Numbers) -> Numbers:
    """What the template names, as it is written."""
    said: Numbers = {}
    for cell in CELLS:
        rows = {name: np.array(one) for name, one in numbers["letter"][cell].items()}
        found = of_passages(rows["trained"])
        for lag in (0, 4, 8, 16, 32):
            k = LAGS.index(lag)
            said[f"letter_{cell}_{lag}"] = bits(found.estimate[k])
            said[f"letter_{cell}_{lag}_i"] = f"{bits(found.low[k])} to {bits(found.high[k])}"
        for name, some in rows.items():
            gone = of_passages(some, measuring.forgotten)
            said[f"gone_{cell}_{name}"] = f"{float(gone.estimate):.1f}"
            said[f"gone_{cell}_{name}_i"] = f"{float(gone.low):.1f} to {float(gone.high):.1f}"
        whole = np.array(numbers["context"][cell]["whole"])
        said[f"ppl_{cell}"] = f"{np.exp(whole.mean()):.2f}"
        for n in CONTEXTS:
            rest = of_passages(np.array(numbers["context"][cell][str(n)]) - whole)
            said[f"lost_{cell}_{n}"] = nats(rest.estimate)
            said[f"lost_{cell}_{n}_i"] = f"{nats(rest.low)} to {nats(rest.high)}"
            said[f"ppl_{cell}_{n}"] = f"{np.exp(np.mean(numbers['context'][cell][str(n)])):.2f}"
        for kind, found_by in numbers["told"].items():
            one, key = found_by[cell], f"{kind.split('-')[0]}_{cell}"
            for name in (
                "score",
                "probe",
                "untrained",
                "probe untrained",
                "context",
                "probe context",
                "chance",
            ):
                said[f"{key}_{name.replace(' ', '_')}"] = "–" if one[name] is None else f"{one[name]:.2f}"
            for name in ("interval", "probe interval"):
                said[f"{key}_{name.replace(' ', '_')}"] = span(one[name])
    said["ppl_6gram"] = f"{np.exp(np.mean(numbers['context']['6gram'][str(CONTEXTS[-1])])):.2f}"
    said["ppl_6gram_4"] = f"{np.exp(np.mean(numbers['context']['6gram']['4'])):.2f}"
    for width, one in numbers["counter"].items():
        said[f"counter_{width}"] = f"{abs(one['correlation']):.2f}"
        said[f"counter_{width}_i"] = span(sorted(abs(end) for end in one["interval"]))
        said[f"set_{width}"] = f"{100 * one['set']:.0f}"
        said[f"counter_{width}_untrained"] = f"{one['untrained']:.2f}"
    for name in ("read", "spaces", "written"):
        one = numbers["held"][name]
        write = "{:.1f}" if name == "written" else "{:.3f}"
        said |= {f"{name}_plain": write.format(one["plain"]), f"{name}_held": write.format(one["held"])}
        said |= {
            f"{name}_least": write.format(min(one["others"])),
            f"{name}_most": write.format(max(one["others"])),
        }
        said[f"{name}_median"] = write.format(np.median(one["others"]))
    said["held_value"] = f"{numbers['held']['value']:.1f}"
    for name, one in numbers["kept"].items():
        for which, (value, low, high) in one.items():
            said[f"{which}_{name.replace(' ', '_')}"] = f"{value:.1f}"
            said[f"{which}_{name.replace(' ', '_')}_i"] = f"{low:.1f} to {high:.1f}"
    chinese = numbers["chinese"]
    said |= {
        "chinese_unit": chinese["unit"],
        "chinese": f"{chinese['score']:.2f}",
        "chinese_i": span(chinese["interval"]),
    }
    said["chinese_context"] = f"{max(r['score'] for r in chinese['rivals'] if r['kind'] == 'context'):.2f}"
    said["chinese_untrained"] = (
        f"{max(r['score'] for r in chinese['rivals'] if r['kind'] == 'untrained'):.2f}"
    )
    lstm, gru = (np.mean(numbers["context"][cell]["whole"]) for cell in ("lstm", "gru"))
    said["predictions"] = f"{measuring.PASSAGES * measuring.EACH:,}"
    said |= {"gru_lstm": nats(gru - lstm), "written_characters": f"{measuring.WRITTEN:,}"}
    quoted = units.target("quotes", BOOK[UNREAD:])
    said |= {"quoted": len(quoted.spans()), "quoted_share": f"{100 * quoted.values.mean():.0f}"}
    rest = BOOK[UNREAD:]
    said |= {"held_out": f"{len(rest):,}", "per_line": f"{len(rest) / rest.count(chr(10)):.0f}"}
    said |= {"trained": f"{UNREAD:,}", "lead_in": f"{UNREAD - BEFORE:,}"}
    return said


def bits(value: float) -> str:
    """Bits with as many digits as a reader needs."""
    if value >= 0.01:
        return f"{value:.1f}" if value >= 1 else f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"
    return f"{value:.4f}"


def nats(value: float) -> str:
    """Nats a character."""
    return f"{value:.3f}".replace("-0.000", "0.000").replace("-", "−")


def span(ends: Any) -> str:
    """An interval."""
    return "no interval" if ends is None or ends[0] is None else f"{ends[0]:.2f} to {ends[1]:.2f}"


def claims(numbers: Numbers) -> None:
    """Raise AssertionError where a sentence of the article would be false."""
    letter, told = numbers["letter"], numbers["told"]
    for cell in CELLS:
        found = of_passages(letter[cell]["trained"]).estimate
        assert (found[1:] == 0).all() == (cell == "mlp"), f"{cell}: what an MLP keeps of a letter"
        if cell != "mlp":
            assert found[LAGS.index(16)] < found[0] / 500, (
                f"{cell}: after 16 characters hardly anything is left"
            )
            gone = measuring.forgotten(np.array(letter[cell]["trained"]))
            assert 4.5 < gone < 8.5, f"{cell}: a hundredth is left after five to eight characters"
            before = of_passages(letter[cell]["untrained"]).estimate
            assert before[0] < found[0] / 10, f"{cell}: before training a letter matters less"
            costs = {n: np.mean(some) for n, some in numbers["context"][cell].items()}
            assert costs["4"] > costs["whole"] + 0.1, f"{cell}: 4 characters are too few"
            lost = of_passages(apart(numbers, cell, 8) - apart(numbers, cell, 128))
            far = of_passages(apart(numbers, cell, 32))
            assert 0 < lost.estimate < 0.04, f"{cell}: beyond 8 characters little is gained"
            assert abs(far.estimate) < 0.005, f"{cell}: beyond 32 characters nothing is gained"
        quotes = told["quotes"][cell]
        assert quotes["score"] < quotes["chance"] + 0.01, f"{cell}: no unit tells quotations"
        assert quotes["probe lead"] < 0, f"{cell}: nor do all units together surely tell more"
        place = told["line-position"][cell]
        leads = place["least lead"] is not None and place["least lead"] > 0
        assert leads == (cell == "mingru"), f"{cell}: one unit tells the place"
        if cell in ("rnn", "gru", "lstm"):
            assert place["score"] < place["context"], f"{cell}: the last characters tell more"
            assert place["probe untrained"] > place["probe interval"][1], f"{cell}: training lost the place"
    for found in (told["line-position"]["mingru"], numbers["chosen"]):
        assert found["unit"] == [*COUNTER], "the counter is the unit that both searches find"
    assert told["line-position"]["mingru"]["least lead"] > 0.3, "it leads all that is simpler by much"
    card = measuring.model("mingru").card["units"]["others"]
    assert (COUNTER.layer, COUNTER.unit) in [
        (one["layer"], one["unit"]) for one in card if one["target"] == "line-position"
    ], "and the one that the card names"
    for width, one in numbers["counter"].items():
        assert one["set"] > 0.7, f"most line ends of {width} set it"
        assert one["interval"][1] < -0.6 < -one["untrained"], f"it follows lines of {width}"
    read, written = (numbers["held"][name] for name in ("read", "written"))
    assert read["held"] < 0.1 * read["plain"], "held, it hides the line's end"
    assert read["held"] < 0.1 * min(read["others"]), "other units don't"
    assert written["held"] < 0.1 * min(written["plain"], *written["others"]), (
        "and nearly no line ends are written"
    )
    assert sum(one > 2 * read["plain"] for one in read["others"]) == 1, (
        "one of the others has the opposite effect"
    )
    for cell, layer in KEPT:
        trained, before = (numbers["kept"][f"{cell} {layer} {name}"] for name in ("trained", "untrained"))
        assert trained["median"][2] < before["median"][1], f"{cell} {layer}: the middle unit forgets sooner"
        assert trained["longest"][1] > before["longest"][2], f"{cell} {layer}: the slowest keeps longer"


def apart(numbers: Numbers, cell: str, context: int) -> Any:
    """What predictions cost more after so short a context than after a long one, a number a passage."""
    found = numbers["context"][cell]
    return np.array(found[str(context)]) - np.array(found["whole"])


def write(numbers: Numbers) -> dict[Path, str]:
    """Every file that is made of the numbers, by its path."""
    claims(numbers)
    made = {}
    said = derived(numbers)
    for name, draw in FIGURES.items():
        light, dark = (f"figures/{name}{end}.svg" for end in ("", "-dark"))
        made[HERE / light], made[HERE / dark] = draw(numbers, LIGHT), draw(numbers, DARK)
        said[f"figure_{name}"] = f"![{draw.__doc__}]({light})"
    made[ARTICLE] = TEMPLATE.read_text("utf-8").format_map(said)
    return made


if __name__ == "__main__":
    if "--again" not in sys.argv[1:]:
        lines = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in measure().items()]
        NUMBERS.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    for path, text in write(json.loads(NUMBERS.read_text("utf-8"))).items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        print(path.relative_to(HERE))
