"""The errors a user of rnnviz can meet.

Every message says what was received and what to do about it. It is a template
and its values, so that a page can say the same sentence in another language:

    ConfigError("hidden_size is at least 1; received {size}", size=0)

    RnnvizError
    ├── ConfigError              a setting outside its range, or settings that contradict each other
    ├── TextError                a text that can't be read, decoded or scored
    │   ├── DecodingError        bytes that are no text in the encoding asked for, or in any known one
    │   └── EmptyTextError       nothing to score: zero characters have no perplexity
    ├── CheckpointError          a model file that is damaged, foreign, too large or from a newer version
    │   └── ModelNotFoundError   no model of that name, no file at that path
    ├── CorpusError              an unknown corpus, or one too short to split
    │   └── DownloadError        offline, slow, cut off, too large, or the wrong checksum
    ├── TrainingError            a run that can't start or go on
    └── ExportError              a table or a page that can't be written
"""


class RnnvizError(Exception):
    """Base of every error that rnnviz raises on purpose.

    message   the sentence in English, with {names} where values go; the key of its translations
    values    what goes there
    """

    def __init__(self, message: str, /, **values: object) -> None:
        super().__init__(message.format(**values) if values else message)
        self.message = message
        self.values = values


class ConfigError(RnnvizError, ValueError):
    """A setting is outside its range, or two settings contradict each other."""


class TextError(RnnvizError, ValueError):
    """A text can't be read or scored."""


class DecodingError(TextError):
    """Bytes are not text in the encoding asked for, nor in any that was recognised."""


class EmptyTextError(TextError):
    """There is nothing to score: the perplexity of zero characters is undefined."""


class CheckpointError(RnnvizError):
    """A model file is damaged, not one of ours, too large, or newer than this version."""


class ModelNotFoundError(CheckpointError, LookupError):
    """No shipped or local model has this name, and no file is at this path."""


class CorpusError(RnnvizError):
    """A corpus is unknown, or too short to be split into training and held-out parts."""


class DownloadError(CorpusError):
    """A corpus could not be fetched: offline, slow, cut off, too large or altered."""


class TrainingError(RnnvizError):
    """A training run can't start or can't go on."""


class ExportError(RnnvizError):
    """A table or a page can't be written where it was asked for."""
