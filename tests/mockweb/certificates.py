"""A test authority and the certificates it signs, the good and the bad.

Every name that a client asks for is given a good certificate of its own when it is first asked for, except these
hosts: ``expired.test``, ``wrong-name.test`` and ``self-signed.test`` (signed by an authority that nobody trusts).
"""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import trustme

if TYPE_CHECKING:
    from pathlib import Path

LONG_AGO = datetime(2001, 1, 1, tzinfo=UTC)


class Certificates:
    def __init__(self, folder: Path) -> None:
        self._authority = trustme.CA(key_type=trustme.KeyType.ECDSA)
        stranger = trustme.CA(key_type=trustme.KeyType.ECDSA)
        self.authority_file = folder / "test-authority.pem"
        self._authority.cert_pem.write_to_path(str(self.authority_file))
        self._by_name = {
            "expired.test": _context(self._authority.issue_cert("expired.test", not_after=LONG_AGO)),
            "wrong-name.test": _context(self._authority.issue_cert("other.example")),
            "self-signed.test": _context(stranger.issue_cert("self-signed.test")),
        }

    def server_context(self) -> ssl.SSLContext:
        context = _context(self._authority.issue_cert("127.0.0.1", "localhost"))
        context.sni_callback = self._choose
        return context

    def client_context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.authority_file))

    def _choose(self, connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        if name:
            if name not in self._by_name:
                self._by_name[name] = _context(self._authority.issue_cert(name))
            connection.context = self._by_name[name]


def _context(certificate: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context
