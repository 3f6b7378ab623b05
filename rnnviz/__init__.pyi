# The public names and where each lives: the only list of them. `__init__.py` reads it.

from . import (
    corpora as corpora,
)
from . import (
    gradients as gradients,
)
from . import (
    units as units,
)
from .errors import (
    CheckpointError as CheckpointError,
)
from .errors import (
    ClusterError as ClusterError,
)
from .errors import (
    ConfigError as ConfigError,
)
from .errors import (
    CorpusError as CorpusError,
)
from .errors import (
    DecodingError as DecodingError,
)
from .errors import (
    DownloadError as DownloadError,
)
from .errors import (
    EmptyTextError as EmptyTextError,
)
from .errors import (
    ExportError as ExportError,
)
from .errors import (
    ModelNotFoundError as ModelNotFoundError,
)
from .errors import (
    RnnvizError as RnnvizError,
)
from .errors import (
    TextError as TextError,
)
from .errors import (
    TorchMissingError as TorchMissingError,
)
from .errors import (
    TrainingError as TrainingError,
)
from .lab.analysis.states import states as states
from .lab.engines.adapter import (
    adapt as adapt,
)
from .lab.engines.adapter import (
    adapt_step as adapt_step,
)
from .lab.engines.cluster import cluster as cluster
from .lab.fit.fitting import fit as fit
from .lab.fit.saving import save as save
from .lab.fit.trainer import (
    train as train,
)
from .lab.run.external_run import follow as follow
from .networks.checkpoint import (
    available as available,
)
from .networks.checkpoint import (
    load as load,
)
from .networks.config import (
    ModelConfig as ModelConfig,
)
from .networks.config import (
    TrainConfig as TrainConfig,
)
from .networks.ngram import ngram as ngram
from .notebook.live import live as live
from .scoring.compression import compress as compress
from .scoring.compression import decompress as decompress
from .scoring.perplexity import (
    perplexity as perplexity,
)
from .scoring.rows import perplexity_of_rows as perplexity_of_rows
from .scoring.sampling import (
    sample as sample,
)
from .scoring.sampling import (
    sampling_distribution as sampling_distribution,
)
from .scoring.score import Score as Score
from .scoring.trace import (
    Trace as Trace,
)
from .scoring.tracer import trace as trace
from .text.corpora import Corpus as Corpus

__version__: str
