"""Decodes bytes as browsers do: byte order mark, then HTTP header, then the page's own declaration, then a default.

After the WHATWG standards (Encoding; HTML, "determining the character encoding"). Contains the standard's labels of
encodings and Python's codecs for them. Decoding never fails: bytes that cannot be decoded become U+FFFD.
"""

from __future__ import annotations

import re

# encoding: its labels
_TABLE = """
utf-8: unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8
ibm866: 866 cp866 csibm866 ibm866
iso-8859-2: csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2
iso-8859-3: csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3
iso-8859-4: csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4
iso-8859-5: csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988
iso-8859-6: arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e
    iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
iso-8859-7: csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7
    iso_8859-7:1987 sun_eu_greek
iso-8859-8: csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598
    iso_8859-8 iso_8859-8:1988 visual
iso-8859-8-i: csiso88598i iso-8859-8-i logical
iso-8859-10: csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6
iso-8859-13: iso-8859-13 iso8859-13 iso885913
iso-8859-14: iso-8859-14 iso8859-14 iso885914
iso-8859-15: csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9
iso-8859-16: iso-8859-16
koi8-r: cskoi8r koi koi8 koi8-r koi8_r
koi8-u: koi8-ru koi8-u
macintosh: csmacintosh mac macintosh x-mac-roman
windows-874: dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874
windows-1250: cp1250 windows-1250 x-cp1250
windows-1251: cp1251 windows-1251 x-cp1251
windows-1252: ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591
    iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252
windows-1253: cp1253 windows-1253 x-cp1253
windows-1254: cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5
    windows-1254 x-cp1254
windows-1255: cp1255 windows-1255 x-cp1255
windows-1256: cp1256 windows-1256 x-cp1256
windows-1257: cp1257 windows-1257 x-cp1257
windows-1258: cp1258 windows-1258 x-cp1258
x-mac-cyrillic: x-mac-cyrillic x-mac-ukrainian
gbk: chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk
gb18030: gb18030
big5: big5 big5-hkscs cn-big5 csbig5 x-x-big5
euc-jp: cseucpkdfmtjapanese euc-jp x-euc-jp
iso-2022-jp: csiso2022jp iso-2022-jp
shift_jis: csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis
euc-kr: cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601
    windows-949
utf-16be: unicodefffe utf-16be
utf-16le: csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le
x-user-defined: x-user-defined
replacement: csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement
"""

# Python's codec, if it has another name or if the standard's encoding is a superset of Python's of that name.
_CODECS = {
    "big5": "big5hkscs",
    "euc-kr": "cp949",
    "gbk": "gb18030",
    "iso-8859-8-i": "iso-8859-8",
    "replacement": "ascii",
    "shift_jis": "cp932",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac_cyrillic",
    "x-user-defined": "latin-1",
}


_ROWS = [row.partition(": ") for row in _TABLE.strip().replace("\n    ", " ").splitlines()]
_LABELS = {label: name for name, _, labels in _ROWS for label in labels.split()}
_MAX_LABEL_LENGTH = 64


def encoding_of(label: str | None) -> str | None:
    """The encoding of a label, by its name in the standard; None for an unknown label."""
    return _LABELS.get(label[:_MAX_LABEL_LENGTH].strip("\t\n\f\r ").lower()) if label else None


def codec_of(encoding: str) -> str:
    """The name of Python's codec for an encoding from `encoding_of`."""
    return _CODECS.get(encoding, encoding)


DEFAULT = "windows-1252"
_PRESCAN = 1024
_EXTENDED_PRESCAN = 16_384  # browsers parse again if a declaration follows later; here the prescan is extended

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_WIDE_XML = ((b"<\0?\0x\0", "utf-16le"), (b"\0<\0?\0x", "utf-16be"))
_XML_ENCODING = re.compile(rb"<\?xml[^>]*?\sencoding\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")

