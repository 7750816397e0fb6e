"""The table of API operations: path, parameters, answer. ``api.py`` serves it, ``openapi.py`` documents it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from periplus.errors import UsageError
from periplus.records import Explanation, Heading, Inspection, SearchAnswer, SearchRequest, SearchResult, Suggestion
from periplus.web.backend import COMMANDS, TABS
from periplus.web.requests.parameters import Parameter
from periplus.web.requests.positions import NEAR

PREFIX = "/api/v1"
MAX_SIZE = 100
MAX_DEPTH = 1_000  # results that can be paged through, as the search has it
MAX_SEEDS = 1_000
PART_SIZE = 20_000  # characters of a page's text in one part, unless asked otherwise
LEAST_PART = 1_000
LARGEST_PART = 100_000
MAX_PARTS = 100_000

Address = Annotated[str, Meta(min_length=1, max_length=2_000)]


class SuggestAnswer(Struct, frozen=True):
    query: str
    suggestions: tuple[Suggestion, ...]


class SimilarAnswer(Struct, frozen=True):
    url: str
    results: tuple[SearchResult, ...]


class PageLink(Struct, frozen=True):
    url: str
    text: str
    rel: tuple[str, ...]
    place: str


class PageAnswer(Struct, frozen=True):
    id: str
    url: str
    site: str
    title: str
    description: str
    language: str
    type: str
    author: str
    published: str | None
    modified: str | None
    fetched: str
    headings: tuple[Heading, ...]
    text: str  # of this part; never markup, and written by strangers
    part: int
    parts: int
    characters: int  # of all parts together
    next: str | None
    links: tuple[PageLink, ...] | None = None  # with the first part; null where they are not known here
    links_found: int | None = None  # where there are more than are given
    structured: tuple[dict[str, Any], ...] | None = None  # with the first part; null where it is not known here


class AnalyzeAnswer(Struct, frozen=True):
    text: str
    tokens: list[dict[str, Any]]


class CommandAnswer(Struct, frozen=True):
    command: str
    accepted: bool = True


class CrawlOrder(Struct, frozen=True, forbid_unknown_fields=True):
    seeds: Annotated[list[Address], Meta(min_length=1, max_length=MAX_SEEDS)]
    scope: Literal["host", "site", "any"] | None = None
    max_pages: Annotated[int, Meta(ge=0)] | None = None
    max_depth: Annotated[int, Meta(ge=0)] | None = None

    def options(self) -> dict[str, Any]:
        """The settings of this crawl that were given."""
        given = {"scope": self.scope, "max_pages": self.max_pages, "max_depth": self.max_depth}
        return {name: value for name, value in given.items() if value is not None}


class CrawlStarted(Struct, frozen=True):
    seeds: list[str]
    status: str  # where to look


class PageOrder(Struct, frozen=True, forbid_unknown_fields=True):
    url: Address


class PageAdded(Struct, frozen=True):
    url: str
    state: str  # queued, known when the crawl has it already, or refused
    status: str  # where to look
    reason: str = ""  # code of a refusal, and its sentence
    detail: str = ""


class Operation(Struct, frozen=True):
    name: str
    path: str
    summary: str
    parameters: tuple[Parameter, ...] = ()
    answer: Any = dict[str, Any]
    method: str = "GET"
    scope: str = ""  # of keys; "crawl" also opens with the operator's key only, "" is open to all
    status: int = 200
    body: Any = None  # a struct that the JSON body must be
    places: tuple[Parameter, ...] = ()  # parameters that stand in the path


_QUERY = Parameter("q", help="the query, as typed", required=True)
_URL = Parameter("url", help="an http or https address", required=True)
_PROFILE = Parameter("profile", help="ranking profile", maximum=60)

SEARCH_PARAMETERS = (
    Parameter("q", help="the query, as typed"),
    Parameter("page", "integer", "page of the list, from 1", 1, minimum=1, maximum=1_000),
    Parameter("size", "integer", "results on a page", 10, minimum=1, maximum=MAX_SIZE),
    _PROFILE,
    Parameter("lang", help="only pages in this language, ISO 639-1", maximum=35),
    Parameter("site", help="only this host or registered domain", maximum=255),
    Parameter("type", help="only this content type, such as text/html, or an ending such as pdf", maximum=100),
    Parameter("before", "date", "only pages published before this day"),
    Parameter("after", "date", "only pages published on or after this day"),
    Parameter("safe", "flag", "leave out pages unfit for all ages", default=False),
    Parameter(
        "lens", help="preferences among sites: raise:HOST, lower:HOST, block:HOST, pin:HOST with commas, or a name"
    ),
    Parameter("sort", "choice", "order of the list", "relevance", choices=("relevance", "date")),
    Parameter("explain", "flag", "give the parts of each score", default=False),
    Parameter("duplicates", "flag", "show pages that are nearly alike instead of folding them", default=False),
    Parameter("counts", "flag", "count the matches by site, language, type and year", default=False),
    Parameter("exact", "flag", "search for what was typed, uncorrected", default=False),
    Parameter("answers", "flag", "give what can be computed of the query, such as 2+2", default=False),
)

# What only programs ask of a search by these names; a page has its tabs and panels by itself.
BESIDE = (
    Parameter("tab", "choice", "only pages of this kind", "", choices=("", "all", *TABS)),
    Parameter("panels", "flag", "give what stands beside the results; waits for outside services", default=False),
    NEAR,
)

OPERATIONS = (
    Operation(
        "search",
        f"{PREFIX}/search",
        "Search the collection",
        (_QUERY, *SEARCH_PARAMETERS[1:], *BESIDE),
        SearchAnswer,
        scope="search",
    ),
    Operation(
        "suggest",
        f"{PREFIX}/suggest",
        "Complete what is being typed",
        (
            Parameter("q", help="the beginning of a query"),
            Parameter("limit", "integer", "suggestions, at most", 8, minimum=1, maximum=20),
            Parameter("format", "choice", "shape of the answer", "periplus", choices=("periplus", "opensearch")),
        ),
        SuggestAnswer,
    ),
    Operation(
        "explain",
        f"{PREFIX}/explain",
        "The score of one page for one query",
        (_QUERY, _URL, _PROFILE),
        Explanation,
        scope="search",
    ),
    Operation(
        "similar",
        f"{PREFIX}/similar",
        "Pages like one page",
        (_URL, Parameter("size", "integer", "results, at most", 10, minimum=1, maximum=MAX_SIZE)),
        SimilarAnswer,
        scope="search",
    ),
    Operation(
        "page",
        f"{PREFIX}/page",
        "The text of one page, with its dates, links and structured data",
        (
            Parameter("url", help="the page's address, or the id of a document without one", required=True),
            Parameter("part", "integer", "which part of a long text", 1, minimum=1, maximum=MAX_PARTS),
            Parameter("size", "integer", "characters of a part", PART_SIZE, minimum=LEAST_PART, maximum=LARGEST_PART),
            Parameter("format", "choice", "shape of the answer", "json", choices=("json", "markdown")),
        ),
        PageAnswer,
        scope="search",
    ),
    Operation(
        "inspect", f"{PREFIX}/inspect", "The state of one address, with reasons", (_URL,), Inspection, scope="inspect"
    ),
    Operation(
        "analyze",
        f"{PREFIX}/analyze",
        "How a text is cut into terms",
        (
            Parameter("text", help="the text", required=True),
            Parameter("lang", help="its language, ISO 639-1; guessed when empty", maximum=35),
        ),
        AnalyzeAnswer,
        scope="search",
    ),
    Operation("status", f"{PREFIX}/status", "Crawl, index and ranks now", scope="inspect"),
    Operation(
        "start",
        f"{PREFIX}/crawl",
        "Start a crawl from seeds",
        (),
        CrawlStarted,
        "POST",
        scope="crawl",
        status=202,
        body=CrawlOrder,
    ),
    Operation(
        "add_page",
        f"{PREFIX}/pages",
        "Have one address visited as soon as politeness allows",
        (),
        PageAdded,
        "POST",
        scope="crawl",
        status=202,
        body=PageOrder,
    ),
    Operation("stop", f"{PREFIX}/crawl", "Stop the crawl", (), CommandAnswer, "DELETE", scope="crawl", status=202),
    *(
        Operation(
            name,
            f"{PREFIX}/crawl/{name}",
            f"{name.capitalize()} the crawl",
            (),
            CommandAnswer,
            "POST",
            scope="crawl",
            status=202,
        )
        for name in COMMANDS
        if name != "stop"
    ),
    Operation(
        "restart",
        f"{PREFIX}/crawl/workers/{{number}}/restart",
        "Restart one worker of the crawl",
        (),
        CommandAnswer,
        "POST",
        scope="crawl",
        status=202,
        places=(Parameter("number", "integer", "the worker's number", required=True, minimum=0, maximum=10**9),),
    ),
)


def search_request(values: dict[str, Any]) -> SearchRequest:
    """The request that checked ``values`` of SEARCH_PARAMETERS ask for; raises UsageError when paged too deep."""
    if values["page"] * values["size"] > MAX_DEPTH:
        raise UsageError(
            f"page {values['page']} lies beyond the {MAX_DEPTH} results that can be paged; narrow the query"
        )
    return SearchRequest(
        query=values["q"],
        page=values["page"],
        size=values["size"],
        profile=values["profile"],
        language=values["lang"],
        site=values["site"],
        type=values["type"],
        before=values["before"],
        after=values["after"],
        safe=values["safe"],
        lens=values["lens"],
        sort=values["sort"],
        explain=values["explain"],
        duplicates=values["duplicates"],
        counts=values["counts"],
        correct=not values["exact"],
    )
