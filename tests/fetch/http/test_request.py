"""A permit is translated to a request."""

from __future__ import annotations

from typing import Any

import pytest

from webstrata.fetch.http.request import HttpRequest, request_of
from webstrata.records import Failure, FailureKind, Permit, Validators


def permit(**changes: Any) -> Permit:
    values: dict[str, Any] = {
        "url": "http://example.org/a?b=c",
        "origin": "http://example.org",
        "host": "example.org",
        "address": "93.184.216.34",
        "port": 80,
        "agent": "webstrata/1 (+https://example.org/bot)",
        "granted_at": 0.0,
    }
    return Permit(**(values | changes))


def created(validators: Validators | None = None, **changes: Any) -> HttpRequest:
    request = request_of(permit(**changes), "text/html", validators)
    assert isinstance(request, HttpRequest)
    return request


def test_head() -> None:
    """The head holds the request line and the headers in the order in which they are sent."""
    assert created().head == (
        b"GET /a?b=c HTTP/1.1\r\n"
        b"Host: example.org\r\n"
        b"User-Agent: webstrata/1 (+https://example.org/bot)\r\n"
        b"Accept: text/html\r\n"
        b"Accept-Encoding: gzip, deflate, br, zstd\r\n"
        b"\r\n"
    )


TARGETS = [
    ("http://example.org/", "/", "example.org", "example.org"),
    ("http://example.org/a?", "/a?", "example.org", "example.org"),
    ("http://example.org//a/%2e%2E/b;c?d=%41|'{}", "//a/%2e%2E/b;c?d=%41|'{}", "example.org", "example.org"),
    ("https://example.org:8443/x", "/x", "example.org:8443", "example.org"),
    ("http://[2606:2800:220:1::1]/x", "/x", "[2606:2800:220:1::1]", "2606:2800:220:1::1"),
    ("http://xn--bcher-kva.example/x", "/x", "xn--bcher-kva.example", "xn--bcher-kva.example"),
]


@pytest.mark.parametrize(("url", "target", "authority", "server_name"), TARGETS)
def test_targets_are_sent_unchanged(url: str, target: str, authority: str, server_name: str) -> None:
    """Path and query of the canonical URL are sent unchanged."""
    request = created(url=url)
    assert request.head.startswith(f"GET {target} HTTP/1.1\r\nHost: {authority}\r\n".encode())
    assert request.target.tls == url.startswith("https")
    assert request.target.server_name == server_name


@pytest.mark.parametrize(("address", "port"), [("93.184.216.34", 80), ("2606:2800:220:1::1", 8480)])
def test_address_of_the_permit(address: str, port: int) -> None:
    """The target has the address and port of the permit, whatever the URL is."""
    target = created(address=address, port=port).target
    assert (target.address, target.port) == (address, port)


CONDITIONS = [
    (None, b""),
    (Validators(), b""),
    (Validators(etag='"x"'), b'If-None-Match: "x"\r\n'),
    (Validators(etag='W/"x"', last_modified="Sun, 15 Nov 2026 08:30:00 GMT"), b'If-None-Match: W/"x"\r\n'),
    (
        Validators(last_modified="Sun, 15 Nov 2026 08:30:00 GMT"),
        b"If-Modified-Since: Sun, 15 Nov 2026 08:30:00 GMT\r\n",
    ),
    (Validators(etag='"ü"', last_modified="junk"), b"If-Modified-Since: junk\r\n"),
    (Validators(etag='"ü"'), b""),
    (Validators(etag='"a\tb"', last_modified="Sun\x7f"), b""),
    (Validators(etag='"x"\r\nX: y', last_modified="\x00"), b""),
    (Validators(etag="a" * 1024), b"If-None-Match: " + b"a" * 1024 + b"\r\n"),
    (Validators(etag="a" * 1025, last_modified="b" * 1025), b""),
    (Validators(etag="", last_modified="junk"), b"If-Modified-Since: junk\r\n"),
]


@pytest.mark.parametrize(("validators", "line"), CONDITIONS)
def test_conditions(validators: Validators | None, line: bytes) -> None:
    """The ETag has precedence over the date; a validator that cannot be sent unchanged is left out."""
    condition = created(validators).head.partition(b"zstd\r\n")[2]
    assert condition == line + b"\r\n"


REFUSED: list[dict[str, Any]] = [
    {"url": "http://example.org/\r\nX: y"},
    {"url": "http://example.org/a b"},
    {"url": "http://example.org/\u00fc"},
    {"url": "http://example.org/\x00"},
    {"url": "http://example.org"},
    {"url": "http://user:pw@example.org/"},
    {"url": "http://example.org/#part"},
    {"url": "ftp://example.org/"},
    {"url": "file:///etc/passwd"},
    {"url": "/path"},
    {"url": ""},
    {"agent": "bot\r\nX: y"},
    {"agent": "bot\x7f"},
]


@pytest.mark.parametrize("changes", REFUSED, ids=str)
def test_refused(changes: dict[str, Any]) -> None:
    """A URL that is not canonical, or a value with a line break, is refused."""
    request = request_of(permit(**changes), "*/*", None)
    assert isinstance(request, Failure)
    assert request.kind is FailureKind.BAD_URL


def test_line_breaks_in_accept() -> None:
    """Accept cannot inject a header."""
    request = request_of(permit(), "*/*\r\nX: y", None)
    assert isinstance(request, Failure)
    assert request.kind is FailureKind.BAD_URL
