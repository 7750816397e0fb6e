"""``periplus mcp``: the collection for agents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from periplus.cli import options as opt
from periplus.cli.output import messages, say_notice
from periplus.cli.warming import ready_kernels


def mcp(
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    http: Annotated[bool, typer.Option("--http", help="streamable HTTP instead of standard input and output")] = False,
    host: Annotated[str, typer.Option(help="with --http: address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="with --http: port to listen on; 0 takes a free one")] = 8090,
) -> None:
    """Serve search, page, explain and site to agents by the Model Context Protocol, over stdio or HTTP."""
    from periplus.app import Collection, require_mcp, serve_mcp_over_http, serve_mcp_over_stdio

    require_mcp()
    with Collection.existing(directory) as collection:
        ready_kernels()
        say_notice(collection)
        if http:
            serve_mcp_over_http(collection, host, port, _say_where)
        else:
            serve_mcp_over_stdio(collection)


def _say_where(address: str) -> None:
    messages().print(f"MCP server   {address}\nCtrl-C stops it", soft_wrap=True, markup=False)
