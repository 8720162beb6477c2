"""Bytes -> text, as browsers do it: byte order mark, then the HTTP header, then the page's own `meta`, then a default.

After the WHATWG standards (Encoding; HTML, "determining the character encoding"). Decoding never fails: what cannot be
read becomes U+FFFD.
"""

from __future__ import annotations

import re

from webstrata.observe.charset_labels import codec_of, encoding_of

DEFAULT = "windows-1252"
_PRESCANNED = 1024
_READ_AGAIN = 16_384  # a browser that meets a declaration after the prescan starts anew; we look ahead instead

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_WIDE_XML = ((b"<\0?\0x\0", "utf-16le"), (b"\0<\0?\0x", "utf-16be"))
_XML_ENCODING = re.compile(rb"<\?xml[^>]*?\sencoding\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")

_MARK = re.compile(rb"<(?:(!--)|(meta(?=[\t\n\f\r /]))|(/?[a-z])|[!/?])", re.IGNORECASE)
_TAG_NAME = re.compile(rb"[^\t\n\f\r >]*")
_ATTRIBUTE = re.compile(
    rb"[\t\n\f\r /]*(=?[^\t\n\f\r />=]+|=)"
    rb"(?:[\t\n\f\r ]*(=)[\t\n\f\r ]*(?:\"([^\"]*)\"|'([^']*)'|([\"'])|([^\t\n\f\r >]*)))?"
)
_META_CHARSET = re.compile(
    rb"charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:\"([^\"]*)\"|'([^']*)'|([^\t\n\f\r ;\"'][^\t\n\f\r ;]*))"
)


def decode(body: bytes, label: str | None, *, html: bool = False, default: str = DEFAULT) -> tuple[str, str]:
    """The text of a body, and the encoding it was read in. `label` is what the HTTP header said. Never raises."""
    encoding = sniff(body, label, html=html, default=default)
    for mark, marked in _BOMS:
        if encoding == marked and body.startswith(mark):
            body = body[len(mark) :]
    if encoding == "replacement":  # the standard reads nothing in these, since they can hide markup
        return "\ufffd" if body else "", encoding
    return body.decode(codec_of(encoding), "replace"), encoding


def sniff(body: bytes, label: str | None, *, html: bool = True, default: str = DEFAULT) -> str:
    """The encoding of a body, by its name in the standard."""
    for mark, marked in _BOMS:
        if body.startswith(mark):
            return marked
    return encoding_of(label) or (_declared_early_or_late(body) if html else None) or default


def decode_plain(body: bytes, label: str | None) -> tuple[str, str]:
    """Plain text declares nothing, so where the header is silent too it is UTF-8 if it can be."""
    if encoding_of(label) is None and not body.startswith((b"\xfe\xff", b"\xff\xfe")):
        try:
            return body.decode("utf-8-sig"), "utf-8"
        except UnicodeDecodeError:
            pass
    return decode(body, label)


def _declared_early_or_late(body: bytes) -> str | None:
    early = _declared(body[:_PRESCANNED])
    if early is None and b"charset" in body[_PRESCANNED - 16 : _READ_AGAIN].lower():
        return _declared(body[:_READ_AGAIN])
    return early


def _declared(head: bytes) -> str | None:
    """The encoding that the page declares itself (the standard's prescan, with XML declarations)."""
    for mark, marked in _WIDE_XML:
        if head.startswith(mark):
            return marked
    xml = _XML_ENCODING.match(head)
    if xml:
        return _readable(xml[1] or xml[2])
    place = 0
    while (mark_found := _MARK.search(head, place)) is not None:
        if mark_found[1]:
            end = head.find(b"-->", mark_found.end() - 2)
            place = end + 3
        elif mark_found[2] or mark_found[3]:
            attributes, place = _attributes(head, mark_found.end())
            found = _meta_encoding(attributes) if mark_found[2] else None
            if found:
                return found
            end = place
        else:
            end = head.find(b">", mark_found.end() - 1)
            place = end + 1
        if end < 0:
            return None
    return None


def _attributes(head: bytes, place: int) -> tuple[dict[bytes, bytes], int]:
    """Attributes of the tag whose name goes on at `place`, and where it ends; -1 where the bytes end before."""
    name_end = _TAG_NAME.match(head, place)
    place = name_end.end() if name_end else place
    attributes: dict[bytes, bytes] = {}
    while (match := _ATTRIBUTE.match(head, place)) is not None:
        if match[5]:  # a quote that never closes
            return {}, -1
        value = match[3] if match[3] is not None else match[4] if match[4] is not None else match[6] or b""
        attributes.setdefault(match[1].lower(), value.lower())
        place = match.end()
    return (attributes, place) if head.find(b">", place) >= 0 else ({}, -1)


def _meta_encoding(attributes: dict[bytes, bytes]) -> str | None:
    if b"charset" in attributes:
        return _readable(attributes[b"charset"])
    if attributes.get(b"http-equiv") != b"content-type":
        return None
    match = _META_CHARSET.search(attributes.get(b"content", b""))
    return _readable(match[1] or match[2] or match[3]) if match else None


def _readable(label: bytes | None) -> str | None:
    """A declaration that was read byte by byte cannot be in UTF-16, whatever it says."""
    encoding = encoding_of((label or b"").decode("latin-1"))
    if encoding in ("utf-16le", "utf-16be"):
        return "utf-8"
    return "windows-1252" if encoding == "x-user-defined" else encoding
