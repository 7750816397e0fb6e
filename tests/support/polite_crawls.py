"""Every crawl of a test ends with the audit of its journal, whoever started it in this process.

Import ``polite_crawls`` into the conftest of a room whose tests crawl.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session", autouse=True)
def polite_crawls() -> Iterator[None]:
    from periplus.crawl import audit
    from periplus.crawl.leading.crawler import Crawler

    run = Crawler.run

    def audited(self: Crawler, *arguments: Any, **options: Any) -> Any:
        status = run(self, *arguments, **options)
        report = audit(self._database)
        assert report.violations == (), report.violations[:5]
        return status

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Crawler, "run", audited)
        yield
