"""The API against its own description: whatever schemathesis makes up, no answer is a server's error."""

from __future__ import annotations

import pytest
from fake_backend import FakeBackend
from hypothesis import HealthCheck, settings

from periplus.settings import Settings
from periplus.web import create_app

schemathesis = pytest.importorskip("schemathesis")

schema = schemathesis.openapi.from_asgi("/openapi.json", create_app(FakeBackend(), Settings(), operator_key="s3same"))
EXAMPLES = 25
CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.response_schema_conformance,
]


@schema.parametrize()
@settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
@pytest.mark.filterwarnings("default")
def test_no_request_makes_the_server_fail(case):
    answer = case.call(headers={"Authorization": "Bearer s3same"})

    assert answer.status_code < 500, answer.text
    case.validate_response(answer, checks=CHECKS)
