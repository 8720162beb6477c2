"""The guard decides which addresses may be connected to."""

from __future__ import annotations

import pytest

from webstrata.errors import BadSettings
from webstrata.fetch.http.guard import AddressGuard

PUBLIC = ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1"]
NOT_PUBLIC = [
    "127.0.0.1",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1",
    "fe80::1%eth0",
    "fd00::1",
    "::ffff:127.0.0.1",
    "64:ff9b::7f00:1",
    "localhost",
    "",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses(address: str) -> None:
    """A public address is allowed on every port."""
    assert AddressGuard().allows(address, 80)
    assert AddressGuard().allows(address, 8443)


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_other_addresses(address: str) -> None:
    """An address that is not public, and text that is not an address, is refused."""
    assert not AddressGuard().allows(address, 80)


EXCEPTIONS = [
    ("127.0.0.0/8:8480", "127.3.2.1", 8480, True),
    ("127.0.0.0/8:8480", "127.3.2.1", 80, False),
    ("127.0.0.0/8:8480", "::ffff:127.0.0.1", 8480, False),
    ("127.0.0.1:*", "127.0.0.1", 9, True),
    ("127.0.0.1:*", "127.0.0.2", 9, False),
    ("[::1]:*", "::1", 9, True),
    ("[fd00::/8]:443", "fd12::9", 443, True),
    ("[fd00::/8]:443", "fe80::9", 443, False),
]


@pytest.mark.parametrize(("exception", "address", "port", "allowed"), EXCEPTIONS)
def test_exceptions(exception: str, address: str, port: int, allowed: bool) -> None:
    """An exception allows its network on its port and nothing else."""
    assert AddressGuard([exception]).allows(address, port) is allowed


@pytest.mark.parametrize(
    "text", ["", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:99999", "localhost:80", "::1:80", "10.0.0.0/33:1"]
)
def test_bad_exceptions(text: str) -> None:
    """An exception without a network or without a port is a settings error."""
    with pytest.raises(BadSettings, match="not a network with a port"):
        AddressGuard([text])
