"""`rnnviz host`: the app for a class, on this computer's addresses."""

import os
from typing import Annotated
from urllib.parse import urlsplit

from rnnviz.cli.bind import Help
from rnnviz.ui import launch
from rnnviz.ui.app import Port
from rnnviz.ui.hosting.limits import CAPACITY


def host(
    *,
    port: Port = None,
    address: Annotated[str, "which of this computer's addresses to listen on (default: all)"] = "",
    name: Annotated[
        list[str] | None,
        "another name that visitors open the app by, again for more; the first is printed. A whole address, "
        "such as https://hall.example.org, where a proxy answers to it",
    ] = None,
    capacity: Annotated[
        int | None,
        Help(f"pages that visitors have open at a time (default: {CAPACITY})", metavar="N"),
    ] = None,
    trust_proxy: Annotated[
        str,
        Help(
            "of proxies whose word counts on who asks, and whether by https (default: none)",
            metavar="ADDRESSES",
        ),
    ] = "",
    certificate: Annotated[
        str | None, Help("for https, both", "--server.sslCertFile", metavar="FILE")
    ] = None,
    key: Annotated[str | None, Help("for https, both", "--server.sslKeyFile", metavar="FILE")] = None,
) -> int:
    """Serve the app to a class: the lecturer may do everything, visitors look, type and try.

    examples:
      rnnviz host
      rnnviz host --capacity 80 --port 80 --name hall.example.org
      rnnviz host --server.sslCertFile cert.pem --server.sslKeyFile key.pem
      rnnviz host --address 127.0.0.1 --trust-proxy 127.0.0.1 --name https://hall.example.org
    """
    from rnnviz.ui.room.addresses import addresses

    names = name or []
    os.environ["RNNVIZ_HOSTED"] = "1"
    os.environ["FORWARDED_ALLOW_IPS"] = trust_proxy  # read by uvicorn
    if capacity is not None:
        os.environ["RNNVIZ_CAPACITY"] = str(capacity)
    if names and "://" in names[0]:
        os.environ["RNNVIZ_ADDRESS"] = names[0].rstrip("/")
    hosts = [urlsplit(one if "://" in one else f"//{one}").hostname or one for one in names]
    here = [address] if address else [one.address for one in addresses()]
    found = {
        "server.address": address or "0.0.0.0",
        "server.port": port,
        "server.headless": True,
        "server.allowedHosts": list(dict.fromkeys([*hosts, *here, "localhost", "127.0.0.1", "::1"])),
        "browser.serverAddress": hosts[0] if hosts else "localhost",  # else Streamlit asks a web service
        "logger.hideWelcomeMessage": True,
        "server.sslCertFile": certificate,
        "server.sslKeyFile": key,
    }
    return launch.serve("host", {option: value for option, value in found.items() if value is not None})
