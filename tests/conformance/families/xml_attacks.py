"""XML that attacks its reader (tiran/defusedxml): refused or harmless in every reader of XML, and nothing is opened."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.conformance.case import UnplayableError, play_named
from tests.conformance.verdict import Verdict
from webstrata.observe.data.dispatch import data_digest
from webstrata.observe.data.sitemap import parse_sitemap

FAMILY = "xml-attacks"
_LIMIT_S = 1.0

_REFUSED = ("cyclic", "external", "parameter", "quadratic", "xmlbomb")
_READ = ("dtd", "simple", "xml")
"""How the names of harmful and of harmless files begin."""
_TYPES = ("application/xml", "application/rdf+xml", "application/rss+xml", "application/sparql-results+xml")


def run(folder: Path) -> Verdict:
    verdict = Verdict()
    for media_type in _TYPES:  # readers load their modules at first use: that is no opening of files
        data_digest(b"<a/>", media_type, None, "https://example.org/")
    for path in sorted(folder.glob("*.xml")):
        play_named(path.name, partial(_play, path), verdict)
    return verdict


def _play(path: Path, verdict: Verdict) -> None:
    body = path.read_bytes()
    if not path.name.startswith((*_REFUSED, *_READ)):
        raise UnplayableError("the name of the file does not say whether it is harmful")
    harmful = path.name.startswith(_REFUSED)
    for media_type in _TYPES:
        with _opened() as opened:
            begun = time.process_time()
            data = data_digest(body, media_type, None, "https://example.org/")
            in_time = time.process_time() - begun < _LIMIT_S
        is_read = data is not None and data.digest is not None
        expected = not harmful and media_type == "application/xml"
        verdict.check(f"{path.name} as {media_type}", (expected, True, []), (is_read, in_time, opened))
    with _opened() as opened:
        entries = parse_sitemap(body, "https://example.org/").entries
    verdict.check(f"{path.name} as a sitemap", ((), []), (entries, opened))


_listeners: list[Callable[[str], None]] = []


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if _listeners and event in ("open", "socket.connect", "socket.getaddrinfo", "subprocess.Popen"):
        for listener in _listeners:
            listener(f"{event} {arguments[0]}")


sys.addaudithook(_hear)  # stays for the life of the process: it only hears while someone listens


@contextmanager
def _opened() -> Iterator[list[str]]:
    """Files opened and connections made meanwhile."""
    heard: list[str] = []
    _listeners.append(heard.append)
    try:
        yield heard
    finally:
        _listeners.remove(heard.append)
