"""What strangers, and a class that comes, send to the room: whether the app still answers, memory stays, and
no vote is lost.

    python tests/benchmarks/attacks.py [--only votes bodies] [--seconds 15]

The app with an open room runs in a process of its own. During each attack, which is a third process, the
app's health is asked for 20 times a second, and phones of a class, at another address, vote. A line each has
the worst time of a health check, the memory that the process has gained at most, and the votes that were not
counted.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx2
import psutil
from sitting import figure, options_of, settled

from rnnviz.ui.serving import start
from rnnviz.ui.serving.room import classroom
from rnnviz.ui.serving.room.room import RoomQuestion
from tests.support.serving import ROOT, free_port

HONEST = 50
CLASS = "127.0.0.2"  # the address of the class
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def opened(port: int, data: bytes, source: str = "127.0.0.1") -> Connection | None:
    """A connection from `source` on which this was sent; None if it was refused."""
    with suppress(OSError):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
        with suppress(OSError):
            writer.write(data)
            await writer.drain()
        return reader, writer
    return None


async def request(port: int, data: bytes, source: str = "127.0.0.1") -> bytes:
    """The beginning of the answer to a request."""
    connection = await opened(port, data, source)
    if connection is None:
        return b""
    with suppress(OSError, TimeoutError, EOFError):
        async with asyncio.timeout(5):
            head = await connection[0].readuntil(b"\r\n\r\n")
            length = int((re.findall(rb"content-length: (\d+)", head) or [0])[0])
            return head + await connection[0].readexactly(min(length, 4096))
    connection[1].close()
    return b""


def get(path: str, *headers: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: x", *headers, "", ""]).encode()


def post(path: str, body: bytes, *, length: int | None = None, host: str = "x", origin: str = "") -> bytes:
    length = len(body) if length is None else length
    lines = [f"POST {path} HTTP/1.1", f"Host: {host}", f"Content-Length: {length}"]
    lines += [f"Origin: {origin}"] if origin else []
    return "\r\n".join([*lines, "", ""]).encode() + body


async def join_phones(port: int, count: int, source: str = "127.0.0.1") -> list[str]:
    """So many phones' ids."""
    phones = []
    for _ in range(count):
        answer = await request(port, post("/room/join", b"{}"), source)
        with suppress(ValueError, KeyError):
            phones.append(json.loads(answer.partition(b"\r\n\r\n")[2])["phone"])
    return phones


async def repeat(count: int, at_once: int, make: Callable[[int], Awaitable[Any]]) -> None:
    """Call `make` so many times, some at once."""
    turns = iter(range(count))

    async def work() -> None:
        for n in turns:
            await make(n)

    await asyncio.gather(*(work() for _ in range(at_once)))


async def header(port: int) -> None:
    """Headers that never end, in small pieces, again and again."""

    async def send(_: int) -> None:
        connection = await opened(port, b"GET / HTTP/1.1\r\n")
        with suppress(OSError):
            while connection is not None:
                connection[1].write(b"a: " + b"b" * 1000 + b"\r\n")
                await connection[1].drain()
                await asyncio.sleep(0.01)

    await repeat(10_000, 50, send)


async def silent(port: int) -> None:
    """7,000 sockets on which nothing is sent."""
    connections = [await opened(port, b"") for _ in range(7000)]
    await asyncio.sleep(60)
    del connections


async def unread(port: int) -> None:
    """10,000 requests for a network whose answers are not read."""
    connections: list[Connection | None] = []
    network = (await page_files(port))[0]

    async def send(_: int) -> None:
        connections.append(await opened(port, get(network)))

    await repeat(10_000, 100, send)
    await asyncio.sleep(60)


async def half(port: int) -> None:
    """Posts whose bodies stop in the middle."""
    connections = [await opened(port, post("/room/answer", b'{"pho', length=4000)) for _ in range(2000)]
    await asyncio.sleep(60)
    del connections


