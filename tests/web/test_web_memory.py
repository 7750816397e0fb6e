"""The memory breaker: searches are refused with a reason, other pages are not, and all is well again by itself."""

from __future__ import annotations

from asgi_client import Client

from periplus.settings import Settings
from periplus.web import create_app
from periplus.web.serving.memory import MemoryBreaker, breaker_of, group_limit, group_memory, own_memory

MIB = 1 << 20


class Machine:
    def __init__(self, used: int) -> None:
        self.used, self.now, self.reliefs = used, 0.0, 0
        self.given_back = 0

    def breaker(self, limit: int) -> MemoryBreaker:
        return MemoryBreaker(limit, lambda: self.used, self.relieve, lambda: self.now)

    def relieve(self) -> None:
        self.reliefs += 1
        self.used -= self.given_back


def test_searches_are_refused_while_there_is_no_memory(backend):
    machine = Machine(1_000 * MIB)
    breaker = machine.breaker(1_024 * MIB)
    client = Client(create_app(backend, Settings(), breaker=breaker))

    refused = client.get("/api/v1/search?q=tide")
    page = client.get("/search?q=tide")
    assert (refused.status, refused.json["code"]) == (503, "no-memory")
    assert int(refused.headers["retry-after"]) >= 1
    assert page.status == 503
    assert "memory" in page.text
    for path in ("/", "/healthz", "/metrics", "/console"):
        assert client.get(path).status == 200
    assert "periplus_memory_refused_total 2.0" in client.get("/metrics").text
    machine.used, machine.now = 500 * MIB, 10.0
    assert client.get("/api/v1/search?q=tide").status == 200


def test_memory_is_looked_at_now_and_then_and_given_back_first():
    machine = Machine(1_000 * MIB)
    machine.given_back = 100 * MIB
    breaker = machine.breaker(1_024 * MIB)

    assert not breaker.refuses()  # what was given back is enough
    assert machine.reliefs == 1
    machine.used, machine.given_back = 2_000 * MIB, 0
    assert not breaker.refuses()  # not looked at again so soon
    machine.now = 1.0
    assert breaker.refuses()
    assert machine.reliefs == 1  # nor tried again so soon
    machine.now = 6.0
    assert breaker.refuses()
    assert machine.reliefs == 2
    assert breaker.refused == 2


def test_without_a_limit_nothing_is_refused():
    assert not Machine(1 << 50).breaker(0).refuses()


def test_the_limit_is_the_setting_or_the_groups(tmp_path):
    (tmp_path / "memory.max").write_text("2147483648\n")
    (tmp_path / "memory.stat").write_text("anon 4096\nfile 99999\nanon_thp 1\n")

    assert (group_limit(tmp_path), group_memory(tmp_path)) == (2 << 30, 4_096)
    (tmp_path / "memory.max").write_text("max\n")
    assert group_limit(tmp_path) == 0
    assert group_limit(tmp_path / "missing") == group_memory(tmp_path / "missing") == 0
    assert breaker_of(12_345).limit == 12_345


def test_memory_of_our_own_is_without_mapped_files():
    before = own_memory()
    held = bytearray(64 * MIB)
    held[::4096] = b"x" * len(held[::4096])

    assert own_memory() - before > 48 * MIB
    del held
