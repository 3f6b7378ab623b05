"""Modules and classes have the glossary's words (docs/words.md), or a programmer's.

A name that fails wants the field's or the web's word. Where that word is new here, so is the concept: give it
a row in docs/words.md. Only what any programmer or statistician knows goes into PROGRAMMING.
"""

import ast
import re
from pathlib import Path

import rnnviz

PACKAGE = Path(rnnviz.__file__).parent
GLOSSARY = PACKAGE.parent / "docs" / "words.md"

PROGRAMMING = """
actions activations adam adapter address allowed alt analysis answerer app arg arrays ask averages axes
backward bars bind bookmark bootstrap bounded breakdown broadcast browser build button cache cancelled
cause char check choice clamp classroom clear cli clock cluster coder comparison compiled component
config contamination context contributions control corpora csv curve custom dashboard data decoded
description dev device difference dual edit effect empty engine entry error estimate event evidence
example exclusive export external extremes fastest field figure findings finished fit fitting folder
forecast form format formatting found frames gating guard header heat help histogram hosts http i
identified info input inside interval interventions job jobs journal json kernels key kneser lab
language length level lifespan limit line listener listing machine main memoryless message middleware
missing mixin modelfile modules monitor ney ngram normaliser norms numpy open options output packed pair
panel parquet part passage pattern payload pending perturb perturbation phrase piece poll presets
primitives process product progress projection protocol python question questions queue ranking rate
record registry removed render replay replication report repr request resampled responses rnn rows runs
saving scan scanning scene score scratch script section selected series session sessions setting
settings shell sidebar sketch slopes slots small socket source span spectra spectrum speed split
splittable spread square stepwise stopped store stream streamlit suggestion summary sums tape threads
torch totals trial ui unknown unrolled usage warm way widget window word work workarounds
"""

LEFT = """
arrival better beyond brief chosen cuts damaged ending fault newest pace reach refused remaining remote
rival shown unanswered whole within
"""
"""Words of names that no newcomer would guess and that still stand. Nothing is added here."""

ENDINGS = ("isation", "ising", "ing", "ers", "er", "ed", "ies", "es", "s", "e", "y", "ions", "ion")


def stem(word: str) -> str:
    for end in ENDINGS:
        if word.endswith(end) and len(word) - len(end) >= 4:
            return word.removesuffix(end)
    return word


def words(name: str) -> list[str]:
    """The words of snake_case and of CamelCase.

    >>> words("memory_length"), words("JSONFile"), words("NgramModel")
    (['memory', 'length'], ['json', 'file'], ['ngram', 'model'])
    """
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def names() -> set[str]:
    """Every room, module and public class."""
    found = set()
    for file in PACKAGE.rglob("*.py"):
        found.add(file.parent.name if file.stem == "__init__" else file.stem)
        found |= {
            node.name
            for node in ast.parse(file.read_text("utf-8")).body
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        }
    return found


def explained() -> set[str]:
    """The stems of the glossary's terms and of what it says of them."""
    rows = [line.split("|") for line in GLOSSARY.read_text("utf-8").splitlines() if line.startswith("| ")]
    return {stem(word) for row in rows for word in re.findall("[a-z]+", f"{row[1]} {row[3]}".lower())}


def unknown(found: set[str]) -> set[str]:
    known = explained() | {stem(word) for word in PROGRAMMING.split()}
    return {word for name in found for word in words(name) if stem(word) not in known}


def test_names_have_the_glossarys_words_or_a_programmers() -> None:
    assert unknown(names()) - set(LEFT.split()) == set()


def test_a_name_that_nobody_would_guess_is_found() -> None:
    assert unknown({"wish", "Ballot", "trouble", "TextModel", "memory_length"}) == {
        "wish",
        "ballot",
        "trouble",
    }
