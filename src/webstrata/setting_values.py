"""Checks of setting values that are more than their types: URLs, addresses, networks, budgets, names of policies.

Each value is checked by the part of the program that uses it, when the settings are loaded and before anything is
opened or created. Values that have their defaults are not checked, so that commands do not import what they do not
need. Files and users' own policies are checked when they are used (`Node.require_usable`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from webstrata import urls
from webstrata.errors import BadSettings, UsageError, WebstrataError
from webstrata.settings import Settings

_SENDABLE = re.compile(r"[\x20-\x7e]*")
_PRODUCT_TOKEN = re.compile(r"[A-Za-z_-]+")
"""RFC 9309, 2.2.1."""
_HOST_NAME = re.compile(r"[^\s/@\[\]]+|\[[0-9A-Fa-f:.]+\]")

Check = tuple[str, Callable[[], object]]


def check_values(settings: Settings, sources: Mapping[str, str]) -> None:
    """Raise BadSettings with the key, its source and what to write if a value cannot be used."""
    for key, check in _checks(settings):
        try:
            check()
        except WebstrataError as problem:
            raise BadSettings(f"{key} ({sources.get(key, 'default')}): {problem}") from None


def _checks(settings: Settings) -> Iterator[Check]:
    default = Settings()
    polite, fetch, schedule = settings.polite, settings.fetch, settings.schedule
    if settings.store != default.store:
        yield "store.url", lambda: _database(settings.store.url)
    yield "polite.contact", lambda: _sendable(polite.contact)
    yield "polite.robots_token", lambda: _product_token(polite.robots_token)
    if fetch.allow_private:
        yield "fetch.allow_private", lambda: _networks(fetch.allow_private)
    if fetch.hosts or fetch.name_servers:
        yield "fetch.hosts", lambda: _hosts(fetch.hosts)
        yield "fetch.name_servers", lambda: _endpoints(fetch.name_servers)
    yield "schedule.min_interval", lambda: _interval(schedule.min_interval)
    yield "schedule.max_interval", lambda: _longest_interval(schedule.max_interval, schedule.min_interval)
    if schedule.policy != default.schedule.policy:
        yield "schedule.policy", lambda: _policy(schedule.policy)
    budget = settings.budget
    if budget.total or budget.tags or budget.hosts:
        yield "budget.total", lambda: _rates([budget.total] if budget.total else [])
        yield "budget.tags", lambda: _rates(budget.tags.values())
        yield "budget.hosts", lambda: _rates(budget.hosts.values())
    capture = settings.capture
    if capture.timestamp_url:
        yield "capture.timestamp_url", lambda: urls.canonical(capture.timestamp_url)
    if bool(capture.domain_key) != bool(capture.domain_certificate):
        missing = "capture.domain_certificate" if capture.domain_key else "capture.domain_key"
        yield missing, _unpaired_domain


def _database(url: str) -> None:
    from webstrata.remember.engine import check_url

    if url:
        check_url(url)


def _sendable(text: str) -> None:
    if not _SENDABLE.fullmatch(text):
        raise UsageError(
            f"{text[:100]!r} cannot be sent in a User-Agent header. Write an e-mail address or a URL in ASCII."
        )


def _product_token(text: str) -> None:
    if not _PRODUCT_TOKEN.fullmatch(text):
        raise UsageError(f"{text[:100]!r} is not a product token (RFC 9309). Write letters, - and _ only.")


def _networks(texts: tuple[str, ...]) -> None:
    from webstrata.fetch.http.guard import AddressGuard

    AddressGuard(texts)


def _hosts(addresses: Mapping[str, str]) -> None:
    for name in addresses:
        if not _HOST_NAME.fullmatch(name):
            raise UsageError(f"{name[:100]!r} is not a host name. Write name=address or name=address:port.")
    _endpoints(addresses.values())


def _endpoints(texts: Iterable[str]) -> None:
    from webstrata.fetch.http.endpoint import parse_endpoint

    for text in texts:
        parse_endpoint(text)


def _interval(seconds: float) -> None:
    if seconds <= 0:
        raise UsageError("an interval must be longer than 0 seconds. Write it like 10m, 6h or 2d.")


def _longest_interval(longest_s: float, shortest_s: float) -> None:
    if longest_s < shortest_s:
        raise UsageError("it is shorter than schedule.min_interval. Exchange the two values.")


def _policy(name: str) -> None:
    from webstrata.schedule.registry import require_known

    require_known(name)


def _rates(texts: Iterable[str]) -> None:
    from webstrata.schedule.budget import parse_rate

    for text in texts:
        parse_rate(text)


def _unpaired_domain() -> None:
    raise UsageError("capture.domain_key and capture.domain_certificate belong together. Set both or none.")
