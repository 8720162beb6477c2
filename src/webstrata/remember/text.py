"""Strings and small structs on their way into a text column.

PostgreSQL's text cannot hold U+0000 and neither engine can hold half a surrogate pair. What the web sent is
stored with U+FFFD in their place; what a user names (a tag, a URL) is refused instead, so that it can be found
again under the name that was given. Inside JSON columns U+0000 is kept, because JSON escapes it.
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
    """The text as a column can hold it."""
    if text is None or (text.isascii() and "\x00" not in text):
        return text
    return _UNSTORABLE.sub("\ufffd", text)


def required(text: str) -> str:
    """The same where there is always a text."""
    if text.isascii() and "\x00" not in text:
        return text
    return _UNSTORABLE.sub("\ufffd", text)


def is_storable(text: str) -> bool:
    return _UNSTORABLE.search(text) is None


_LONGEST_NAME = 2600  # a b-tree entry of PostgreSQL holds at most 2,704 bytes


def named(text: str, what: str) -> str:
    """A name that a user chose, unchanged, or `UsageError`."""
    if len(text) > _LONGEST_NAME or (not text.isascii() and len(text.encode("utf-8", "replace")) > _LONGEST_NAME):
        raise UsageError(f"a {what} of more than {_LONGEST_NAME} bytes: {text[:60]!r}… Shorten it.")
    if not is_storable(text):
        raise UsageError(f"a {what} cannot hold U+0000 or half a surrogate pair: {text!r}. Leave it out.")
    return text


def packed(value: Any) -> str:
    """JSON text of a record, list or dict."""
    try:
        return _encoder.encode(value).decode()
    except UnicodeEncodeError:
        return _encoder.encode(_whole(msgspec.to_builtins(value))).decode()


def _whole(value: Any) -> Any:
    """The same value, with U+FFFD for every half of a surrogate pair."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list | tuple):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value
