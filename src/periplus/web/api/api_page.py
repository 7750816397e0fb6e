"""``/api``: the API for people, made from the same table as ``/openapi.json``, with snippets to begin with."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import msgspec
from starlette.concurrency import run_in_threadpool

from periplus.errors import PeriplusError
from periplus.web.api.operations import OPERATIONS, Operation
from periplus.web.rendering.rendering import page
from periplus.web.requests.access import GUARDED
from periplus.web.requests.keys import SCOPES
from periplus.web.requests.public import public_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from periplus.web.backend import Backend
    from periplus.web.requests.parameters import Parameter

# Values of required parameters and of bodies in the snippets.
EXAMPLES = {"q": "spring tide", "url": "https://example.org/", "text": "Running C++ in Zürich", "number": "2"}
BODIES = {
    "CrawlOrder": {"seeds": ["https://example.org/"], "max_pages": 500},
    "PageOrder": {"url": "https://example.org/new"},
}
KEY = "pk_…"  # stands for a key in the snippets


class Snippets(msgspec.Struct, frozen=True):
    curl: str
    python: str
    javascript: str


async def api_page(request: Request) -> Response:
    base = public_of(request).base(request)
    examples = EXAMPLES | await run_in_threadpool(_known, request.app.state.backend)
    operations = [described(operation, base, examples) for operation in OPERATIONS]
    return page(request, "api.html", {"operations": operations, "scopes": SCOPES, "base": base})


def _known(backend: Backend) -> dict[str, str]:
    """The best page of the collection, so that snippets about a page work as they stand; nothing without one."""
    try:
        hosts = backend.sites("", 1)["hosts"]
        site = backend.site(hosts[0]) if hosts else None
    except PeriplusError:
        return {}
    best = (site or {}).get("best")
    return {"url": best[0]["url"]} if best else {}


def described(operation: Operation, base: str, examples: dict[str, str] = EXAMPLES) -> dict[str, Any]:
    """What the page shows of one operation."""
    return {
        "name": operation.name,
        "method": operation.method,
        "path": operation.path,
        "summary": operation.summary,
        "scope": operation.scope,
        "guarded": operation.scope in GUARDED,
        "parameters": [_row(parameter) for parameter in (*operation.places, *operation.parameters)],
        "fields": _fields(operation.body) if operation.body else (),
        "snippets": snippets(operation, base, examples),
    }


def _row(parameter: Parameter) -> dict[str, str]:
    allowed = {
        "integer": f"{parameter.minimum:,} to {parameter.maximum:,}",
        "flag": "0 or 1",
        "date": "such as 2025-01-31",
        "choice": ", ".join(choice or "(none)" for choice in parameter.choices),
    }.get(parameter.kind, f"up to {parameter.maximum:,} characters")
    default = "required" if parameter.required else str(parameter.default or "")
    if parameter.kind == "flag":
        default = "0"
    return {"name": parameter.name, "help": parameter.help, "allowed": allowed, "default": default}


def _fields(body: Any) -> tuple[str, ...]:
    return tuple(body.__struct_fields__)


def snippets(operation: Operation, base: str, examples: dict[str, str] = EXAMPLES) -> Snippets:
    """The operation asked with curl, Python and JavaScript; with a key where one is always needed."""
    address = base + _target(operation, examples)
    body = BODIES.get(operation.body.__name__) if operation.body else None
    headers = {"Authorization": f"Bearer {KEY}"} if operation.scope in GUARDED else {}
    if body is not None:
        headers["Content-Type"] = "application/json"
    return Snippets(
        _curl(operation.method, address, headers, body),
        _python(operation.method, address, headers, body),
        _javascript(operation.method, address, headers, body),
    )


def _target(operation: Operation, examples: dict[str, str]) -> str:
    path = operation.path
    for place in operation.places:
        path = path.replace(f"{{{place.name}}}", quote(examples[place.name]))
    given = {item.name: examples[item.name] for item in operation.parameters if item.required or item.name == "q"}
    return f"{path}?{urlencode(given)}" if given else path


def _curl(method: str, address: str, headers: dict[str, str], body: Any) -> str:
    parts = ["curl", *(["-X", method] if method != "GET" else [])]
    for name, value in headers.items():
        parts += ["-H", f"{name}: {value}"]
    if body is not None:
        parts += ["-d", json.dumps(body)]
    return " ".join(shlex.quote(part) for part in [*parts, address])


def _python(method: str, address: str, headers: dict[str, str], body: Any) -> str:
    lines = ["import json", "import urllib.request", ""]
    if method == "GET" and not headers:
        lines.append(f"with urllib.request.urlopen({json.dumps(address)}) as answer:")
    else:
        data = f", data=json.dumps({json.dumps(body)}).encode()" if body is not None else ""
        lines.append(f"request = urllib.request.Request({json.dumps(address)}{data}, method={json.dumps(method)})")
        lines += [f"request.add_header({json.dumps(name)}, {json.dumps(text)})" for name, text in headers.items()]
        lines.append("with urllib.request.urlopen(request) as answer:")
    return "\n".join([*lines, "    print(json.load(answer))"])


def _javascript(method: str, address: str, headers: dict[str, str], body: Any) -> str:
    options: list[str] = []
    if method != "GET":
        options.append(f"method: {json.dumps(method)}")
    if headers:
        options.append(f"headers: {json.dumps(headers, ensure_ascii=False)}")
    if body is not None:
        options.append(f"body: JSON.stringify({json.dumps(body)})")
    given = f", {{{', '.join(options)}}}" if options else ""
    return f"const answer = await fetch({json.dumps(address)}{given});\nconsole.log(await answer.json());"
