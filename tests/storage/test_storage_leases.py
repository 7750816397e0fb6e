from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from periplus.errors import LeaseLost
from periplus.storage import Database, Leases


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def leases(database, clock):
    return Leases(database, clock)


def test_one_holder_at_a_time(leases):
    lease = leases.acquire("p1", "a", 10)
    assert (lease.name, lease.owner, lease.token, lease.expires) == ("p1", "a", 1, 1010.0)
    assert leases.acquire("p1", "b", 10) is None
    assert leases.acquire("p1", "a", 10) is None
    assert leases.acquire("p2", "b", 10).token == 1
    assert [(held.name, held.owner) for held in leases.held()] == [("p1", "a"), ("p2", "b")]


def test_an_expired_lease_goes_to_the_next_with_a_larger_token(leases, clock):
    first = leases.acquire("p", "a", 10)
    clock.now = 1010.0
    second = leases.acquire("p", "b", 10)
    assert second.token > first.token
    with pytest.raises(LeaseLost, match="a no longer holds p"):
        leases.renew(first)


def test_renewal_extends(leases, clock):
    lease = leases.acquire("p", "a", 10)
    clock.now = 1009.0
    lease = leases.renew(lease)
    assert lease.expires == 1019.0
    clock.now = 1018.0
    assert leases.acquire("p", "b", 10) is None
    assert leases.renew(lease, 100).expires == 1118.0


def test_an_expired_lease_that_nobody_took_can_be_renewed(leases, clock):
    lease = leases.acquire("p", "a", 10)
    clock.now = 2000.0
    assert leases.renew(lease).expires == 2010.0
    assert leases.acquire("p", "b", 10) is None


def test_release_frees_at_once_and_tokens_never_repeat(leases):
    first = leases.acquire("p", "a", 10)
    leases.release(first)
    assert leases.held() == []
    with pytest.raises(LeaseLost):
        leases.renew(first)
    second = leases.acquire("p", "a", 10)
    assert second.token == first.token + 1
    leases.release(first)  # late: must not harm the new holder
    assert leases.acquire("p", "b", 10) is None


def test_late_writes_are_fenced_off(leases, database, clock):
    old = leases.acquire("p", "a", 10)
    with database.write() as tx:
        leases.check(tx, old)
        tx.execute("INSERT INTO meta VALUES ('in time', 'a')")
    clock.now = 1020.0
    new = leases.acquire("p", "b", 10)
    with pytest.raises(LeaseLost), database.write() as tx:
        tx.execute("INSERT INTO meta VALUES ('late', 'a')")
        leases.check(tx, old)
    with database.write() as tx:
        leases.check(tx, new)
        assert tx.rows("SELECT key FROM meta") == [("in time",)]


def test_a_checked_lease_cannot_be_taken_before_the_transaction_ends(database, address, clock):
    lease = Leases(database, clock).acquire("p", "a", 10)
    clock.now = 1020.0
    order = []
    checked = threading.Event()

    def take():
        checked.wait(20)
        with Database.open(address) as other:
            taken = Leases(other, clock).acquire("p", "b", 10)
        order.append("taken")
        return taken

    with ThreadPoolExecutor(1) as threads:
        with database.write() as tx:
            Leases(database, clock).check(tx, lease)
            taking = threads.submit(take)
            checked.set()
            time.sleep(0.3)  # gives the other a chance to do wrong; right or not does not depend on it
            order.append("committed")
        assert taking.result().token == 2
    assert order == ["committed", "taken"]


def test_a_lease_is_taken_over_when_expired_or_its_holder_is_dead(leases, clock):
    lease = leases.acquire("p", "a", 10)
    assert leases.take_over(lease, "b", 10) is None
    second = leases.take_over(lease, "b", 10, dead=True)
    assert (second.owner, second.token) == ("b", lease.token + 1)
    assert leases.take_over(lease, "c", 10, dead=True) is None  # it is no longer what c saw
    with pytest.raises(LeaseLost):
        leases.renew(lease)
    clock.now += 11
    assert leases.take_over(second, "c", 10).token == second.token + 1


def test_remaining_time_counts_from_before_the_question(leases, clock):
    lease = leases.acquire("p", "a", 10)
    assert leases.remaining(lease) == 10
    clock.now += 12
    assert leases.remaining(lease) == -2
    assert leases.remaining(leases.renew(lease, 5)) == 5


def test_real_clocks(database):
    leases = Leases(database)
    lease = leases.acquire("p", "a", 1000)
    assert abs(lease.expires - time.time() - 1000) < 60
    assert 900 < leases.remaining(lease) <= 1000
    assert leases.acquire("p", "b", 1000) is None
    assert leases.acquire("q", "b", -1).token == 1  # expired from the start
    assert leases.acquire("q", "c", 1000).token == 2


def test_threads_that_race_for_leases_never_share_one(database, address):
    def run(owner):
        with Database.open(address) as own:
            return [lease.name for i in range(20) if (lease := Leases(own).acquire(f"p{i}", owner, 1000))]

    with ThreadPoolExecutor(4) as threads:
        taken = [name for names in threads.map(run, "abcd") for name in names]
    assert sorted(taken) == sorted(f"p{i}" for i in range(20))


class LeaseModel(RuleBasedStateMachine):
    """Any interleaving of owners and time against the obvious model: who holds what until when."""

    database: Database

    def __init__(self):
        super().__init__()
        with self.database.write() as tx:
            tx.execute("DELETE FROM leases")
        self.clock = Clock()
        self.leases = Leases(self.database, self.clock)
        self.given = []
        self.newest = {}  # name → (lease or None when released, expires, token)

    @rule(name=st.sampled_from("pq"), owner=st.sampled_from("ab"), seconds=st.integers(1, 5))
    def acquire(self, name, owner, seconds):
        _, expires, token = self.newest.get(name, (None, 0, 0))
        lease = self.leases.acquire(name, owner, seconds)
        assert (lease is not None) == (expires <= self.clock.now)
        if lease:
            assert lease.token == token + 1
            self.given.append(lease)
            self.newest[name] = (lease, lease.expires, lease.token)

    @rule(seconds=st.integers(0, 4))
    def wait(self, seconds):
        self.clock.now += seconds

    @precondition(lambda self: self.given)
    @rule(data=st.data(), seconds=st.integers(1, 5))
    def renew(self, data, seconds):
        lease = data.draw(st.sampled_from(self.given))
        if self._is_newest(lease):
            expires = self.leases.renew(lease, seconds).expires
            self.newest[lease.name] = (lease, expires, lease.token)
        else:
            with pytest.raises(LeaseLost):
                self.leases.renew(lease, seconds)

    @precondition(lambda self: self.given)
    @rule(data=st.data())
    def release(self, data):
        lease = data.draw(st.sampled_from(self.given))
        if self._is_newest(lease):
            self.newest[lease.name] = (None, 0, lease.token)
        self.leases.release(lease)

    @invariant()
    def only_the_newest_may_write(self):
        with self.database.write() as tx:
            for lease in self.given:
                if self._is_newest(lease):
                    self.leases.check(tx, lease)
                else:
                    with pytest.raises(LeaseLost):
                        self.leases.check(tx, lease)

    def _is_newest(self, lease):
        newest, _, token = self.newest[lease.name]
        return newest is not None and token == lease.token


def test_leases_follow_the_model(database):
    class Model(LeaseModel):
        pass

    Model.database = database
    run_state_machine_as_test(
        Model,
        settings=settings(
            max_examples=15, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
