"""``periplus serve``: the search page, the API and the console."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from periplus.cli import options as opt
from periplus.cli.output import messages, say_notice
from periplus.cli.warming import ready_kernels


def serve(
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    host: Annotated[str | None, typer.Option(help="address to listen on")] = None,
    port: Annotated[int | None, typer.Option(help="port to listen on; 0 takes a free one")] = None,
    workers: Annotated[int | None, typer.Option(help="server processes that share the port")] = None,
    tls_cert: Annotated[str | None, typer.Option(help="certificate file, for https")] = None,
    tls_key: Annotated[str | None, typer.Option(help="file of the certificate's key")] = None,
) -> None:
    """Serve the search page and the API of a collection until Ctrl-C."""
    from periplus.app import Collection
    from periplus.app.serving import serve_collection

    flags = {
        "serve.host": host,
        "serve.port": port,
        "serve.workers": workers,
        "serve.tls_cert": tls_cert,
        "serve.tls_key": tls_key,
    }
    with Collection.existing(directory, flags=flags) as collection:
        ready_kernels()
        say_notice(collection)
        serve_collection(collection, started=say_where)
        messages().print("stopped", soft_wrap=True)


def say_where(address: str, console: str) -> None:
    """Tell which address to open."""
    said = Text.assemble("\nsearch page   ", (address, "bold"), f"\nconsole       {console}\nCtrl-C stops it")
    messages().print(said, soft_wrap=True)
