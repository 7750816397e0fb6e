"""``periplus serve``: the search page, the API and the console."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from periplus import log_lines
from periplus.cli import options as opt
from periplus.cli.output import messages, say_notice
from periplus.cli.warming import ready_kernels
from periplus.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from periplus.app import Collection, ShardPlan


def serve(
    directories: Annotated[
        list[Path] | None,
        typer.Option("--dir", help="folder of the collection; of several, each is below /c/NAME/", show_default=False),
    ] = None,
    host: Annotated[str | None, typer.Option(help="address to listen on")] = None,
    port: Annotated[int | None, typer.Option(help="port to listen on; 0 takes a free one")] = None,
    workers: Annotated[int | None, typer.Option(help="server processes that share the port")] = None,
    tls_cert: Annotated[str | None, typer.Option(help="certificate file, for https")] = None,
    tls_key: Annotated[str | None, typer.Option(help="file of the certificate's key")] = None,
    shards: Annotated[
        str | None, typer.Option(help="shard servers that search: http://host:port,…; auto finds those that report")
    ] = None,
    shard_processes: Annotated[int | None, typer.Option(help="search in so many processes of its own")] = None,
    token_file: opt.TokenFile = None,
) -> None:
    """Serve the search page and the API of a collection, or of several, until Ctrl-C."""
    from periplus.app import Collection
    from periplus.app.serving.server import serve_collection

    flags = {
        "serve.host": host,
        "serve.port": port,
        "serve.workers": workers,
        "serve.tls_cert": tls_cert,
        "serve.tls_key": tls_key,
    }
    plan = _plan(shards, shard_processes, token_file)
    folders = directories or [Path(opt.DEFAULT_FOLDER)]
    if len(folders) > 1:
        _serve_several(folders, flags, plan)
        return
    with Collection.existing(folders[0], flags=flags) as collection, ExitStack() as stack:
        if plan is None:
            plan = stack.enter_context(_plan_of_cluster(collection))
        ready_kernels()
        say_notice(collection)
        serve_collection(collection, started=say_where(collection), say=say_line, plan=plan)
        messages().print("stopped", soft_wrap=True)


def _serve_several(folders: list[Path], flags: dict[str, Any], plan: ShardPlan | None) -> None:
    from periplus.app import Collection
    from periplus.app.serving.several import serve_several

    if plan is not None:
        raise UsageError("shard servers search one collection; start a server for each")
    with ExitStack() as held:
        opened = [held.enter_context(Collection.existing(folder, flags=flags)) for folder in folders]
        ready_kernels()
        for collection in opened:
            say_notice(collection)
        serve_several(opened, lambda collection, page, console: say_where(collection)(page, console))
        messages().print("stopped", soft_wrap=True)


def _plan(shards: str | None, processes: int | None, token_file: Path | None) -> ShardPlan | None:
    """Who searches; None: this process itself."""
    if shards is None and processes is None:
        return None
    if shards is not None and processes is not None:
        raise UsageError("give --shards or --shard-processes, not both")
    from periplus.app import ShardPlan, token_of

    if processes is not None:
        if processes < 1:
            raise UsageError("--shard-processes is at least 1")
        return ShardPlan(processes=processes)
    urls = tuple(url.strip() for url in (shards or "").split(",") if url.strip())
    if not urls:
        raise UsageError("--shards names no server; write http://host:port,… or auto")
    return ShardPlan(urls, token=token_of(token_file, os.environ))


@contextmanager
def _plan_of_cluster(collection: Collection) -> Iterator[ShardPlan | None]:
    """Where machines have joined, their shard servers search, and are started for that; else this process does."""
    if not collection.settings.storage.database:
        yield None
        return
    from periplus.app import FOUND, ShardPlan, has_cluster, wishing_for_shards

    if not has_cluster(collection):
        yield None
        return
    with wishing_for_shards(collection) as token:
        yield ShardPlan((FOUND,), token=token)


def say_line(line: str) -> None:
    messages().print(line, soft_wrap=True, markup=False)


def say_where(collection: Collection) -> Callable[[str, str], None]:
    """Tells which address to open, and where the key of the console is to be had."""

    def say(address: str, console: str) -> None:
        if log_lines.tell(f"serving {address}", event="serving", address=address, console=console.partition("?")[0]):
            if collection.keys.operator.shown:
                log_lines.tell(f"{_another_key(collection)} shows a key of the console; logs do not", event="no-key")
            return
        lines = f"\nconsole       {console}\n              {_of_key(collection)}\nCtrl-C stops it"
        messages().print(Text.assemble("\nsearch page   ", (address, "bold"), lines), soft_wrap=True)

    return say


def _of_key(collection: Collection) -> str:
    operator = collection.keys.operator
    if operator.trouble:
        return f"this key is for this start only, since it cannot be kept: {operator.trouble.partition(';')[0]}"
    if operator.shown:
        return "its key is shown this once; a browser that opened it stays logged in"
    made = datetime.fromtimestamp(operator.created, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"its key was shown when it was made, {made}; {_another_key(collection)} makes another"


def _another_key(collection: Collection) -> str:
    return f"periplus keys operator --new --dir {collection.folder}"
