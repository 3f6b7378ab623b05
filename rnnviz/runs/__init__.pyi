# What `rnnviz.runs` offers beside its modules. `__init__.py` reads this list.

from .following import Followed as Followed
from .following import follow as follow
