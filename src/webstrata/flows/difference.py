"""Two archived versions of a page, read in every way that their format allows, and compared."""

from __future__ import annotations

from webstrata.detect.difference import Difference, ReadVersion, difference
from webstrata.flows.recall import Version
from webstrata.observe.charset import decode_plain
from webstrata.observe.data.readable import readable
from webstrata.observe.media import HTML, header_charset, media_type
from webstrata.observe.page import observe
from webstrata.records import PageRules


def version_difference(
    before: Version, after: Version, page_rules: PageRules | None, *, raw: bool, before_name: str, after_name: str
) -> Difference:
    """What differs; `raw` compares the source and nothing else. What the page's rules ignore is not shown."""
    contents = [content_of(version, page_rules, raw=raw) for version in (before, after)]
    return difference(*contents, before_name=before_name, after_name=after_name)


def content_of(version: Version, page_rules: PageRules | None, *, raw: bool) -> ReadVersion:
    """One version as differences see it."""
    header = version.header("content-type")
    charset = header_charset(header)
    if raw:
        return ReadVersion(text=decode_plain(version.body, charset)[0])
    seen = observe(version.body, header, version.visit.url, page_rules)
    if seen.selected is not None and seen.selected.text is not None:
        return ReadVersion(text=seen.selected.text)
    kind = media_type(version.body, header)
    if kind in HTML:
        return ReadVersion(text=seen.text or "", links=seen.links)
    data = readable(version.body, kind, charset, version.visit.url)
    text = seen.text if seen.text is not None else decode_plain(version.body, charset)[0]
    return ReadVersion(text=text, triples=data.triples, table=data.table, document=data.document)
