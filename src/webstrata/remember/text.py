"""Converting strings and small structs for text columns.

PostgreSQL's text cannot hold U+0000, and neither engine can hold an unpaired surrogate. In content from the web they
are replaced by U+FFFD; in names that a user gives (a tag, a URL) they are an error, so that the name can be found
again. JSON columns keep U+0000, because JSON escapes it.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from webstrata.errors import UsageError

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_encoder = msgspec.json.Encoder()


def stored(text: str | None) -> str | None:
    """The text with unstorable characters replaced."""
    return None if text is None else required(text)


def required(text: str) -> str:
    """Like `stored`, for a text that is never None."""
    if text.isascii() and "\x00" not in text:
        return text
    return _UNSTORABLE.sub("\ufffd", text)


def is_storable(text: str) -> bool:
    return _UNSTORABLE.search(text) is None


_LONGEST_NAME = 2600  # a b-tree entry of PostgreSQL holds at most 2,704 bytes


def named(text: str, what: str) -> str:
    """The name unchanged, or `UsageError` if it cannot be stored."""
    if _is_long(text):
        raise UsageError(f"a {what} of more than {_LONGEST_NAME} bytes: {text[:60]!r}… Shorten it.")
    if not is_storable(text):
        raise UsageError(f"a {what} cannot hold U+0000 or an unpaired surrogate: {text!r}. Remove it.")
    return text


def is_nameable(text: str) -> bool:
    """Whether `named` accepts the name."""
    return is_storable(text) and not _is_long(text)


def _is_long(text: str) -> bool:
    return len(text) > _LONGEST_NAME or (not text.isascii() and len(text.encode("utf-8", "replace")) > _LONGEST_NAME)


def packed(value: Any) -> str:
    """JSON text of a record, list or dict."""
    try:
        return _encoder.encode(value).decode()
    except UnicodeEncodeError:
        return _encoder.encode(_without_surrogates(msgspec.to_builtins(value))).decode()


def _without_surrogates(value: Any) -> Any:
    """The same value, with U+FFFD for every unpaired surrogate."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value
