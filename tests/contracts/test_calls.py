"""Calls that the guides and examples of 1.0.0 showed still compute what they did, with a warning."""

import pytest

import rnnviz
from rnnviz import units
from rnnviz.analysis.ablation import ablating
from tests.closeness import assert_states
from tests.conftest import TEXT, tiny

SHORT, GONE = TEXT[:80], "will be removed in the next version"


def test_the_calls_of_the_guides_give_what_the_new_ones_give() -> None:
    model = tiny("gru", layers=2)
    held = units.Clamp(3, 1.0, layer=1)
    with pytest.warns(DeprecationWarning, match=GONE):
        read = units.intervene(model, SHORT, units.Intervention(units.Unit(1, 3), "clamp", 1.0))
    assert_states(read.hidden, rnnviz.trace(model, SHORT, change=held).hidden)
    with pytest.warns(DeprecationWarning, match=GONE):
        said = [units.continuation(model, "The ", 9, *change, seed=0) for change in ((), (held,))]
    assert said == [rnnviz.sample(model, "The ", 9, change=change, seed=0) for change in (None, held)]
    with pytest.warns(DeprecationWarning, match=GONE):
        worth = [units.run(units.ablate(model, SHORT)), units.run(ablating(model, SHORT))]
    assert_states(worth[0].loss, worth[1].loss)
    read = rnnviz.trace(model, SHORT)
    with pytest.warns(DeprecationWarning, match=GONE):
        (found,) = units.holm([units.search(read, units.target("vowel", SHORT), shifts=19)])
    assert found.best.unit == units.find(model, SHORT, "vowel", copies=0).best.unit
