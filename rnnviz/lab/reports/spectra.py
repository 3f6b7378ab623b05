"""What is shown of a spectrum: all eigenvalues in the complex plane."""

from rnnviz.findings import Number, Panel, Points, Sentence, Table, count, make_sentences, one_row, words
from rnnviz.lab.analysis.spectra import Spectrum, real_and_imaginary


def table(spectrum: Spectrum) -> Table:
    """One row."""
    facts = spectrum.facts()
    return one_row(
        (words("head.radius"), Number(facts["radius"])),
        (words("head.untrained"), Number(facts["radius_untrained"])),
        (words("head.outside"), count(facts["outside"])),
    )


def sentences(spectrum: Spectrum) -> list[Sentence]:
    """The spectral radius beside the untrained network's, its meaning and its limit."""
    facts = spectrum.facts()
    codes = [
        "spectrum.radius-block" if spectrum.gated else "spectrum.radius",
        "spectrum.grows" if spectrum.radius > 1 else "spectrum.shrinks",
        # The radius is of W_hh alone: a gated state has other ways back, and φ' of a saturated unit is near
        # 0.
        "spectrum.but-gated" if spectrum.gated else "spectrum.but-saturated",
    ]
    return make_sentences(
        codes,
        radius=Number(facts["radius"], digits=2),
        untrained=Number(facts["radius_untrained"], digits=2),
        outside=count(facts["outside"]),
        units=count(len(spectrum.trained)),
    )


def panels(spectrum: Spectrum) -> list[Panel]:
    """All eigenvalues in the complex plane."""
    groups = [
        (words("spectrum.trained"), spectrum.trained),
        (words("spectrum.untrained"), spectrum.untrained),
    ]
    picture = Points(
        [(name, real_and_imaginary(values)) for name, values in groups],
        "circle",
        words("spectrum.real"),
        words("spectrum.imaginary"),
    )
    title, notice, limits = (words(f"spectrum.{name}") for name in ("title", "notice", "limits"))
    return [Panel("spectrum", title, picture, [notice], limits)]
