"""Behind a real nginx with TLS, as docs/behind-a-proxy.md sets it up: at the root of a host, and below a path."""

from __future__ import annotations

import re
import socket
import subprocess
import time
from pathlib import Path

import pytest
import trustme
from browser_tools import ROOT, SIZES, expect, take_picture

from periplus.settings import ServeSettings, Settings
from periplus.web import WebServer, create_app

pytestmark = pytest.mark.browser

NGINX = Path("/usr/sbin/nginx")
DOCUMENTED = ROOT / "docs" / "behind-a-proxy.md"
KEY = "s3same"
PLACES = {"root": "", "path": "/find"}
AROUND = """
master_process off;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {server}
}}
"""


@pytest.fixture(scope="module", autouse=True)
def nginx_present(pytestconfig):
    if not NGINX.exists():
        pytestconfig.pluginmanager.get_plugin(str(ROOT / "tests" / "conftest.py")).missing("nginx")


@pytest.fixture(params=PLACES)
def place(request):
    return request.param


@pytest.fixture
def address(backend, tmp_path, place):
    """The public one; replaces that of the plain server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    public = f"https://127.0.0.1:{port}{PLACES[place]}"
    serve = ServeSettings(public_url=public, trusted_proxies=("127.0.0.1",))
    with WebServer(create_app(backend, Settings(serve=serve), KEY)) as server:
        certificate = trustme.CA().issue_cert("127.0.0.1")
        certificate.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "both.pem"))
        config = tmp_path / "nginx.conf"
        config.write_text(AROUND.format(folder=tmp_path, server=documented(place, tmp_path / "both.pem", port, server)))
        process = subprocess.Popen([NGINX, "-p", tmp_path, "-c", config, "-e", tmp_path / "error.log"])
        try:
            _wait_for(port, process)
            yield public
        finally:
            process.terminate()
            process.wait(30)


def documented(place, certificate, port, server):
    """The server block of the documentation, with the addresses of this test."""
    blocks = re.findall(r"```nginx\n(.*?)```", DOCUMENTED.read_text(), re.DOTALL)
    text = blocks[list(PLACES).index(place)]
    for theirs, ours in (
        ("443", f"127.0.0.1:{port}"),
        ("/etc/ssl/example.org.pem", str(certificate)),
        ("/etc/ssl/example.org.key", str(certificate)),
        ("127.0.0.1:8080", f"127.0.0.1:{server.port}"),
    ):
        assert theirs in text
        text = text.replace(theirs, ours)
    return text


def _wait_for(port, process):
    for _ in range(300):
        assert process.poll() is None, "nginx did not start"
        with socket.socket() as trying:
            trying.settimeout(1)
            if trying.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("nginx does not listen")


@pytest.fixture
def page(open_context):
    return open_context(ignore_https_errors=True).new_page()


def test_a_reader_searches_there(page, address, place):
    page.goto(f"{address}/")
    box = page.get_by_role("combobox")
    box.press_sequentially("tid")
    expect(page.get_by_role("option").first).to_be_visible()
    box.fill("tide")
    box.press("Enter")
    expect(page.locator(".result").first).to_be_visible()
    assert page.url.startswith(f"{address}/search?")

    take_picture(page, f"proxy-{place}-results")
    page.locator(".look button[value=dark]").click()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    take_picture(page, f"proxy-{place}-results-dark")
    page.set_viewport_size(SIZES["phone"])
    take_picture(page, f"proxy-{place}-results-phone")
    page.set_viewport_size(SIZES["wide"])
    page.goto(f"{address}/search?q=tide&page=2")
    page.locator(".pages a").first.click()
    expect(page.locator(".result").first).to_be_visible()
    page.locator(".brand").click()
    expect(page).to_have_url(f"{address}/")
    loaded = page.evaluate("[...document.images].every(image => image.complete && image.naturalWidth > 0)")
    assert loaded


def test_forms_of_the_page_lead_back_there(page, address):
    page.goto(f"{address}/search?q=tide")
    page.locator(".tongues summary").click()
    page.get_by_role("button", name="Deutsch").click()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    assert page.url == f"{address}/search?q=tide"
    cookies = {cookie["name"]: cookie for cookie in page.context.cookies()}
    assert cookies["language"]["secure"] is True
    assert f"{address}/".endswith(cookies["language"]["path"])


def test_the_operator_works_there(page, address, backend, place):
    page.goto(f"{address}/console?key={KEY}")
    expect(page.get_by_role("navigation", name="Console")).to_be_visible()
    assert page.url == f"{address}/console"
    page.get_by_role("link", name="Hosts", exact=True).click()
    page.locator("tr", has_text="harbours.test").get_by_label("Actions for harbours.test").click()
    page.get_by_role("button", name="Boost: harbours.test").click()
    expect(page.get_by_role("status")).to_contain_text("harbours.test")
    assert backend.steered == [("boost", "harbours.test")]
    take_picture(page, f"proxy-{place}-console")


def test_what_is_given_to_others_is_the_public_address(page, address):
    page.goto(f"{address}/embed?site=harbours.test")
    expect(page.locator("pre").first).to_contain_text(f'src="{address}/embed.js"')
    described = page.request.get(f"{address}/opensearch.xml").text()
    assert f'template="{address}/search?q=' in described
