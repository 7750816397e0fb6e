"""Nobody turns the crawler against others: ports, submissions, redirects, sitemaps of others' addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawl.voyages import settings_for
from periplus.crawl import submit
from periplus.crawl.rules.foreign_ports import SERVICES, STANDARD, is_foreign
from periplus.demo import Reply, Request

if TYPE_CHECKING:
    from crawl.voyages import Voyage
    from mockweb.mock_web import MockWeb

VICTIM = "victim.test"
HANDED_OUT = 32_768  # from here on systems hand out ports to anybody


def asked(web: MockWeb) -> list[str]:
    """What the victim was asked for, but for its robots.txt."""
    return [path for path in web.paths(VICTIM) if path != "/robots.txt"]


@pytest.fixture
def victim(mock_web: MockWeb) -> MockWeb:
    """A host at which every address is a page of its own that leads nowhere."""

    def page(request: Request) -> Reply:
        return Reply(200, f"<title>{request.path}</title><p>Words of {request.path}.".encode(), HTML)

    mock_web.robots(VICTIM)
    mock_web.host(VICTIM, page)
    return mock_web


HTML = (("Content-Type", "text/html"),)


def test_the_list_of_ports_leaves_web_servers_alone(mock_web: MockWeb) -> None:
    assert all(is_foreign(f"a.test:{port}") for port in (*STANDARD, *SERVICES))
    assert not any(port >= HANDED_OUT for port in SERVICES)
    usual = (80, 443, 3000, 4000, 5000, 8000, 8008, 8080, 8081, 8443, 8640, 8888, 9000, 9090, mock_web.port)
    assert not any(is_foreign(f"a.test:{port}") for port in usual)
    assert not any(map(is_foreign, ("a.test", "[2001:db8::5432]", "127.0.0.1")))
    assert is_foreign("[2001:db8::1]:5432")


@pytest.mark.parametrize("port", [5432, 6379, 9200, 11211])
def test_no_redirect_leads_to_a_database(voyage: Voyage, mock_web: MockWeb, port: int) -> None:
    mock_web.redirect("http://a.test/", f"http://b.test:{port}/_shutdown")
    voyage.run(mock_web, "http://a.test/")
    assert {record.header("host") for record in mock_web.requests()} == {"a.test"}


def test_many_submitted_addresses_of_one_host_are_asked_for_one_by_one_and_bounded(
    voyage: Voyage, victim: MockWeb
) -> None:
    settings = settings_for(victim.resolve, host_queue=5).crawl
    for number in range(30):
        submit(voyage.database, settings, f"http://{VICTIM}/{number}", trusted=False)
    voyage.run(victim, "http://a.test/", host_queue=5)
    assert 0 < len(asked(victim)) <= 5  # the gaps between them are audited at the end


def test_a_host_that_others_redirect_to_is_asked_within_its_budget(voyage: Voyage, victim: MockWeb) -> None:
    """One site cannot have more of a stranger's pages fetched than the share that one site's links are worth."""
    many = [f"/go/{number}" for number in range(60)]
    victim.page("http://a.test/", "<p>Doors.", links=many)
    for number, path in enumerate(many):
        victim.redirect(f"http://a.test{path}", f"http://{VICTIM}/{number}")
    voyage.run(victim, "http://a.test/", host_budget=100)
    assert 0 < len(asked(victim)) <= 100 // 20 * 2


def test_a_chain_of_redirects_over_hosts_ends(voyage: Voyage, mock_web: MockWeb) -> None:
    for number in range(12):
        mock_web.redirect(f"http://h{number}.test/", f"http://h{number + 1}.test/")
    voyage.run(mock_web, "http://h0.test/", max_redirects=4)
    assert [n for n in range(13) if mock_web.paths(f"h{n}.test")] == [0, 1, 2, 3, 4]


def test_robots_files_of_many_sites_do_not_all_lead_to_one_host(
    voyage: Voyage, victim: MockWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("periplus.crawl.working.robots_visit.GUEST_REQUESTS", 3)
    hosts = [f"h{number}.test" for number in range(8)]
    for number, host in enumerate(hosts):
        victim.robots(host, answer=Reply(302, b"", (("Location", f"http://{VICTIM}/heavy?{number}"),)))
        victim.page(f"http://{host}/", "<p>Nothing else.")
    voyage.run(victim, *(f"http://{host}/" for host in hosts), retries=0)
    assert len(asked(victim)) == 3
    reasons = [voyage.url(f"http://{host}/")["reason"] for host in hosts]
    assert reasons.count("robots-unreachable") == 5


def test_a_sitemap_fills_no_strangers_queue(voyage: Voyage, victim: MockWeb) -> None:
    listed = "".join(f"<url><loc>http://{VICTIM}/{number}</loc></url>" for number in range(2_000))
    victim.robots("a.test", "Sitemap: http://a.test/map.xml\n")
    victim.text("http://a.test/map.xml", f"<urlset>{listed}</urlset>", "application/xml")
    victim.page("http://a.test/", "<p>Home.")
    voyage.run(victim, "http://a.test/", host_queue=50, host_budget=100)
    assert voyage.rows("SELECT COUNT(*) FROM urls WHERE url LIKE ?", f"http://{VICTIM}/%")[0][0] <= 50
    assert 0 < len(asked(victim)) <= 100 // 20 * 2


@pytest.mark.parametrize("scope", ["host", "site"])
def test_a_sitemap_leads_out_of_no_scope(voyage: Voyage, victim: MockWeb, scope: str) -> None:
    victim.robots("a.test", "Sitemap: http://a.test/map.xml\n")
    victim.text("http://a.test/map.xml", f"<urlset><url><loc>http://{VICTIM}/</loc></url></urlset>", "application/xml")
    victim.page("http://a.test/", "<p>Home.")
    voyage.run(victim, "http://a.test/", scope=scope)
    assert victim.paths(VICTIM) == []
