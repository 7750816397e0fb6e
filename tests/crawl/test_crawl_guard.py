"""The guard: which addresses may be visited, by table and in a network where a server answers at each of them."""

from __future__ import annotations

import ipaddress
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.crawl.fetching.guard import SPECIAL_IPV4, SPECIAL_IPV6, is_loopback, is_private
from support.components import missing

HERE = Path(__file__).parent

REFUSED = [
    "127.0.0.1", "10.1.2.3", "192.168.0.1", "172.16.0.1", "172.31.255.255", "169.254.169.254", "100.64.0.1",
    "100.100.100.200", "0.0.0.0", "0.1.2.3", "224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16",
    "192.0.0.1", "192.0.0.8", "192.0.0.9", "192.0.0.170", "192.0.2.1", "192.31.196.1", "192.52.193.1", "192.88.99.1",
    "192.175.48.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1",
    "::1", "::", "fc00::1", "fd00:ec2::254", "fe80::1", "febf::1", "fec0::1", "ff02::1", "100::1", "100:0:0:1::1",
    "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::10.0.0.1", "::8.8.8.8", "::ffff:0:8.8.8.8", "200::1", "400::1", "1000::1",
    "64:ff9b::10.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b::192.0.0.8", "64:ff9b:1::8.8.8.8",
    "64:ff9b:1:fffe::1", "64:ff9b::1:8.8.8.8", "2002:7f00:1::", "2002:a00:1::1", "2002:a9fe:a9fe::1",
    "2002:c000:8::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:1::1", "2001:2::1", "2001:10::1",
    "2001:20::1", "2001:30::1", "2001:1ff::1", "2001:db8::1", "2620:4f:8000::1", "3ffe::1", "3fff::1", "4000::1",
    "5f00::1", "8000::1", "2001:470::5efe:10.0.0.1", "2001:470::200:5efe:192.168.1.1", "2002:808:808::5efe:10.0.0.1",
]  # fmt: skip
VISITED = [
    "93.184.216.34", "8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.0.1.1",
    "192.167.1.1", "223.255.255.255", "168.63.129.17", "2606:4700::1111", "2001:200::1", "2001:470::1", "2a00::1",
    "2003::1", "3fff:1000::1", "64:ff9b::8.8.8.8", "2002:808:808::1", "2001:470::5efe:8.8.8.8", "2001:db9::1",
]  # fmt: skip
NO_ADDRESS = ["nonsense", "", "fe80::1%eth0", "2606:4700::1%eth0", "010.0.0.1", "1.2.3", "2130706433", "0x7f.1", "::g"]


@pytest.mark.parametrize("ip", [*REFUSED, *NO_ADDRESS, "[::1]"])
def test_refused(ip: str) -> None:
    assert is_private(ip)


@pytest.mark.parametrize("ip", [*VISITED, "[2606:4700::1111]"])
def test_visited(ip: str) -> None:
    assert not is_private(ip)


@pytest.mark.parametrize("block", [*SPECIAL_IPV4, *SPECIAL_IPV6], ids=lambda block: block.prefix)
def test_a_block_is_refused_from_end_to_end(block: Any) -> None:
    network = ipaddress.ip_network(block.prefix)
    assert is_private(str(network[0]))
    assert is_private(str(network[-1]))


@given(st.integers(0, 2**32 - 1))
def test_ipv4_is_never_let_through_that_python_calls_special(number: int) -> None:
    address = ipaddress.IPv4Address(number)
    if is_private(str(address)):
        assert not address.is_global or address.is_multicast or _is_ours(address)
    else:
        assert address.is_global
        assert not address.is_multicast


def _is_ours(address: ipaddress.IPv4Address) -> bool:
    """What we refuse although it can be reached, or although some versions of Python say so."""
    ours = ("192.0.0.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24", "168.63.129.16")
    return any(address in ipaddress.ip_network(block) for block in ours)


@given(st.one_of(st.integers(0, 2**128 - 1), st.integers(0x2000 << 112, (0x4000 << 112) - 1)))
def test_ipv6_is_let_through_in_global_unicast_alone(number: int) -> None:
    address = ipaddress.IPv6Address(number)
    if not is_private(str(address)):
        assert address in ipaddress.ip_network("2000::/3") or address in ipaddress.ip_network("64:ff9b::/96")


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**80 - 1))
def test_a_translated_address_is_judged_by_what_it_carries(carried: int, rest: int) -> None:
    judged = is_private(str(ipaddress.IPv4Address(carried)))
    assert is_private(str(ipaddress.IPv6Address((0x64FF9B << 96) | carried))) is judged
    tunnel = (0x2002 << 112) | carried << 80 | rest & ~(0xFFFF_FFFF << 32)
    assert is_private(str(ipaddress.IPv6Address(tunnel))) is judged
    isatap = (0x2A00 << 112) | 0x5EFE << 32 | carried
    assert is_private(str(ipaddress.IPv6Address(isatap))) is judged


@pytest.mark.parametrize(("ip", "expected"), [("127.9.9.9", True), ("::1", True), ("[::ffff:127.0.0.1]", True),
                                              ("::ffff:8.8.8.8", False), ("8.8.8.8", False), ("x", False)])  # fmt: skip
def test_loopback(ip: str, expected: bool) -> None:
    assert is_loopback(ip) is expected


# A server at such addresses

PLAYED_REFUSED = [
    "127.0.0.1", "10.0.0.1", "169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.8", "198.18.0.1",
    "203.0.113.1", "240.0.0.1", "::1", "fec0::1", "fc00::1", "::10.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1",
    "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:a00:1::1", "2001::1", "2001:db8::1", "3fff::1", "4000::1", "5f00::1",
    "100::1", "2001:470::5efe:10.0.0.1",
]  # fmt: skip
PLAYED_VISITED = ["93.184.216.34", "2606:4700::1", "64:ff9b::808:808", "2002:808:808::1"]


def _namespace() -> list[str]:
    """What starts a program in a network of its own, where any address may be raised."""
    unshare, ip = shutil.which("unshare"), shutil.which("ip") or shutil.which("ip", path="/usr/sbin:/sbin")
    if unshare is None or ip is None:
        missing("unshare or ip (util-linux, iproute2)")
    command = [unshare, "-n"] if os.geteuid() == 0 else [unshare, "-rn"]
    probe = f"{ip} link set lo up && {ip} -6 addr add fec0::1/128 dev lo nodad"
    tried = subprocess.run([*command, "sh", "-c", probe], capture_output=True, text=True, check=False)
    if tried.returncode:
        missing(f"a network namespace with IPv6 ({tried.stderr.strip() or 'refused'})")
    return command


def test_a_server_at_a_special_address_is_never_visited(tmp_path: Path) -> None:
    command = _namespace()
    cases = tmp_path / "cases.json"
    cases.write_text(json.dumps(PLAYED_REFUSED + PLAYED_VISITED), encoding="utf-8")
    places = os.pathsep.join([str(HERE.parent), *sys.path])
    environment = os.environ | {"PYTHONPATH": places, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
    script = [sys.executable, str(HERE / "guarded_world.py"), str(cases)]
    done = subprocess.run(
        [*command, *script], capture_output=True, text=True, check=False, timeout=120, env=environment
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == 4 * len(PLAYED_REFUSED + PLAYED_VISITED)  # by literal and by name, guarded and not
    for answer in answers:
        came = (answer["body"], answer["reason"], answer["visits"])
        is_visited = answer["allowed"] or answer["ip"] in PLAYED_VISITED
        assert came == (("secret", "", 1) if is_visited else ("", "private-address", 0)), answer
