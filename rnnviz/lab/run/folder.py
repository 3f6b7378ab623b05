"""The files of one training run, and the lock that tells whether its process lives.

    run.json                 the run's description: name, recipe, text, sentence to watch (`Description`)
    text.txt                 the user's own text, where the run has no named corpus
    events.jsonl             events, one JSON object a line (rnnviz.lab.run.event_log)
    state.safetensors        the state to resume from (rnnviz.lab.run.training_state)
    best.safetensors         the best model so far, a file like any shipped model
    model/NAME.safetensors   the finished model with its card, unless the description has another place
    probe.safetensors        the newest snapshot; snapshots/ has older ones (rnnviz.lab.run.journal)
    moments/                 the weights at the older ones
    kept                     the name under which the app saved the model, and the model's step
    log.txt                  the process's output
    lock                     locked while the process lives
    stop                     asks the process to stop; a stopped one leaves it behind
    reserve                  deleted when the disk is full, so that the failure can still be logged

Every file but the events is replaced as a whole, so a kill at any moment leaves a folder that can be resumed.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import IO, Any, get_args

import portalocker

from rnnviz.checks import restore
from rnnviz.errors import CheckpointError, ConfigError, RnnvizError, TrainingError
from rnnviz.i18n import N_
from rnnviz.lab.run import event_log
from rnnviz.networks import modelfile
from rnnviz.networks.config import Engine, TrainConfig, between, check_settings, removed_cell_error
from rnnviz.networks.settings import LENGTH, SettingControl, setting
from rnnviz.text import files

RESERVE_BYTES = 64 * 1024
"""Bytes reserved for a full disk."""

MAX_DESCRIPTION_BYTES = 2**20
"""Bytes of run.json, at most."""

MAX_REASON_CHARS = 600
"""Characters quoted from an error, at most."""

DAMAGE_ERRORS = (
    *(OSError, LookupError, ValueError, TypeError, AttributeError),
    *(ArithmeticError, RecursionError, MemoryError),
)
"""Exceptions that reading a damaged file may raise."""

MAX_WATCH_CHARS = 400
"""Characters of the sentence to watch, at most: its snapshot is written twice a second."""


def home() -> Path:
    """The folder of runs: RNNVIZ_RUNS in the environment, else ./runs. Absolute; it need not exist."""
    return Path(os.path.expanduser(os.environ.get("RNNVIZ_RUNS") or "runs")).absolute()


def damage_reason(error: BaseException) -> str | RnnvizError:
    """The reason for damage to a file, in one line."""
    if isinstance(error, RnnvizError) and len(str(error)) < MAX_REASON_CHARS:
        return error  # kept as an error, which a page translates
    message = str(getattr(error, "strerror", None) or error)
    return " ".join(message.split())[:MAX_REASON_CHARS] or type(error).__name__


@contextlib.contextmanager
def writing(place: Path) -> Iterator[None]:
    """Wrap writes to a folder of runs. Raises TrainingError where they fail."""
    try:
        yield
    except OSError as error:
        raise TrainingError(
            "no run can be kept in {home}: {strerror}; choose another folder with RNNVIZ_RUNS",
            home=place,
            strerror=error.strerror,
        ) from None


@dataclass(frozen=True)
class Description:
    """The settings of a run, decided before it starts. Those with `setting` are options of the command
    `train`; a setting of the recipe is a field of `TrainConfig`.

    name        the run's and its model's: letters, digits, '.', '_' and '-'
    corpus      a corpus's name or a text file's path; "" where `text` is the text
    text        the user's own text; None in a description that was read back (it is in text.txt)
    column, lines  the texts that end, in a column of the file or in each line: see `corpora.open_corpus`;
                lines beside a `text`: it holds texts that end, as a Corpus has them
    watch_text  the sentence to watch, at most MAX_WATCH_CHARS characters; "" for none
    minutes     training time: the speed measured at the start then decides `config.characters`
    ngram       a saved n-gram model, for comparison in the finished model's card
    example     the text the app shows first with the model
    half        store the finished model's weights as float16
    threads     of torch; None: the fastest number, tried again as the run goes on. Changing it changes
                results in the last digits, so a resumed run isn't the same bit for bit
    output      the finished model's path; "" for the run's own folder
    command     the equivalent command line, for the card
    created     Unix time; 0 for now
    choice      the candidates that the settings were chosen from (model_card.py), for the card
    licence     the text's, for the card; "": the corpus's, if known
    logged      whether another program trains it and logs here (external_run.py); `config` is then unused
    engine      the engine of the backward pass: "torch", "numba" (rnnviz.lab.engines.compiled), or "auto" for
                the fastest, which the run then records
    units       whether its process searches the finished network for units with a meaning (unit_search.py)
    sha256      the whole text's checksum; "" until the run's process has read it
    """

    name: str = field(metadata=setting("the model's name (letters, digits, '-', '_', '.')"))
    config: TrainConfig
    corpus: str = field(
        default="",
        metadata=setting("a corpus's name (timemachine, names, python-source, …) or a text file"),
    )
    text: str | None = field(default=None, repr=False)
    title: str = field(default="", metadata=setting("the text's title, for the card"))
    language: str = field(
        default="",
        metadata=setting("the text's language as a BCP 47 code (en, zh, python), for the card"),
    )
    column: str | None = field(
        default=None,
        metadata=setting(
            "of a file of rows, .csv or .jsonl: each row has a text there, from its start to its end",
            metavar="NAME",
        ),
    )
    lines: bool = field(
        default=False, metadata=setting("each line of the text is a text, from its start to its end")
    )
    watch_text: str = field(
        default="",
        metadata=setting(
            "the sentence to watch: its hidden states are kept while the model learns, and each sample text "
            "goes on from it, unless the text is of texts that end",
            names=("--watch",),
            metavar="SENTENCE",
        ),
    )
    minutes: float | None = field(
        default=None,
        metadata=setting(
            "train for this long instead of --epochs; the speed is measured first",
            limits=(1e-3, 100_000.0),
            control=SettingControl(
                N_("Minutes"),
                N_("The speed is measured first."),
                LENGTH,
                2,
                numbers=(0.05, 10_000.0),
                step=0.5,
                digits=2,
            ),
        ),
    )
    ngram: str | None = field(
        default=None,
        metadata=setting("the n-gram model to compare with on the held-out text", metavar="NAME"),
    )
    example: str | None = field(
        default=None, metadata=setting("the text the app shows first with this model")
    )
    half: bool = field(default=False, metadata=setting("store the weights as float16"))
    device: str = field(default="auto", metadata=setting("auto, cpu or cuda", resumable=True))
    threads: int | None = field(
        default=None,
        metadata=setting(
            "processor threads, to resume bit for bit (default: as many as prove fastest now)",
            limits=(1, 1024),
            resumable=True,
        ),
    )
    output: str = field(
        default="",
        metadata=setting(
            "the model file to write (default: NAME.safetensors)",
            names=("-o",),
            metavar="FILE",
            parse=Path,
            resumable=True,
        ),
    )
    command: str = ""
    created: float = 0.0
    choice: list[dict[str, Any]] | None = field(
        default=None,
        repr=False,
        metadata=setting(
            "the candidates that these settings were chosen from on validation text, as JSON, for the card",
            metavar="FILE",
            parse=Path,
            resumable=True,
        ),
    )
    licence: str = field(default="", metadata=setting("the text's licence, for the card", resumable=True))
    logged: bool = False
    engine: Engine = field(
        default="auto",
        metadata=setting(
            "whose backward pass computes: torch, numba, or auto: the fastest in a trial",
            choices=get_args(Engine),
        ),
    )
    units: bool = field(
        default=True,
        metadata=setting(
            "don't look for units that respond to something in the finished network",
            names=("--no-units",),
            resumable=True,
        ),
    )
    sha256: str = ""

    def __post_init__(self) -> None:
        try:
            modelfile.check_name(self.name)
        except CheckpointError as error:
            raise ConfigError("a run has the name of the model it makes: {error}", error=error) from None
        from rnnviz.text.vocabulary import code_points  # imports NumPy, which quick commands avoid

        for text in (self.watch_text, self.text or "", self.title, self.example or ""):
            code_points(text)
        if len(self.watch_text) > MAX_WATCH_CHARS:
            raise ConfigError(
                "the sentence to watch has at most {most} characters; received {count:,}; shorten it",
                most=MAX_WATCH_CHARS,
                count=len(self.watch_text),
            )
        check_settings(self)
        between(self, float, created=(0, 1e12))

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` restores, except `text`."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "text"}
        values["probe"] = values.pop("watch_text")  # its name in version 0.1.0
        return {**values, "config": {} if self.logged else self.config.to_json()}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Description:
        """The description that `to_json` wrote, of this version or an older one. Raises ConfigError for
        values out of range, the errors of `restore` for values of other types, and TrainingError for a
        cell that only 1.0.0 trains.
        """
        names = {f.name for f in fields(cls)} - {"text"}
        named = {**values, "watch_text": values.get("probe")}
        arguments = {name: value for name, value in named.items() if name in names and value is not None}
        if arguments.get("engine") == "rnnviz":  # an engine of 1.0.0 that is gone
            arguments["engine"] = "torch"
        if (error := removed_cell_error(values["config"].get("cell"))) is not None:
            raise TrainingError(error.message, **error.values)
        described: Description = restore(cls, arguments)
        return described


class RunFolder:
    """The files of one run. Creating the object touches no file."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(os.path.expanduser(path)).absolute()  # Path's own raises for an unknown ~user
        self.description_file = self.path / "run.json"
        self.text = self.path / "text.txt"
        self.events = self.path / "events.jsonl"
        self.state = self.path / "state.safetensors"
        self.best = self.path / "best.safetensors"
        self.finished = self.path / "model"
        self.newest_snapshot = self.path / "probe.safetensors"
        self.snapshots = self.path / "snapshots"
        self.moments = self.path / "moments"
        self.log = self.path / "log.txt"
        self.lock = self.path / "lock"
        self.stop = self.path / "stop"
        self.reserve = self.path / "reserve"

    @property
    def id(self) -> str:
        """The folder's name."""
        return self.path.name

    def begin(self, description: Description) -> Description:
        """Write a new run's description; returns it with its time. Raises TrainingError if the folder has
        one.
        """
        if self.description_file.exists():
            raise TrainingError(
                "{path} already has a run; go on with --resume {path} or choose another", path=self.path
            )
        if str(self.path).encode(errors="replace").decode() != str(self.path):
            raise TrainingError(
                "the name of {path} has bytes that are not text, so no model can be read there; name another",
                path=self.path,
            )
        if description.text is not None:
            # The user's own text: other users of the machine must not read it.
            modelfile.write_atomic(self.text, description.text.encode("utf-8"), mode=0o600)
        self.keep_reserve()
        dated = replace(description, text=None, created=description.created or time.time())
        # Last, because a folder with a description counts as a run.
        self.write_description(dated)
        return dated

    def write_description(self, description: Description) -> None:
        """Replace the description."""
        text = json.dumps(description.to_json(), indent=1)  # ASCII: a path may hold surrogates
        modelfile.write_atomic(self.description_file, text.encode())

    def description(self) -> Description:
        """Read the description. Raises TrainingError if it is missing or damaged."""
        try:
            return Description.from_json(json.loads(files.read(self.description_file, MAX_DESCRIPTION_BYTES)))
        except TrainingError:
            raise
        except (*DAMAGE_ERRORS, RnnvizError) as error:
            if getattr(error, "errno", None) in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
                raise TrainingError(
                    "there is no run in {path}; start one with --run-dir {path}", path=self.path
                ) from None
            raise TrainingError(
                "{path} is damaged ({error}); start a new run",
                path=self.description_file,
                error=damage_reason(error),
            ) from None

    def owns_model(self, path: Path) -> bool:
        """Whether the model at `path` is this run's own."""
        path, (events, _) = path.absolute(), event_log.read(self.events)
        finished = {e.get("path") for e in events if e["event"] == "finished"}
        return self.path in path.parents or str(path) in finished

    def kept_steps(self) -> list[int]:
        """The steps whose snapshots were kept, in order."""
        names = (re.fullmatch(r"(\d{9,})\.safetensors", p.name) for p in self.snapshots.glob("*.safetensors"))
        return sorted(int(match[1]) for match in names if match)

    def snapshot_file(self, step: int) -> Path:
        """Where the snapshot of a step is kept."""
        return self.snapshots / f"{step:09d}.safetensors"

    def moment_file(self, step: int) -> Path:
        """Where the weights of a step are kept."""
        return self.moments / f"{step:09d}.safetensors"

    def keep_reserve(self) -> None:
        """Write the reserve if it is missing."""
        if not self.reserve.exists():
            modelfile.write_atomic(
                self.reserve, os.urandom(RESERVE_BYTES)
            )  # so that no file system compresses it

    def sweep(self) -> None:
        """Delete the unfinished files of killed writers. Only the lock's holder may call this."""
        for folder in (self.path, self.snapshots, self.moments):
            for file in folder.glob(".*.*"):
                # `files.replacing` writes to .NAME.RANDOM beside the file, then renames.
                if re.fullmatch(r"\.[\w-]+\.(safetensors|json|txt)\..+", file.name):
                    file.unlink(missing_ok=True)

    # The lock. The system releases it however its holder ends, killed too. A file with a process number
    # would outlive a killed process, and the number could be another's by then.

    def locked(self) -> bool:
        """Whether a process that trains this run, or waits to, is alive."""
        try:
            with files.opened(self.lock) as file:
                # Shared, so that two simultaneous callers don't take one another for the run.
                portalocker.lock(file, portalocker.LockFlags.SHARED | portalocker.LockFlags.NON_BLOCKING)
        except portalocker.LockException:
            return True
        except OSError:  # no lock file, or something else in its place
            return False
        return False

    def take_lock(self, wait: float = 5.0) -> IO[bytes]:
        """The lock, held until the file is closed here and in every child. Tries for `wait` seconds, because
        `locked` holds it for an instant; then raises TrainingError.
        """
        flags = portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING
        try:
            # a+b makes a missing lock file and truncates no existing one.
            return portalocker.Lock(
                self.lock, "a+b", timeout=wait, check_interval=0.01, flags=flags, buffering=0
            ).acquire()
        except portalocker.LockException:
            raise TrainingError(
                "the run in {path} is already under way; stop it first, or follow it", path=self.path
            ) from None
        except OSError as error:
            if self.lock.is_file() or not os.path.lexists(self.lock):
                raise TrainingError(
                    "nothing can be written in {path}: {strerror}; make the folder writable, or copy the run "
                    "to another folder and resume it there",
                    path=self.path,
                    strerror=error.strerror,
                ) from None
            raise TrainingError(
                "the run in {path} has no lock that can be used: {strerror}; remove {lock}",
                path=self.path,
                strerror=error.strerror,
                lock=self.lock,
            ) from None


def folders(home: Path) -> Iterator[RunFolder]:
    """The runs in a folder of runs, unordered, without those whose names can't be shown."""
    try:
        entries = list(os.scandir(home))
    except OSError:
        return
    for entry in entries:
        folder = RunFolder(entry.path)
        with contextlib.suppress(OSError):  # another user's folder, perhaps
            if entry.name.startswith(".") or not files.is_shown(folder.path) or not entry.is_dir():
                continue
            if folder.description_file.exists():
                yield folder


def run_folder(id: str) -> RunFolder | None:
    """The folder of the run with this id in `home()`; None for an invalid id. It need not exist.

    >>> run_folder("mine").path == home() / "mine"
    True
    >>> [run_folder(id) for id in ("", "../mine", ".queue")]
    [None, None, None]
    """
    folder = RunFolder(home() / id)
    return None if not id or id.startswith(".") or folder.path.parent != home() else folder
