"""Settings are changed, reset and undone on the console: by the operator, from our own page; what is wrong is said."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from periplus.errors import StorageError

POSTS = {
    "change": {"target": "crawl.delay", "value": "3"},
    "undo": {"number": "3"},
    "forget": {"target": "crawl.types"},
}


def post(client, action, fields, **headers):
    return client.post(f"/console/settings/{action}", urlencode(fields).encode(), **headers)


def row_of(text, key):
    return text.partition(f'<tr id="{key}"')[2].partition("</tr>")[0]


def test_a_setting_is_changed_and_the_page_says_so(client, backend):
    answer = post(client, "change", POSTS["change"])

    assert backend.steered == [("change by 127.0.0.1", "crawl.delay", "3")]
    assert (answer.status, answer.headers["location"]) == (
        303,
        "/console/settings?done=change&target=crawl.delay",
    )
    assert "is changed; its row says when" in client.get(answer.headers["location"]).text
    assert (
        post(client, "change", {"target": "crawl.delay", "value": "same"})
        .headers["location"]
        .endswith("done=same&target=crawl.delay")
    )


def test_a_list_is_sent_by_lines_and_may_be_empty(client, backend):
    post(client, "change", {"target": "crawl.include", "value": "/a,b\r\n/c"})
    post(client, "change", {"target": "crawl.include", "value": ""})

    assert [text for _, _, text in backend.steered] == ["/a,b\r\n/c", ""]


def test_a_wrong_value_is_shown_again_with_what_is_wrong(client, backend):
    answer = post(client, "change", {"target": "crawl.delay", "value": "wrong"})

    assert (answer.status, answer.media_type) == (400, "text/html")
    assert 'role="alert"' in answer.text
    assert "crawl.delay = &#39;wrong&#39; (from console): choose &lt;another&gt;" in answer.text
    row = row_of(answer.text, "crawl.delay")
    assert '<details class="edit" open>' in row
    assert 'value="wrong"' in row
    assert answer.text.count('class="edit" open') == 1
    assert 'action="/console/settings/change"' in answer.text
    assert backend.steered == []


def test_changes_are_undone_and_settings_reset(client, backend):
    answer = post(client, "undo", POSTS["undo"])
    assert answer.headers["location"] == "/console/settings?done=undo&target=crawl.types"
    assert post(client, "forget", POSTS["forget"]).headers["location"].endswith("done=forget&target=crawl.types")
    assert backend.steered == [("undo by 127.0.0.1", "3"), ("forget", "crawl.types")]

    for number in ("", "0", "x", "1e3", "9" * 30):
        assert post(client, "undo", {"number": number}).status == 400


@pytest.mark.parametrize("action", POSTS)
def test_only_the_operator_from_our_own_page_may(client, guarded, backend, action):
    assert post(guarded, action, POSTS[action]).status == 401
    assert post(guarded, action, POSTS[action], authorization="Bearer wrong").status == 401
    assert post(client, action, POSTS[action], sec_fetch_site="cross-site").status == 403
    assert post(client, action, POSTS[action], origin="https://evil.test").status == 403
    assert client.get(f"/console/settings/{action}").status == 405
    assert backend.steered == []
    assert post(guarded, action, POSTS[action], authorization="Bearer s3same").status == 303


@pytest.mark.parametrize("action", POSTS)
def test_a_state_that_cannot_be_written_to_is_said(client, backend, action):
    backend.error = StorageError("/data/c/state.db cannot be written to")
    answer = post(client, action, POSTS[action])

    assert answer.status == 503
    assert "cannot be written to" in answer.text


def test_each_setting_has_the_form_that_fits_or_the_reason_why_not(client):
    text = client.get("/console/settings").text

    assert '<option value="true" selected>yes</option>' in row_of(text, "crawl.icons")
    assert "<option selected>site</option>" in row_of(text, "crawl.scope")
    assert ">/a\n/b&lt;</textarea>" in row_of(text, "crawl.include")
    assert 'value="2.5"' in row_of(text, "crawl.delay")
    assert "In force with the next crawl." in row_of(text, "crawl.delay")
    assert "A change here wins until a server starts with that flag." in row_of(text, "crawl.delay")
    for key, why in (
        ("crawl.headers", "Not changed here: a secret."),
        ("crawl.hours", "Not changed here: the variable PERIPLUS_CRAWL_HOURS of this server wins."),
    ):
        assert why in row_of(text, key)
        assert "settings/change" not in row_of(text, key)
    assert "The console said 20-06, which this overrules." in row_of(text, "crawl.hours")
    assert "This server has – until it starts again." in row_of(text, "serve.cors")


def test_the_last_changes_say_who_when_and_what(client):
    text = client.get("/console/settings").text

    assert 'aria-label="Undo change 3 of crawl.types"' in text
    assert "203.0.113.9" in text
    assert "undoes 2" in text
    assert 'aria-label="Reset crawl.types"' in text
