"""Reason codes: why an address is in the state it is in, as data.

Every refusal, failure and exclusion in Periplus carries one of these codes; the inspector, the journal and
the documentation show the sentence beside it. A code is stable: stored in databases and batches, never renamed.
``retry`` says whether trying again later can help. ``LACKING`` has the same for what an answer may be without.
"""

from __future__ import annotations

from typing import NamedTuple


class Reason(NamedTuple):
    code: str
    sentence: str
    advice: str = ""
    retry: bool = False


_ALL = (
    # before the request
    Reason("invalid-address", "the text is not an http or https URL", "write it like https://example.org/"),
    Reason("out-of-scope", "the address lies outside the scope of the crawl", "widen --scope or add a seed"),
    Reason("excluded", "an exclude pattern matches the address", "change --exclude"),
    Reason("not-included", "no include pattern matches the address", "change --include"),
    Reason("banned-host", "the host is on the list of banned hosts", "edit the list"),
    Reason(
        "foreign-port",
        "the port of the address is that of another protocol or service, such as mail or a database",
        "use the port of a web server; your own is reached by --resolve HOST=IP:PORT",
    ),
    Reason("blocked", "the operator has blocked it: hidden from results, not crawled", "unblock it in the console"),
    Reason("removed", "the address was taken down and must stay out", "periplus remove keeps this list"),
    Reason("too-deep", "more links away from a seed than the depth limit", "raise --max-depth"),
    Reason("address-too-long", "the address is longer than the limit", "raise crawl.max_address"),
    Reason("host-budget", "the host has used up its share of pages", "raise the budget of the host"),
    Reason(
        "host-yield",
        "most pages of the host repeat others, so hardly any new ones are asked of it",
        "it gets its budget back when its pages differ on a later visit",
        retry=True,
    ),
    Reason("queue-full", "the queue of the host is full", "it is found again on a later visit", retry=True),
    Reason("page-limit", "the crawl reached its page limit", "raise --max-pages", retry=True),
    Reason("trap-repeated-segments", "the path repeats itself like a crawler trap"),
    Reason("trap-parameters", "the query has too many parameters or variants"),
    Reason("trap-calendar", "an endless calendar"),
    Reason("trap-session", "the address carries a session id"),
    Reason("trap-near-duplicates", "too many near-duplicates follow this path pattern"),
    Reason("trap-lists", "the host names more sitemaps or feeds than are read of one host"),
    Reason("robots-disallowed", "robots.txt forbids the address", "the site's owner decides"),
    Reason(
        "robots-unreachable",
        "robots.txt could not be read, so nothing may be fetched",
        "it is tried again later; look at its robots.txt",
        retry=True,
    ),
    Reason("private-address", "the host resolves to a private address", "--allow-private for your own network"),
    # the request
    Reason(
        "dns-failure",
        "the host name could not be resolved",
        "check its spelling, or give its address with --resolve",
        retry=True,
    ),
    Reason(
        "connection-refused",
        "the server refused the connection",
        "check the port, and that the server runs",
        retry=True,
    ),
    Reason("connection-lost", "the connection broke before the response was whole", "try again later", retry=True),
    Reason(
        "tls-failure",
        "the certificate or the TLS handshake failed",
        "mend the certificate, or go on with --tls note",
        retry=True,
    ),
    Reason("proxy-failure", "the proxy could not be reached or refused the request", "check --proxy", retry=True),
    Reason("timeout", "the server took longer than the limit", "try again later, or raise crawl.timeout", retry=True),
    Reason("too-slow", "the body arrived slower than the least rate", "try again later", retry=True),
    Reason("bad-response", "the response broke the HTTP protocol", retry=True),
    Reason("decompression-bomb", "the body unpacks to more than the limit"),
    Reason("bad-encoding", "the body could not be unpacked", retry=True),
    Reason("too-large", "the body is larger than the limit"),
    Reason("redirect-loop", "the redirects lead back to where they began", "the site's owner can mend that"),
    Reason("too-many-redirects", "the chain of redirects is longer than the limit"),
    Reason("bad-redirect", "the redirect leads to no http or https address"),
    Reason("redirected", "the address redirects to another one, which is followed"),
    Reason("asked-to-wait", "the server asked us to come back later", "try again later", retry=True),
    Reason(
        "http-4xx",
        "the server answered that the page cannot be had",
        "check the address; a login is given with --auth or --header",
    ),
    Reason("http-5xx", "the server failed", "try again later", retry=True),
    Reason("gone", "the server answered 410, or on repeated visits that the page cannot be had, and it was dropped"),
    # the document
    Reason("unsupported-type", "no reader for this content type"),
    Reason("unwanted-type", "pages of this content type are not wanted", "change crawl.types"),
    Reason("no-content", "the page has no text"),
    Reason("needs-javascript", "the page is empty without JavaScript"),
    Reason("parse-bound", "the page broke a bound of the parser"),
    Reason("unreadable", "the body is damaged and could not be read"),
    Reason("wrong-language", "the page's language is not wanted", "change --lang"),
    # the index
    Reason("noindex", "the page asks not to be indexed", "remove noindex from the page"),
    Reason("canonical-elsewhere", "the page names another address as the canonical one, which is in the index"),
    Reason("duplicate", "the body is the same as that of another page"),
    # an import
    Reason("not-a-page", "no page, but robots.txt, the look-up of a name or an answer without a page"),
    Reason("revisit", "a repetition of an earlier record, whose content is not at hand"),
    Reason("bad-record", "a line or row that is no record", "the report names it"),
    Reason("damaged", "a part of the file is damaged and was passed over", "the report names the place"),
    Reason(
        "read-bound",
        "reading the file broke a bound of time, memory or output, or ended its reader",
        "the report names the place; what followed there was passed over",
    ),
    Reason("not-html", "the file is no HTML, which is all that is read from a folder"),
    Reason("hidden-file", "the name of the file or folder begins with a dot"),
    Reason("link-out-of-folder", "a link in the folder leads out of it", "copy what it leads to into the folder"),
    Reason("link-to-folder", "a link to a folder; its pages are read where they lie"),
    Reason("folder-too-deep", "more folders below each other than the limit"),
    Reason("file-unreadable", "the file or folder could not be opened", "the report names it"),
    # the links of a host, which then count for less
    Reason("link-exchange", "most sites that the host links to link back", "link where readers gain by it"),
    Reason("links-from-few-addresses", "the links to the host come from few sites or IP addresses"),
    Reason("not-vouched-for", "no site that others link to links to the host", "name trusted hosts in rank.trusted"),
)