_TAG_START = re.compile(rb"<(?:(!--)|(meta(?=[\t\n\f\r /]))|(/?[a-z])|[!/?])", re.IGNORECASE)
_TAG_NAME = re.compile(rb"[^\t\n\f\r >]*")
_ATTRIBUTE = re.compile(
    rb"[\t\n\f\r /]*(=?[^\t\n\f\r />=]+|=)"
    rb"(?:[\t\n\f\r ]*(=)[\t\n\f\r ]*(?:\"([^\"]*)\"|'([^']*)'|([\"'])|([^\t\n\f\r >]*)))?"
)
_META_CHARSET = re.compile(
    rb"charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:\"([^\"]*)\"|'([^']*)'|([^\t\n\f\r ;\"'][^\t\n\f\r ;]*))"
)


def decode(body: bytes, label: str | None, *, html: bool = False, default: str = DEFAULT) -> tuple[str, str]:
    """The text of a body, and its encoding. `label` is the charset in the HTTP header. Never raises."""
    encoding = sniff(body, label, html=html, default=default)
    for mark, name in _BOMS:
        if encoding == name and body.startswith(mark):
            body = body[len(mark) :]
    if encoding == "replacement":  # the standard refuses these encodings, because they can hide markup
        return "\ufffd" if body else "", encoding
    return body.decode(codec_of(encoding), "replace"), encoding


def sniff(body: bytes, label: str | None, *, html: bool = True, default: str = DEFAULT) -> str:
    """The encoding of a body, by its name in the standard."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return name
    return encoding_of(label) or (_declared_in_head(body) if html else None) or default


def decode_plain(body: bytes, label: str | None) -> tuple[str, str]:
    """Decode plain text, which has no declaration: without a charset in the header it is UTF-8 if it is valid UTF-8."""
    if encoding_of(label) is None and not body.startswith((b"\xfe\xff", b"\xff\xfe")):
        try:
            return body.decode("utf-8-sig"), "utf-8"
        except UnicodeDecodeError:
            pass
    return decode(body, label)


def _declared_in_head(body: bytes) -> str | None:
    early = _declared(body[:_PRESCAN])
    if early is None and b"charset" in body[_PRESCAN - 16 : _EXTENDED_PRESCAN].lower():
        return _declared(body[:_EXTENDED_PRESCAN])
    return early


def _declared(head: bytes) -> str | None:
    """The encoding that the page declares (the standard's prescan, and XML declarations)."""
    for mark, name in _WIDE_XML:
        if head.startswith(mark):
            return name
    xml = _XML_ENCODING.match(head)
    if xml:
        return _declared_encoding(xml[1] or xml[2])
    position = 0
    while (match := _TAG_START.search(head, position)) is not None:
        if match[1]:
            end = head.find(b"-->", match.end() - 2)
            position = end + 3
        elif match[2] or match[3]:
            attributes, position = _attributes(head, match.end())
            declared = _meta_encoding(attributes) if match[2] else None
            if declared:
                return declared
            end = position
        else:
            end = head.find(b">", match.end() - 1)
            position = end + 1
        if end < 0:
            return None
    return None


def _attributes(head: bytes, position: int) -> tuple[dict[bytes, bytes], int]:
    """The attributes of the tag whose name continues at `position`, and its end; -1 if the bytes end before."""
    name_end = _TAG_NAME.match(head, position)
    position = name_end.end() if name_end else position
    attributes: dict[bytes, bytes] = {}
    while (match := _ATTRIBUTE.match(head, position)) is not None:
        if match[5]:  # a quote without an end
            return {}, -1
        value = match[3] if match[3] is not None else match[4] if match[4] is not None else match[6] or b""
        attributes.setdefault(match[1].lower(), value.lower())
        position = match.end()
    return (attributes, position) if head.find(b">", position) >= 0 else ({}, -1)


def _meta_encoding(attributes: dict[bytes, bytes]) -> str | None:
    if b"charset" in attributes:
        return _declared_encoding(attributes[b"charset"])
    if attributes.get(b"http-equiv") != b"content-type":
        return None
    match = _META_CHARSET.search(attributes.get(b"content", b""))
    return _declared_encoding(match[1] or match[2] or match[3]) if match else None


def _declared_encoding(label: bytes | None) -> str | None:
    """The declared encoding; UTF-8 instead of UTF-16, because the declaration was found as single bytes."""
    encoding = encoding_of((label or b"").decode("latin-1"))
    if encoding in ("utf-16le", "utf-16be"):
        return "utf-8"
    return "windows-1252" if encoding == "x-user-defined" else encoding
