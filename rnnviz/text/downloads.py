"""One file from the network, whole and checked, or a clear reason why not."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rnnviz.errors import ConfigError, DownloadError

Progress = Callable[[int, int], None]  # bytes received, bytes expected


@dataclass(frozen=True)
class Limits:
    """Time limits of a download, in seconds: to connect, without a single byte, and altogether."""

    connect: float = 10.0
    stall: float = 20.0
    total: float = 600.0

    def __post_init__(self) -> None:
        if not (self.connect > 0 and self.stall > 0 and self.total > 0):
            raise ConfigError("time limits are seconds above 0; received {limits}", limits=self)


def cache_folder() -> Path:
    """The folder for downloads: the environment's RNNVIZ_CACHE, else in the user's cache folder."""
    if folder := os.environ.get("RNNVIZ_CACHE"):
        return Path(folder).expanduser()
    import pooch

    return Path(pooch.os_cache("rnnviz"))


def download(
    url: str,
    path: Path,
    *,
    sha256: str,
    size: int,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Path:
    """Fetch `url` into the file `path`, unless a file with that checksum is there. Raises DownloadError.

    `size` is in bytes. `progress` gets the bytes received and expected; if it raises, the download ends.
    """
    import pooch  # these cost 0.1 s, and most runs download nothing

    def fetch(url: str, target: str | os.PathLike[str], _: object) -> None:
        _transfer(url, Path(target), size, limits or Limits(), progress)

    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")  # progress is the caller's to show
    try:
        pooch.retrieve(url, f"sha256:{sha256}", fname=path.name, path=path.parent, downloader=fetch)
    except ValueError:
        raise DownloadError(
            "{url} arrived with the wrong checksum, altered on its way or at its source; "
            "try again, or save the file yourself",
            url=url,
        ) from None
    except OSError as error:
        raise DownloadError(
            "{path} can't be written ({strerror}); make room there, or set RNNVIZ_CACHE to another folder",
            path=path,
            strerror=error.strerror or error,
        ) from None
    finally:
        logger.setLevel(level)
    return path


def _transfer(url: str, target: Path, size: int, limits: Limits, progress: Progress | None) -> None:
    import requests
    import urllib3

    received = 0
    try:
        # Compression would make the size on the way differ from the size of the file.
        with (
            requests.get(
                url,
                stream=True,
                timeout=(limits.connect, limits.stall),
                headers={"Accept-Encoding": "identity", "User-Agent": "rnnviz"},
            ) as response,
            target.open("wb") as file,
        ):
            if response.status_code != 200:
                raise DownloadError(
                    "{url} was refused: {status} {reason}; try again, or save the file yourself",
                    url=url,
                    status=response.status_code,
                    reason=response.reason,
                )
            for data in _within(limits, response.raw, url, size):
                received += len(data)
                file.write(data)
                if progress is not None:
                    progress(received, size)
    except requests.exceptions.Timeout:
        raise DownloadError(
            "{url} was not answered by {host}; try again, or save the file yourself", url=url, host=_host(url)
        ) from None
    except urllib3.exceptions.ReadTimeoutError:
        raise DownloadError(
            "{url} stalled for {seconds:g} s after {received:,} of {size:,} bytes; "
            "try again, or save the file yourself",
            url=url,
            seconds=limits.stall,
            received=received,
            size=size,
        ) from None
    except urllib3.exceptions.HTTPError:
        pass  # the connection broke: what is missing says so
    except requests.exceptions.ConnectionError:
        raise DownloadError(
            "{url} needs a connection to {host}: are you offline? Try again, or save the file yourself",
            url=url,
            host=_host(url),
        ) from None
    except requests.exceptions.RequestException as error:
        raise DownloadError(
            "{url} can't be fetched ({error}); try again, or save the file yourself", url=url, error=error
        ) from None
    if received < size:
        raise DownloadError(
            "{url} was cut off after {received:,} of {size:,} bytes; try again, or save the file yourself",
            url=url,
            received=received,
            size=size,
        )


def _within(limits: Limits, response: Any, url: str, size: int) -> Iterator[bytes]:
    deadline, received = time.monotonic() + limits.total, 0
    # read1 returns what has arrived; read would wait for more and let a trickle outlast the deadline.
    while data := response.read1(1 << 16):
        received += len(data)
        if received > size:
            raise DownloadError(
                "{url} has more than {size:,} bytes, so it is another text; "
                "try again, or save the file yourself",
                url=url,
                size=size,
            )
        if time.monotonic() > deadline:
            raise DownloadError(
                "{url} took over {seconds:g} s for {received:,} of {size:,} bytes; "
                "try again, or save the file yourself",
                url=url,
                seconds=limits.total,
                received=received,
                size=size,
            )
        yield data


def _host(url: str) -> str:
    return urlsplit(url).hostname or url