async def paths(port: int) -> None:
    """Addresses that lead out of the folder."""
    outside = ("../../etc/passwd", "..%2f..%2fetc%2fpasswd.html", "%2e%2e/%2e%2e/x.html")
    tried = (*outside, "x%00.html", "%c0%ae/x.html", "a" * 9000)

    async def send(n: int) -> None:
        answer = await request(port, get(f"/page/{tried[n % len(tried)]}"))
        assert not answer or b" 404 " in answer or b" 400 " in answer or b" 429 " in answer, answer[:80]

    await repeat(5000, 50, send)


async def forged(port: int) -> None:
    """Requests of other sites' pages, and for other hosts."""

    async def send(n: int) -> None:
        origin = "http://evil.example" if n % 2 else ""
        await request(port, post("/room/join", b"{}", host=f"evil{n}.example", origin=origin))

    await repeat(20_000, 50, send)


async def votes(port: int) -> None:
    """100,000 votes of one phone, then of 500."""
    for count in (1, 500):
        phones = await join_phones(port, count)

        async def send(n: int, phones: list[str] = phones) -> None:
            body = json.dumps({"phone": phones[n % len(phones)], "question": 1, "answer": n % 3}).encode()
            await request(port, post("/room/answer", body))

        if phones:
            await repeat(100_000, 100, send)


async def bodies(port: int) -> None:
    """Bodies of 1 GB."""

    async def send(_: int) -> None:
        connection = await opened(port, post("/room/answer", b"", length=10**9))
        with suppress(OSError):
            for _piece in range(1000 if connection else 0):
                connection[1].write(b"x" * 10**6)  # type: ignore[index]
                await connection[1].drain()  # type: ignore[index]

    await repeat(1000, 20, send)


async def pipelined(port: int) -> None:
    """A thousand requests at a time on one connection."""
    network = (await page_files(port))[0]

    async def send(_: int) -> None:
        await request(port, get(network) * 1000)

    await repeat(1000, 20, send)


async def page_files(port: int) -> list[str]:
    """The paths of the files that a phone's page fetches, a network's first."""
    page = (await fetched(port, "/page/")).decode()
    index = json.loads(page.split('id="index">')[1].split("</script>")[0])
    network = index["networks"][index["first"]["en"]]
    style, script = re.findall(r'(?:href|src)="(page[.][^"]+)"', page)
    fonts = re.findall(r'url[(]"([^"]+)"', (await fetched(port, f"/page/{style}")).decode())
    names = (network["weights"], network["data"], network["fixed"]["en"], script, style)
    return [f"/page/{name}" for name in (*names, *fonts)]


async def fetched(port: int, path: str, source: str = "127.0.0.1", encoding: str = "identity") -> bytes:
    """A file, as it is sent in this encoding."""
    connection = await opened(port, get(path, f"Accept-Encoding: {encoding}", "Connection: close"), source)
    assert connection is not None, "a phone was refused"
    answer = await connection[0].read()
    connection[1].close()
    assert b" 200 " in answer[:20], (path, answer[:80])
    return answer.partition(b"\r\n\r\n")[2]


async def coming(port: int) -> None:
    """500 phones that come within five seconds and fetch the page."""
    files = ["/", "/page/", *await page_files(port)]
    begun, sizes = time.perf_counter(), []

    async def come(n: int) -> None:
        await asyncio.sleep(n / 100)
        phone = f"127.0.1.{n % 250 + 1}"
        sizes.append(sum([len(await fetched(port, path, phone, "gzip")) for path in files]))

    await asyncio.gather(*(come(n) for n in range(500)))
    figure("what a phone fetches", sizes[0] / 1e6, "MB", most=5)
    figure("500 phones have the page after", time.perf_counter() - begun, "s")


ATTACKS = (header, silent, unread, half, paths, forged, votes, bodies, pipelined, coming)


def serve(port: int) -> None:
    """The app, and the room with a question that stays open."""
    options = classroom.RoomOptions("127.0.0.1", port)
    classroom.startup_options = options
    opened = classroom.open_room("en", options)
    opened.asks_questions = True
    opened.stage_question(RoomQuestion("q", "Which?", ("a", "b", "c")))
    start.serve("host", {"server.headless": True, "server.port": free_port()})


