"""``/openapi.json``, made from the table of operations and from the types of their answers."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import msgspec

from periplus.web.api.markdown import MARKDOWN
from periplus.web.api.operations import OPERATIONS, Operation
from periplus.web.rendering.problems import MEDIA_TYPE, Problem
from periplus.web.requests.access import GUARDED
from periplus.web.requests.keys import SCOPES

if TYPE_CHECKING:
    from periplus.web.requests.parameters import Parameter

_REFERENCE = "#/components/schemas/{name}"


def document() -> dict[str, Any]:
    bodies = [operation.body for operation in OPERATIONS if operation.body is not None]
    kinds = [*(operation.answer for operation in OPERATIONS), *bodies, Problem]
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REFERENCE)
    asked = dict(zip(bodies, schemas[len(OPERATIONS) :], strict=False))
    paths: dict[str, dict[str, Any]] = {}
    for operation, schema in zip(OPERATIONS, schemas, strict=False):
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(
            operation, schema, schemas[-1], asked.get(operation.body)
        )
    summary = "Search, and the state of crawl and index"
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Periplus",
            "version": version("periplus"),
            "summary": summary,
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "operator": {"type": "http", "scheme": "bearer", "description": "the operator's key"},
                "key": {"type": "http", "scheme": "bearer", "description": _key_help()},
            },
        },
    }


def _operation(
    operation: Operation, schema: dict[str, Any], problem: dict[str, Any], body: dict[str, Any] | None
) -> dict[str, Any]:
    failed = {"description": "what is wrong", "content": {MEDIA_TYPE: {"schema": problem}}}
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [
            *(_parameter(parameter, "path") for parameter in operation.places),
            *(_parameter(parameter) for parameter in operation.parameters),
        ],
        "responses": {
            str(operation.status): {"description": "done", "content": _content(operation, schema)},
            "default": failed,
        },
    }
    if body is not None:
        described["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    if operation.scope:
        open_to_all: list[dict[str, Any]] = [] if operation.scope in GUARDED else [{}]
        described["security"] = [*open_to_all, {"key": [operation.scope]}, {"operator": []}]
    return described


def _key_help() -> str:
    return "a key made with `periplus keys create`; scopes: " + "; ".join(f"{n}: {text}" for n, text in SCOPES.items())


def _content(operation: Operation, schema: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {"application/json": {"schema": schema}}
    if operation.name == "suggest":
        content["application/x-suggestions+json"] = {"schema": {"type": "array"}}
    if operation.name == "page":
        content[MARKDOWN] = {"schema": {"type": "string"}}
    return content


def _parameter(parameter: Parameter, place: str = "query") -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": place,
        "required": parameter.required,
        "description": parameter.help,
        "schema": _schema(parameter),
    }


def _schema(parameter: Parameter) -> dict[str, Any]:
    if parameter.kind == "integer":
        bounds = {"minimum": parameter.minimum, "maximum": parameter.maximum}
        return {"type": "integer", **bounds, **({} if parameter.required else {"default": parameter.default})}
    if parameter.kind == "flag":
        return {"type": "integer", "enum": [0, 1], "default": 0}
    if parameter.kind == "choice":
        return {"type": "string", "enum": list(parameter.choices), "default": parameter.default}
    if parameter.kind == "date":
        return {"type": "string", "format": "date"}
    least = {"minLength": 1} if parameter.required else {}
    return {"type": "string", "maxLength": parameter.maximum, **least}
