"""The pictures of findings (`rnnviz.findings`), drawn: a kind of picture is one function of `charts`."""

from collections.abc import Callable

from rnnviz.figures import charts
from rnnviz.figures.frame import Figure
from rnnviz.figures.themes import LIGHT, Scale, Theme
from rnnviz.findings import Bars, Heat, Histogram, Lines, Pair, Picture, Points, Square

TENTHS = ("10⁻⁴", "10⁻²", "1")
"""What stands at the ends of a share's logarithm and between them."""


def draw(picture: Picture, tell: Callable[[object], str], theme: Theme = LIGHT) -> Figure:
    """The figure of a picture, whose words `tell` puts into a language."""
    match picture:
        case Bars():
            return charts.ranking(
                [tell(name) for name in picture.names],
                picture.values,
                levels={tell(name): value for name, value in picture.levels},
                errors=picture.errors,
                x=tell(picture.x),
                first=picture.first,
                last=picture.last,
                chosen=picture.chosen,
                theme=theme,
            )
        case Pair():
            one, other = picture.labels
            return charts.pair(
                [tell(name) for name in picture.names],
                picture.before,
                picture.after,
                labels=(tell(one), tell(other)),
                x=tell(picture.x),
                theme=theme,
            )
        case Histogram():
            return charts.histogram(
                picture.counts, picture.edges, x=tell(picture.x), y=tell(picture.y), theme=theme
            )
        case Lines():
            return charts.lines(
                {tell(name): values for name, values in picture.curves},
                x=tell(picture.x),
                y=tell(picture.y),
                first=picture.first,
                log=picture.log,
                places=picture.places,
                theme=theme,
            )
        case Heat():
            names = None if picture.names is None else [tell(name) for name in picture.names]
            return charts.table(
                picture.values,
                Scale(*picture.scale),
                x=tell(picture.x),
                y=tell(picture.y),
                names=names,
                places=picture.places,
                theme=theme,
            )
        case Square():
            return charts.square(
                picture.log10, x=tell(picture.x), y=tell(picture.y), words=TENTHS, theme=theme
            )
        case Points():
            return charts.points(
                {tell(name): places for name, places in picture.groups},
                picture.bound,
                x=tell(picture.x),
                y=tell(picture.y),
                theme=theme,
            )
