"""A small world of documents whose words collide often, so that every path of the engine is met."""

import numpy as np
from hypothesis import HealthCheck, Phase, settings

from periplus import addresses
from periplus.index.building.sources import DocumentSource
from periplus.records import Anchor, Document, Heading

PROPERTY = settings(
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),  # shrinking whole indexes takes minutes and helps little
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def make_document(number, text="", **more):
    url = more.pop("url", f"https://{'abc'[number % 3]}.example.org/{number:05d}")
    return Document(url, addresses.key(url), more.pop("fetched", 1000.0 + number), text=text, **more)


def make_prior(document):
    """A value from 0 to 1 that is the same in every test: the address's own hash."""
    return (addresses.page_key(document.url) & 0xFF) / 255


def prior_of_keys(pages, hosts):
    assert len(pages) == len(hosts)
    return (pages & 0xFF) / 255


def random_document(random, number, words):
    """Zipf-like words in several fields."""

    def some(count):
        places = np.minimum(random.zipf(1.3, count) - 1, len(words) - 1)
        return " ".join(words[place] for place in places)

    return make_document(
        number,
        some(int(random.integers(1, 60))),
        title=some(int(random.integers(0, 5))),
        headings=tuple(Heading(2, some(2)) for _ in range(int(random.integers(0, 3)))),
        boilerplate=some(int(random.integers(0, 4))),
        language=("en", "de", "")[int(random.integers(0, 3))],
        content_type=("text/html", "application/pdf")[int(random.integers(0, 2))],
        published=float(random.integers(0, 2)) * float(random.integers(1, 5000)),
    )


class StoredBatch(DocumentSource):
    """Documents that are made where they are read; fewer than none cannot be."""

    def __init__(self, first, count):
        self.first = first
        self.count = count

    def __iter__(self):
        if self.count < 0:
            raise ZeroDivisionError
        return iter([make_document(number, "tide") for number in range(self.first, self.first + self.count)])

    @staticmethod
    def anchors(page_key):
        return (Anchor("safe haven", 9),)


class StoredRows(DocumentSource):
    """Documents that travel with their source, with a size as if they were packed."""

    def __init__(self, rows, size=0):
        self.rows = tuple(rows)
        self.bytes = size

    def __iter__(self):
        return iter(self.rows)

    @property
    def size(self):
        return self.bytes

    @property
    def name(self):
        return f"{[(row.key, row.refusal, row.text) for row in self.rows]}"
