"""Small JSON files that carry a checksum of what they hold, so that a flipped letter is noticed and not believed.

    {"xxh3": "8f1c…", "content": …}

The checksum is of the bytes of the content as they stand in the file. For what is written by programs and read by
programs; files that people edit carry none.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from xxhash import xxh3_64_hexdigest

from periplus.errors import Corrupt

T = TypeVar("T")


class Sealed(Struct, forbid_unknown_fields=True):
    xxh3: str
    content: msgspec.Raw


def sealed(value: Any) -> bytes:
    content = msgspec.json.encode(value)
    return msgspec.json.encode(Sealed(xxh3_64_hexdigest(content), msgspec.Raw(content)))


def unsealed(data: bytes, kind: type[T]) -> T:
    """What was sealed; raises ``Corrupt``, whose message says in what way this is not it."""
    try:
        found = msgspec.json.decode(data, type=Sealed)
        if found.xxh3 != xxh3_64_hexdigest(bytes(found.content)):
            raise Corrupt("it does not match its checksum")
        return msgspec.json.decode(found.content, type=kind)
    except (msgspec.MsgspecError, ValueError) as error:  # UTF-8 errors are ValueErrors
        raise Corrupt(str(error)) from error
