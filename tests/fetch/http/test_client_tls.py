"""Certificates are always checked against the host of the URL."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fetch.conftest import Conversation, PlayedServer, fetch
from webstrata.records import FailureKind

Play = Callable[..., PlayedServer]

DATA = Path(__file__).parents[2] / "data" / "tls"
AUTHORITY = str(DATA / "ca.pem")
HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


def served_with(file: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(DATA / file)
    return context


def test_good_certificate(play: Play) -> None:
    """A certificate of a trusted authority for the host of the URL is accepted."""
    server = play(HELLO, tls=served_with("good.pem"))
    exchange = fetch(server.permit(scheme="https", host="site.test"), ca_file=AUTHORITY)
    assert (exchange.body, exchange.failure) == (b"hello", None)


REFUSED = {
    "expired": ("expired.pem", "site.test", AUTHORITY),
    "for another name": ("good.pem", "other.test", AUTHORITY),
    "for a name, not the address": ("good.pem", "", AUTHORITY),
    "self-signed": ("self-signed.pem", "site.test", AUTHORITY),
    "authority not trusted": ("good.pem", "site.test", None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_certificates(play: Play, name: str) -> None:
    """An expired, wrong, self-signed or untrusted certificate ends the exchange before a request is sent."""
    file, host, authority = REFUSED[name]
    server = play(HELLO, tls=served_with(file))
    exchange = fetch(server.permit(scheme="https", host=host), ca_file=authority)

    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.TLS
    assert server.requests == []


def test_old_version(play: Play) -> None:
    """A server that supports only TLS 1.1 or older is refused."""
    context = served_with("good.pem")
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="deprecated"):
        context.minimum_version = ssl.TLSVersion.TLSv1
    with pytest.warns(DeprecationWarning, match="deprecated"):
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    exchange = fetch(play(HELLO, tls=context).permit(scheme="https", host="site.test"), ca_file=AUTHORITY)

    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.TLS


def test_server_without_tls(play: Play) -> None:
    """A server that responds without TLS on an https URL is a TLS failure; there is no fallback."""

    def script(peer: Conversation) -> None:
        peer.send(HELLO)
        peer.wait_for_close()

    server = play(script)
    exchange = fetch(server.permit(scheme="https", host="site.test"), ca_file=AUTHORITY)
    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.TLS
    assert server.connections == 1


def test_handshake_that_ends(play: Play) -> None:
    """A connection that ends during the handshake is a failure."""

    def script(peer: Conversation) -> None:
        peer.pause(0.05)

    exchange = fetch(play(script).permit(scheme="https", host="site.test"), ca_file=AUTHORITY)
    assert exchange.failure is not None
    assert exchange.failure.kind in (FailureKind.TLS, FailureKind.RESET)