@contextmanager
def hosting() -> Iterator[tuple[psutil.Process, str, int]]:
    """The server: its process, the app's address, the room's port."""
    room = free_port()
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    options: dict[str, Any] = {"cwd": ROOT, "env": environment, "stdout": subprocess.PIPE}
    with subprocess.Popen(
        [sys.executable, __file__, "--serve", str(room)], encoding="utf-8", **options
    ) as host:
        try:
            lines = iter(host.stdout or ())
            app = next(match[0] for line in lines if (match := re.findall(r"http://localhost:\d+", line)))
            next(line for line in lines if "The class opens" in line)
            while b" 200 " not in asyncio.run(
                request(room, get("/page/"))
            ):  # built after the address is there
                time.sleep(1)
            yield psutil.Process(host.pid), app, room
        finally:
            host.terminate()


async def vote(port: int, phone: str, choice: int) -> bool:
    """Whether a phone's vote is counted within half a minute: its page tries until it is."""
    body = json.dumps({"phone": phone, "question": 1, "answer": choice}).encode()
    end = time.monotonic() + 30
    while time.monotonic() < end:
        answer = await request(port, post("/room/answer", body), CLASS)
        if f'"mine":{choice}'.encode() in answer:
            return True
        await asyncio.sleep(2)
    return False


async def class_votes(port: int, phones: list[str], seconds: float) -> int:
    """A vote a second; returns how many were not counted."""
    waiting = []
    for n in range(round(seconds)):
        waiting.append(asyncio.create_task(vote(port, phones[n % len(phones)], n % 3)))
        await asyncio.sleep(1)
    return (await asyncio.gather(*waiting)).count(False)


def watch(
    server: psutil.Process, app: str, room: int, phones: list[str], seconds: float
) -> tuple[float, float, int]:
    """The worst health check in seconds, the most memory in MB, and votes that were not counted."""
    worst, highest_mb, lost = 0.0, 0.0, list[int]()
    voting = threading.Thread(target=lambda: lost.append(asyncio.run(class_votes(room, phones, seconds))))
    voting.start()
    with httpx2.Client(trust_env=False, timeout=60) as client:
        while voting.is_alive():
            begun = time.perf_counter()
            assert client.get(f"{app}/_stcore/health").text == "ok"
            worst = max(worst, time.perf_counter() - begun)
            highest_mb = max(highest_mb, server.memory_info().rss / 1e6)
            client.get(f"{app}/room")  # the stage is looked at, so that its question stays open
            time.sleep(0.05)
    return worst, highest_mb, lost[0]


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--only", nargs="+", default=[attack.__name__ for attack in ATTACKS])
    parser.add_argument("--seconds", type=float, default=15.0, help="of each attack (default 15)")
    parser.add_argument("--serve", type=int, metavar="PORT", help="be the server")
    parser.add_argument("--send", nargs=2, metavar=("ATTACK", "PORT"), help="be the attacker")
    options = parser.parse_args()
    attacks_by_name = {attack.__name__: attack for attack in ATTACKS}
    if options.send:
        asyncio.run(attacks_by_name[options.send[0]](int(options.send[1])))
    elif options.serve:
        serve(options.serve)
    else:
        for name in options.only:
            measure(name, attacks_by_name[name].__doc__ or "", options.seconds)


def measure(name: str, description: str, seconds: float) -> None:
    """Print an attack's figures."""
    with hosting() as (server, app, room):
        phones = asyncio.run(join_phones(room, HONEST, CLASS))
        before = settled(server)
        command = [sys.executable, __file__, "--send", name, str(room)]
        with subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}) as attacker:
            worst, highest_mb, lost = watch(server, app, room, phones, seconds)
            attacker.kill()
    description = description.rstrip(".")
    figure(f"{description}: the app's worst health check", worst, "s", most=0.5)
    figure(f"{description}: memory gained", highest_mb - before, "MB", most=60)
    figure(f"{description}: votes of the class not counted", lost, most=0)


if __name__ == "__main__":
    main()
