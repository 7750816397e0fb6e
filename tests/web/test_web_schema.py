"""The API against its own description: whatever schemathesis makes up, no answer is a server's error."""

from __future__ import annotations

import pytest
from fake_backend import FakeBackend
from hypothesis import HealthCheck, given, settings

from periplus.settings import Settings
from periplus.web import create_app

schemathesis = pytest.importorskip("schemathesis")

schema = schemathesis.openapi.from_asgi("/openapi.json", create_app(FakeBackend(), Settings(), operator_key="s3same"))
EXAMPLES = 25
CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.response_schema_conformance,
]


# Parametrised by hand: schemathesis gives all its tests one name, of which a parallel run keeps one.
OPERATIONS = [found.ok() for found in schema.get_all_operations()]


@pytest.mark.parametrize("operation", OPERATIONS, ids=[operation.label for operation in OPERATIONS])
@pytest.mark.filterwarnings("default")
def test_no_request_makes_the_server_fail(operation):
    @settings(
        max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(case=operation.as_strategy())
    def check(case):
        answer = case.call(headers={"Authorization": "Bearer s3same"})
        assert answer.status_code < 500, answer.text
        case.validate_response(answer, checks=CHECKS)

    check()


def test_every_address_of_the_api_is_asked():
    described = {(method.upper(), path) for path, item in schema.raw_schema["paths"].items() for method in item}
    assert {(operation.method.upper(), operation.path) for operation in OPERATIONS} == described
