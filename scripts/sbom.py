"""Prints what Periplus is made of, as CycloneDX 1.6: every locked package with version, hashes, licence and address.

The packages are those of requirements/base.lock, which is what a user installs. Nothing in it depends on the day.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
import uuid
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements" / "base.lock"
_PIN = re.compile(r"^([a-z0-9._-]+)==([^\s;\\]+)(.*?)(?=^[a-z0-9._-]+==|\Z)", re.MULTILINE | re.DOTALL)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def components(lock: str) -> list[dict[str, Any]]:
    return [_component(name, version, _HASH.findall(rest)) for name, version, rest in _PIN.findall(lock)]


def _component(name: str, version: str, hashes: list[str]) -> dict[str, Any]:
    address = f"pkg:pypi/{name}@{version}"
    found: dict[str, Any] = {"type": "library", "bom-ref": address, "name": name, "version": version, "purl": address}
    licence = _licence(name)
    if licence:
        found["licenses"] = [{"license": {"name": licence}}]
    # One hash a file of the package: which of them is installed depends on the machine.
    found["externalReferences"] = [
        {
            "type": "distribution",
            "url": f"https://pypi.org/project/{name}/{version}/",
            "hashes": [{"alg": "SHA-256", "content": one} for one in hashes],
        }
    ]
    return found


def _licence(name: str) -> str:
    try:
        fields = metadata(name)
    except PackageNotFoundError:
        return ""  # for another platform
    said = fields.get("License-Expression") or (fields.get("License") or "").partition("\n")[0][:120]
    classes = [line.rpartition(" :: ")[2] for line in fields.get_all("Classifier") or [] if line.startswith("License")]
    return said or ", ".join(classes)


def bill() -> dict[str, Any]:
    lock = LOCK.read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    parts = components(lock)
    own = f"pkg:pypi/{project['name']}@{project['version']}"
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, project['version'] + lock)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": project["name"],
                "version": project["version"],
                "purl": own,
                "licenses": [{"license": {"id": project["license"]}}],
            }
        },
        "components": parts,
        "dependencies": [{"ref": own, "dependsOn": [part["bom-ref"] for part in parts]}],
    }


if __name__ == "__main__":
    json.dump(bill(), sys.stdout, indent=1)
    sys.stdout.write("\n")
