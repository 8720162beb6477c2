"""The address guard: which addresses may be connected to at all.

Public ones, and those that the operator listed. It judges the address that a socket is about to be connected to, so
no spelling of a URL, no redirect and no name server can talk it round.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from msgspec import Struct

from webstrata.errors import BadSettings
from webstrata.urls import is_public

_EXCEPTION = re.compile(r"(?:\[(?P<six>[^\]]+)\]|(?P<four>[^:\[\]]+)):(?P<port>\d{1,5}|\*)")


class _Exception(Struct, frozen=True):
    network: IPv4Network | IPv6Network
    port: int | None
    """None: every port."""


class AddressGuard:
    """Says which address and port a socket may be connected to."""

    def __init__(self, exceptions: Iterable[str] = ()) -> None:
        """`exceptions` are networks with a port: `127.0.0.0/8:8480`, `[::1]:*`; a port is always named."""
        self._exceptions = tuple(_parse(text) for text in exceptions)
        self._judge = lru_cache(maxsize=4096)(self._allows)

    def allows(self, address: str, port: int) -> bool:
        """Whether this literal address may be connected to; a name never may."""
        return self._judge(address, port)

    def _allows(self, address: str, port: int) -> bool:
        if is_public(address):
            return True
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return any(parsed in exception.network and exception.port in (None, port) for exception in self._exceptions)


def _parse(text: str) -> _Exception:
    match = _EXCEPTION.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError
        port = None if match["port"] == "*" else int(match["port"])
        if port is not None and not 0 < port < 65536:
            raise ValueError
        return _Exception(ip_network(match["six"] or match["four"], strict=False), port)
    except ValueError:
        raise BadSettings(
            f"not a network with a port: {text!r}. Write 127.0.0.0/8:8480, [::1]:443 or 10.1.0.0/16:*."
        ) from None
