"""What is deployed: units that systemd accepts, commands that exist, containers and pods that may do little."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import subprocess
import urllib.request
from pathlib import Path

import pytest
import typer
import yaml

from periplus.cli.verbs import application
from support.components import missing

ROOT = Path(__file__).resolve().parent.parent.parent
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
CONTAINERFILE = DEPLOY / "container" / "Containerfile"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yml"))
KUBERAY = DEPLOY / "kubernetes" / "kuberay.yml"
# The fields that KubeRay documents for ray.io/v1 (API reference of 1.6); an operator drops or refuses others.
RAY_CLUSTER = {"suspend", "managedBy", "authOptions", "autoscalerOptions", "headServiceAnnotations", "rayVersion"}
RAY_CLUSTER |= {"enableInTreeAutoscaling", "gcsFaultToleranceOptions", "headGroupSpec", "workerGroupSpecs"}
HEAD_GROUP = {"template", "headService", "enableIngress", "rayStartParams", "serviceType"}
WORKER_GROUP = {"suspend", "groupName", "replicas", "minReplicas", "maxReplicas", "idleTimeoutSeconds", "numOfHosts"}
WORKER_GROUP |= {"rayStartParams", "template", "scaleStrategy"}
EXPOSURE = 20  # on systemd's scale of 0 to 100; the units have 14


def documents_of(path: Path) -> list[dict]:
    return list(yaml.safe_load_all(path.read_text()))


def pods_of(path: Path) -> list[dict]:
    """Templates of all pods of a file, those of Ray's machines as well."""
    found = []
    for document in documents_of(path):
        spec = document.get("spec", {})
        groups = [spec] if document["kind"] in ("StatefulSet", "Deployment") else []
        if document["kind"] == "RayCluster":
            groups = [spec["headGroupSpec"], *spec["workerGroupSpecs"]]
        found += [group["template"] for group in groups]
    return found


def commands() -> list[list[str]]:
    """Every command line of periplus in units, compose files, pods and the image."""
    found = []
    for unit in UNITS:
        found += [shlex.split(line)[1:] for line in re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.MULTILINE)]
    for path in (DEPLOY / "compose").glob("*.yml"):
        services = yaml.safe_load(path.read_text())["services"].values()
        found += [service["command"] for service in services if service.get("image") == "periplus"]
    for pod in (pod for path in MANIFESTS for pod in pods_of(path)):
        found += [container["args"] for container in pod["spec"]["containers"] if "args" in container]
    found += [eval(line) for line in re.findall(r"^CMD (\[.*\])$", CONTAINERFILE.read_text(), re.MULTILINE)]
    return found


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_is_one_that_we_have(words):
    group = typer.main.get_command(application())
    command = group.commands[words[0]]
    flags = {name for parameter in command.params for name in parameter.opts}

    assert {word for word in words[1:] if word.startswith("--")} <= flags


def test_units_say_plain_lines_and_containers_json():
    from periplus import log_lines

    units = "".join(path.read_text() for path in (DEPLOY / "systemd").iterdir())
    assert log_lines.VARIABLE not in units
    assert f"{log_lines.VARIABLE}={log_lines.JSON} " in CONTAINERFILE.read_text()


