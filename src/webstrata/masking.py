"""Passwords in URLs: what is shown instead of them, in settings, messages, log lines and tracebacks.

A URL is masked by its form (`masked`). The text of another library may quote parts of a URL in any form; therefore the
passwords of the settings are remembered (`remember_secrets`), and are masked in any text wherever they occur.
"""

from __future__ import annotations

import re
from urllib.parse import quote, quote_plus, unquote, unquote_plus

MASK = "***"

_URL = re.compile(r"[a-z][a-z0-9+.-]*://[^\s'\"]+", re.IGNORECASE)
_WEB_USER = re.compile(r"^(https?://)[^/?#]*@", re.IGNORECASE)
_PASSWORD = re.compile(r"^([^:]*://[^:/@]*):.*@", re.DOTALL)
_QUERY_PASSWORD = re.compile(r"([?&](?:ssl)?password=)([^&#]*)", re.IGNORECASE)
_SEPARATORS = re.compile(r"[@/:?#&\s]+")
_SHORTEST_PART = 4
"""A shorter part of a password says little about it, and would be found in most texts."""
_WORDS_ONLY = 8
"""A shorter secret is masked where it is a word of its own: it may be a part of other words."""

_secrets: set[str] = set()


def masked(text: str) -> str:
    """A text without the passwords of the URLs in it, and without the remembered secrets."""
    text = _URL.sub(lambda found: masked_url(found[0]), text)
    for secret in sorted(_secrets, key=len, reverse=True):
        if secret in text:
            word = re.escape(secret)
            text = re.sub(rf"(?<!\w){word}(?!\w)" if len(secret) < _WORDS_ONLY else word, MASK, text)
    return text


def masked_url(url: str) -> str:
    """A URL without its password, in the user part or, if it is not the URL of a page, in the query."""
    if url[:4].lower() == "http":
        return _WEB_USER.sub(rf"\1{MASK}@", url)
    return _QUERY_PASSWORD.sub(rf"\1{MASK}", _PASSWORD.sub(rf"\1:{MASK}@", url))


def remember_secrets(url: str) -> None:
    """Mask the password of this URL, also if the URL is not valid, in every text from now on."""
    _secrets.update(secrets_of(url))


def forget_secrets() -> None:
    """Forget the remembered passwords: another command begins in this process, with other settings."""
    _secrets.clear()


def secrets_of(url: str) -> set[str]:
    """The password of a URL in all forms in which a text may quote it, and the parts of one that is not encoded.

    What the URL also names as user, host or database is no secret.
    """
    rest = url.partition("://")[2] or url
    credentials, has_user, place = rest.rpartition("@")
    user, colon, password = (credentials if has_user else rest).partition(":")
    passwords = {found[2] for found in _QUERY_PASSWORD.finditer(url)}
    if colon and (has_user or not re.match(r"\d*(?:[/?]|$)", password)):  # else it is a port
        passwords.add(password)
    forms: set[str] = set()
    for one in passwords:
        plain = unquote(one)
        forms |= {one, plain, unquote_plus(one), quote(plain), quote(plain, safe=""), quote_plus(plain)}
        parts = [part for form in (one, plain) for part in _SEPARATORS.split(form)]
        forms |= {part for part in parts if len(part) >= _SHORTEST_PART}
    public = {unquote(user), *_SEPARATORS.split(place)} if has_user else set()
    return forms - public - {""}