REASONS: dict[str, Reason] = {reason.code: reason for reason in _ALL}

LACKING = {  # what an answer may be without, by its code in ``degraded``
    "budget": "The time for this query ran out, so some pages may be missing or out of order.",
    "query-cut": "The query is very long: only its most telling words were searched for.",
    "index": "A part of the index is damaged and was left out, so some pages may be missing.",
    "links": "It is not known here which pages link to this one.",
    "ranks": "There are no page ranks, so links do not count; periplus rank makes them.",
    "shard": "A part of the collection did not answer, so some pages may be missing.",
    "spelling": "The words of this generation are still being learnt, so mistypings were not looked for.",
}


def lacking(code: str) -> str:
    """What an answer is without, in a sentence; ``shard:3`` is one of several. Empty for a code of a newer version."""
    return LACKING.get(code.partition(":")[0], "")


def sentence(code: str) -> str:
    """The sentence for ``code``; a code of a newer version is shown as it is."""
    known = REASONS.get(code)
    return known.sentence if known else code


def in_words(code: str, detail: str = "") -> str:
    """What is wrong and what to do, as one line: the sentence, the code with what is known, the advice."""
    known = REASONS.get(code)
    exact = f"{code}: {detail}" if detail else code
    if known is None:
        return exact
    return f"{known.sentence} ({exact}){'; ' + known.advice if known.advice else ''}"


def may_retry(code: str) -> bool:
    known = REASONS.get(code)
    return bool(known and known.retry)