@pytest.fixture
def installed(tmp_path):
    """The units as they would be installed, with a program that is there."""
    if shutil.which("systemd-analyze") is None:
        missing("systemd-analyze")
    program = tmp_path / "periplus"
    program.write_text("#!/bin/sh\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    for path in (DEPLOY / "systemd").glob("periplus*"):
        text = path.read_text().replace("/opt/periplus/bin/periplus", str(program))
        (tmp_path / path.name).write_text(text)
    return tmp_path


def test_systemd_accepts_the_units(installed):
    units = sorted(str(path) for path in installed.glob("periplus*.*"))
    done = subprocess.run(
        ["systemd-analyze", "verify", *units],
        capture_output=True,
        text=True,
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{installed}:"},
        check=False,
    )

    said = [line for line in done.stderr.splitlines() if "periplus" in line]
    assert not said
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_a_unit_may_do_little(installed, unit):
    done = subprocess.run(
        [
            "systemd-analyze",
            "security",
            "--offline=true",
            "--no-pager",
            f"--threshold={EXPOSURE}",
            installed / unit.name,
        ],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout[-500:]


def test_the_image_is_run_by_nobody_and_says_how_it_is():
    text = CONTAINERFILE.read_text()

    assert re.search(r"^USER 10001:10001$", text, re.MULTILINE)
    assert text.rindex("USER ") > text.rindex("RUN ")
    assert "--require-hashes" in text
    assert "ADD " not in text
    assert "HEALTHCHECK" in text
    copied = [word for line in re.findall(r"^COPY (?!--from)(.*)$", text, re.MULTILINE) for word in line.split()[:-1]]
    assert [name for name in copied if not (ROOT / name).exists()] == []


def test_the_health_check_of_the_image_works(tmp_path):
    """Run against a real server, as the container would run it, and against nobody."""
    from periplus import Collection
    from periplus.app.serving.server import web_server

    line = re.search(r"^  CMD (\[.*\])$", CONTAINERFILE.read_text(), re.MULTILINE)[1]
    code = eval(line)[2]
    with Collection(tmp_path / "c", flags={"serve.port": 0}) as made, web_server(made.create()) as server:
        asked = code.replace("http://127.0.0.1:8080/", server.address.rstrip("/") + "/")
        exec(asked, {})
    with pytest.raises(urllib.error.URLError):
        exec(asked, {})


@pytest.mark.parametrize("path", sorted((DEPLOY / "compose").glob("*.yml")), ids=lambda path: path.name)
def test_containers_of_compose_files_may_do_little(path):
    services = yaml.safe_load(path.read_text())["services"]
    ours = {name: service for name, service in services.items() if service["image"] == "periplus"}

    assert ours
    for service in ours.values():
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["user"] == "10001:10001"
        assert service["logging"]["options"]["max-size"]
    for service in services.values():
        volumes = {volume.partition(":")[0] for volume in service.get("volumes", ()) if volume[0] not in "./"}
        assert volumes <= set(yaml.safe_load(path.read_text())["volumes"])
        mounted = [volume.partition(":")[0] for volume in service.get("volumes", ()) if volume.startswith("../")]
        assert [name for name in mounted if not (path.parent / name).exists()] == []


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_pods_may_do_little(path):
    pods = pods_of(path)

    assert pods
    assert all(d["metadata"].get("namespace", "periplus") == "periplus" for d in documents_of(path))
    for pod in pods:
        spec = pod["spec"]
        assert spec["securityContext"]["runAsNonRoot"]
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not spec["automountServiceAccountToken"]
        claims = {"collection"} if path.name == "periplus.yml" else set()
        volumes = claims | {volume["name"] for volume in spec["volumes"]}
        mounted = set()
        for container in [*spec["containers"], *spec.get("initContainers", ())]:
            assert container["securityContext"]["readOnlyRootFilesystem"]
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert not container["securityContext"]["allowPrivilegeEscalation"]
            assert container["resources"]["limits"]["memory"]
            assert container["resources"]["requests"]["cpu"]
            mounted |= {mount["name"] for mount in container["volumeMounts"]}
        assert mounted == volumes


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_who_serves_pages_says_how_it_is(path):
    """Each port that visitors reach is one of a pod whose readiness is the index's."""
    (service,) = (document for document in documents_of(path) if document["kind"] == "Service")
    (policy,) = (document for document in documents_of(path) if document["kind"] == "NetworkPolicy")
    pods = [pod for pod in pods_of(path) if service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()]

    assert pods
    for pod in pods:
        (container,) = (one for one in pod["spec"]["containers"] if "readinessProbe" in one)
        assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "http"}
        assert {"livenessProbe", "startupProbe"} <= container.keys()
        assert {"name": "http", "containerPort": 8080} in container["ports"]
    for pod in pods_of(path):
        assert policy["spec"]["podSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()


def test_ray_s_machines_are_as_kuberay_documents_them():
    (cluster,) = (document for document in documents_of(KUBERAY) if document["kind"] == "RayCluster")
    spec = cluster["spec"]
    head, workers = spec["headGroupSpec"], spec["workerGroupSpecs"]

    assert cluster["apiVersion"] == "ray.io/v1"
    assert spec.keys() <= RAY_CLUSTER
    assert spec["authOptions"].keys() <= {"mode", "secretName"}
    assert head.keys() <= HEAD_GROUP
    for worker in workers:
        assert worker.keys() <= WORKER_GROUP
        assert worker["minReplicas"] <= worker["replicas"] <= worker["maxReplicas"]
    for group in (head, *workers):
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())
        assert group["template"]["spec"]["containers"][0]["name"] == "ray"  # the first one is Ray's
        assert group["rayStartParams"]["metrics-export-port"] != "8080"  # ours, and KubeRay's default
    lock = (ROOT / "requirements" / "cluster.lock").read_text()
    assert f"\nray=={spec['rayVersion']} " in lock


def test_secrets_of_the_cluster_are_named_in_the_page_and_stand_in_no_file():
    text = KUBERAY.read_text()
    named = set(re.findall(r"secret(?:Name|Ref|KeyRef): \{?(?:name: )?([a-z-]+)", text))

    assert named == {"periplus-state", "periplus-objects", "periplus-ray"}
    assert named == set(re.findall(r"create secret generic ([a-z-]+)", (DEPLOY / "README.md").read_text()))
    assert "kind: Secret" not in text


def test_settings_that_are_given_as_variables_exist():
    from periplus import settings

    known = {info.variable for info in settings.catalogue()} | {
        "PERIPLUS_CACHE",
        "PERIPLUS_LOG",
        "PERIPLUS_SHARD_TOKEN",
        "PERIPLUS_SHARDS",  # of the units alone
        "PERIPLUS_BACKUPS",
    }
    text = "".join(path.read_text() for path in DEPLOY.rglob("*") if path.is_file())

    assert set(re.findall(r"PERIPLUS_[A-Z_]+[A-Z]", text)) <= known


def test_nginx_accepts_its_file(tmp_path):
    nginx = shutil.which("nginx") or "/usr/sbin/nginx"
    if not Path(nginx).exists():
        missing("nginx")
    import trustme

    certificate = trustme.CA().issue_cert("example.org")
    certificate.private_key_and_cert_chain_pem.write_to_path(tmp_path / "both.pem")
    text = (DEPLOY / "nginx" / "periplus.conf").read_text()
    for name in ("cert.pem", "key.pem"):
        text = text.replace(f"/etc/nginx/tls/{name}", str(tmp_path / "both.pem"))
    text = text.replace("broker:8080", "127.0.0.1:8080")
    main = tmp_path / "nginx.conf"
    main.write_text(
        f"pid {tmp_path}/pid; error_log {tmp_path}/error.log; events {{}}\nhttp {{ access_log off;\n{text}\n}}\n"
    )
    done = subprocess.run([nginx, "-t", "-c", main, "-p", tmp_path], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
