"""The ASGI application of a shard server: one route for each method of ``Shard``.

    POST /shard/v1/top?shard=3&generation=17&left_ms=830     arguments and answer by ``codec``
    GET  /healthz                                             the process is alive
    GET  /readyz                                              every shard has a generation, opened and warmed

| status | means |
|---|---|
| 400 | the question cannot be read |
| 401 | without the token of these servers |
| 404 | no such method, or a shard that is served elsewhere |
| 409 | another generation is here; the body names those that are |
| 413 | the question is longer than ``codec.MAX_QUESTION`` |
| 500 | the shard failed; the body says why |
| 503 | more is asked than can be answered in time, or the server is about to end; ``Retry-After`` |
| 504 | the time of the question was over before its turn came |
"""

from __future__ import annotations

import hmac
import time
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import msgspec

from periplus.cluster.codec import MAX_QUESTION, METHODS, BadMessage, decode_question, encode_answer
from periplus.cluster.holding import OtherGeneration
from periplus.errors import Overloaded, PeriplusError
from periplus.web import Expired, Pool

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from periplus.cluster.holding import HeldShard

ROUTE = "/shard/v1/"
MAX_LEFT = 60_000  # milliseconds that a question may give
RETRY_AFTER = "1"
_TEXT = b"text/plain; charset=utf-8"
_MESSAGE = b"application/msgpack"
_JSON = b"application/json"


class Readiness(msgspec.Struct, frozen=True):
    """What ``/readyz`` tells."""

    shards: dict[int, dict[int, int]]  # documents by shard and generation
    load: int  # questions that are being answered or wait
    draining: bool = False


class _Refused(Exception):
    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class ShardApplication:
    def __init__(self, token: str = "") -> None:
        self._shards: dict[int, HeldShard] = {}
        self._authorization = f"Bearer {token}".encode() if token else b""
        self._pool = Pool()
        self.load = 0
        self.draining = False  # about to end: brokers should ask others
        self.refusing = False  # ending: nothing new is begun
        self.answered: Counter[str] = Counter()  # by status

    def serve(self, shard: HeldShard) -> None:
        """Answer for a shard from now on."""
        self._shards = {**self._shards, shard.number: shard}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        path = scope["path"]
        if path.startswith(ROUTE) and scope["method"] == "POST":
            await self._question(scope, path[len(ROUTE) :], receive, send)
        elif path == "/healthz":
            await _reply(send, 200, b"alive\n", _TEXT)
        elif path == "/readyz":
            readiness = self.readiness()
            is_ready = not self.draining and bool(readiness.shards) and all(readiness.shards.values())
            await _reply(send, 200 if is_ready else 503, msgspec.json.encode(readiness), _JSON)
        else:
            await _reply(send, 404, b"there is nothing at this path\n", _TEXT)

    def readiness(self) -> Readiness:
        shards = {number: shard.documents() for number, shard in self._shards.items()}
        return Readiness(shards, self.load, self.draining)

    async def _question(self, scope: Scope, method: str, receive: Receive, send: Send) -> None:
        arrived = time.perf_counter()
        self.load += 1
        kind, retry = _TEXT, False
        try:
            body = await self._answer(scope, method, receive, arrived)
            status, kind = 200, _MESSAGE
        except _Refused as refused:
            status, body = refused.status, _line(refused)
        except BadMessage as error:
            status, body = 400, _line(error)
        except OtherGeneration as error:
            status, body, kind = 409, msgspec.json.encode({"generations": error.held}), _JSON
        except Expired as error:
            status, body = 504, _line(error)
        except Overloaded as error:
            status, body, retry = 503, _line(error), True
        except PeriplusError as error:
            status, body = 500, _line(error)
        finally:
            self.load -= 1
        self.answered[str(status)] += 1
        await _reply(send, status, body, kind, retry=retry)

    async def _answer(self, scope: Scope, method: str, receive: Receive, arrived: float) -> bytes:
        self._check(scope)
        shard, generation, left = self._asked(scope, method)
        data = await _body(receive)
        if self.refusing:
            raise Overloaded("this server is about to end; ask another")
        deadline = arrived + left

        def answered() -> bytes:
            arguments = decode_question(method, data, deadline)
            with shard.use(generation) as held:
                return encode_answer(getattr(held, method)(*arguments))

        return await self._pool.run(answered, kind=method, within=left - (time.perf_counter() - arrived))

    def _check(self, scope: Scope) -> None:
        if not self._authorization:
            return
        given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        if not hmac.compare_digest(given, self._authorization):
            raise _Refused(401, "the token of these servers is wanted; see --token-file")

    def _asked(self, scope: Scope, method: str) -> tuple[HeldShard, int, float]:
        """Of which shard, of which generation, and how many seconds there are."""
        if method not in METHODS:
            raise _Refused(404, f"there is no method {method[:40]!r}; run the same version of Periplus everywhere")
        given = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        try:
            number, generation, left = (int(given[name][:12]) for name in ("shard", "generation", "left_ms"))
        except (KeyError, ValueError) as error:
            raise _Refused(400, "shard, generation and left_ms are whole numbers, and all are wanted") from error
        if number not in self._shards:
            raise _Refused(404, f"shard {number} is not served here; this server has {sorted(self._shards)}")
        return self._shards[number], generation, min(left, MAX_LEFT) / 1000


async def _body(receive: Receive) -> bytes:
    parts, size, is_more = [], 0, True
    while is_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Refused(400, "the question was not sent to its end")
        part = message.get("body", b"")
        size += len(part)
        if size > MAX_QUESTION:
            raise _Refused(413, f"a question has at most {MAX_QUESTION:,} bytes")
        parts.append(part)
        is_more = message.get("more_body", False)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _line(error: Exception) -> bytes:
    return f"{error}\n".encode("utf-8", "replace")


async def _reply(send: Send, status: int, body: bytes, kind: bytes, *, retry: bool = False) -> None:
    headers: list[Any] = [(b"content-type", kind), (b"content-length", b"%d" % len(body))]
    if retry:
        headers.append((b"retry-after", RETRY_AFTER.encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
