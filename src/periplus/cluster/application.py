"""What a shard server says to a request: one route for each method of ``Shard``.

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
import logging
import time
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from periplus.cluster.codec import METHODS, BadMessage, decode_question, encode_answer
from periplus.cluster.holding import OtherGeneration
from periplus.errors import Overloaded, PeriplusError
from periplus.web import Call, Expired, Pool

if TYPE_CHECKING:
    from periplus.cluster.holding import HeldShard

ROUTE = b"/shard/v1/"
MAX_LEFT = 60_000  # milliseconds that a question may give
_TEXT = b"text/plain; charset=utf-8"
_MESSAGE = b"application/msgpack"
_JSON = b"application/json"

_logger = logging.getLogger(__name__)


class ShardRequest(NamedTuple):
    verb: bytes
    target: bytes  # path and query
    authorization: bytes
    body: bytes


class ShardResponse(NamedTuple):
    status: int
    body: bytes
    kind: bytes = _TEXT
    retry: bool = False  # it may be asked again in a moment


class Asker(Protocol):
    """Whoever sent a request."""

    def is_waiting(self) -> bool:
        """Whether anything that is replied could still be read."""

    def reply(self, reply: ShardResponse) -> None: ...


class Readiness(msgspec.Struct, frozen=True):
    """What ``/readyz`` tells."""

    shards: dict[int, dict[int, int]]  # documents by shard and generation
    load: int  # questions that are being answered or wait
    draining: bool = False


class _Refused(Exception):
    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class _ShardQuestion(NamedTuple):
    """What a request asks."""

    method: str
    shard: HeldShard
    generation: int
    left: float  # seconds
    arrived: float
    body: bytes

    def answer(self) -> bytes:
        arguments = decode_question(self.method, self.body, self.arrived + self.left)
        with self.shard.use(self.generation) as held:
            return encode_answer(getattr(held, self.method)(*arguments))


class ShardApplication:
    """Used by one event loop; told of shards and asked for its readiness by any thread."""

    def __init__(self, token: str = "") -> None:
        self._shards: dict[int, HeldShard] = {}
        self._authorization = f"Bearer {token}".encode() if token else b""
        self._pool = Pool()
        self.load = 0
        self.draining = False  # about to end: brokers should ask others
        self.refusing = False  # ending: nothing new is begun
        self.answered: Counter[int] = Counter()  # by status

    def serve(self, shard: HeldShard) -> None:
        """Answer for a shard from now on."""
        self._shards = {**self._shards, shard.number: shard}

    def readiness(self) -> Readiness:
        shards = {number: shard.documents() for number, shard in self._shards.items()}
        return Readiness(shards, self.load, self.draining)

    def take(self, request: ShardRequest, asker: Asker) -> None:
        """Reply to a request, now or when its turn has come."""
        if request.verb == b"POST" and request.target.startswith(ROUTE):
            self._begin(request, asker)
        elif request.target == b"/healthz":
            asker.reply(ShardResponse(200, b"alive\n"))
        elif request.target == b"/readyz":
            readiness = self.readiness()
            is_ready = not self.draining and bool(readiness.shards) and all(readiness.shards.values())
            asker.reply(ShardResponse(200 if is_ready else 503, msgspec.json.encode(readiness), _JSON))
        else:
            asker.reply(ShardResponse(404, b"there is nothing at this path\n"))

    def _begin(self, request: ShardRequest, asker: Asker) -> None:
        self.load += 1

        def answered(body: bytes) -> None:
            self._reply(asker, ShardResponse(200, body, _MESSAGE))

        def failed(error: BaseException) -> None:
            self._reply(asker, _refusal(error))

        try:
            self._check(request.authorization)
            question = self._question(request)
            if self.refusing:
                raise Overloaded("this server is about to end; ask another")
            if not question.left:
                raise Expired("the time of this question was over before it came; ask again in a moment")
            call = Call(question.answer, answered, failed, asker.is_waiting)
            self._pool.begin(call, question.method, question.left)
        except (PeriplusError, _Refused) as error:
            failed(error)

    def _reply(self, asker: Asker, reply: ShardResponse) -> None:
        self.load -= 1
        self.answered[reply.status] += 1
        asker.reply(reply)

    def _check(self, given: bytes) -> None:
        if self._authorization and not hmac.compare_digest(given, self._authorization):
            raise _Refused(401, "the token of these servers is wanted; see --token-file")

    def _question(self, request: ShardRequest) -> _ShardQuestion:
        path, _, query = request.target.partition(b"?")
        method = path[len(ROUTE) :].decode("latin-1")
        if method not in METHODS:
            raise _Refused(404, f"there is no method {method[:40]!r}; run the same version of Periplus everywhere")
        given = dict(pair.partition(b"=")[::2] for pair in query.split(b"&"))
        try:
            number, generation, left = (int(given[name][:12]) for name in (b"shard", b"generation", b"left_ms"))
        except (KeyError, ValueError) as error:
            raise _Refused(400, "shard, generation and left_ms are whole numbers, and all are wanted") from error
        shard = self._shards.get(number)
        if shard is None:
            raise _Refused(404, f"shard {number} is not served here; this server has {sorted(self._shards)}")
        return _ShardQuestion(method, shard, generation, min(left, MAX_LEFT) / 1000, time.perf_counter(), request.body)


def _refusal(error: BaseException) -> ShardResponse:
    line = f"{error}\n".encode("utf-8", "replace")
    match error:
        case _Refused():
            return ShardResponse(error.status, line)
        case BadMessage():
            return ShardResponse(400, line)
        case OtherGeneration():
            return ShardResponse(409, msgspec.json.encode({"generations": error.held}), _JSON)
        case Expired():
            return ShardResponse(504, line)
        case Overloaded():
            return ShardResponse(503, line, retry=True)
        case PeriplusError():
            return ShardResponse(500, line)
    _logger.error("a question failed", exc_info=error)
    return ShardResponse(500, b"the shard failed; see its log\n")
