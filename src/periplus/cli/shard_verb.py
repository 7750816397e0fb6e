"""``periplus shard``: one shard server."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from periplus import log_lines
from periplus.cli import options as opt
from periplus.cli.output import messages, say_notice
from periplus.cli.warming import ready_kernels


def shard(
    number: Annotated[list[int], typer.Option(min=0, help="the shard that is served, from 0 on; repeatable")],
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    host: Annotated[str, typer.Option(help="address to listen on; all but loopback want a token")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="port to listen on; 0 takes a free one")] = 8650,
    token_file: opt.TokenFile = None,
    advertise: Annotated[
        str, typer.Option(help="address that brokers ask, as http://HOST:PORT, where it is not the one listened on")
    ] = "",
) -> None:
    """Serve one shard of a collection to brokers until Ctrl-C."""
    from periplus.app import Collection, serve_shard, token_of

    token = token_of(token_file, os.environ)
    stopping = threading.Event()
    with Collection.existing(directory) as collection:
        ready_kernels()
        say_notice(collection)
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, lambda *_: stopping.set())
        serve_shard(collection, number, host, port, token, stopping, _say_where, advertise)
        messages().print("stopped", soft_wrap=True)


def _say_where(address: str) -> None:
    if log_lines.tell(f"serving {address}", event="serving", address=address):
        return
    messages().print(Text.assemble("\nshard server   ", (address, "bold"), "\nCtrl-C stops it"), soft_wrap=True)
