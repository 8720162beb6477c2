"""The text by which a link is compared, contacts, and the rows of links with their shapes: both kernels."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.observe.kernel.python_links import python_links
from webstrata.observe.html.links import LinkResolver, PageLinks
from webstrata.observe.kernel import python
from webstrata.observe.kernel.choice import KERNEL
from webstrata.observe.kernel.python_links import (
    SESSION_PARAMETERS,
    TOKEN_SESSION_PARAMETERS,
    TRACKING_PARAMETERS,
    link_shape,
    link_text,
)
from webstrata.observe.kernel.results import MAX_CONTACTS
from webstrata.observe.page import observe
from webstrata.urls import join

BASE = "https://a.test/dir/page.html"
TOKEN = "0a1b2c3d4e5f60718293a4b5"


def packed(hrefs: list[str]) -> bytes:
    return "".join([href + "\0" for href in hrefs]).encode("utf-8", "replace")


def links(*hrefs: str) -> PageLinks:
    """The links by the installed kernel, checked against the Python kernel."""
    found = LinkResolver(BASE).links(packed(list(hrefs)), BASE)
    assert found == python_links(hrefs, BASE, BASE)
    return found


SAME = [
    ("http://a.test/x", "https://a.test/x"),
    ("https://a.test/x/", "https://a.test/x"),
    ("https://a.test/x//", "https://a.test/x"),
    ("https://a.test/x/?id=1", "https://a.test/x?id=1"),
    ("https://b.test", "http://b.test/"),
    ("http://a.test:80/x", "https://a.test:443/x"),
    ("https://a.test:80/x", "https://a.test/x"),
    ("https://a.test/x#top", "https://a.test/x"),
    ("https://a.test/x?", "https://a.test/x"),
    ("https://a.test/x?a=1&", "https://a.test/x?a=1"),
    ("https://a.test/x;jsessionid=12AB.node1", "https://a.test/x"),
    ("https://a.test/x;JSESSIONID=12AB/y;v=1", "https://a.test/x/y;v=1"),
    ("https://a.test/x;jsessionid=1?a=2", "https://a.test/x?a=2"),
    ("https://a.test/(S(lit3py55t21z5v55vlm25s55))/x.aspx", "https://a.test/x.aspx"),
    ("https://a.test/(A(12345678)F(abcdefgh))", "https://a.test/"),
    ("https://a.test/x?PHPSESSID=9&a=1", "https://a.test/x?a=1"),
    ("https://a.test/x?CFID=1&CFTOKEN=2", "https://a.test/x"),
    ("https://a.test/x?ASPSESSIONIDABCD=EF", "https://a.test/x"),
    (f"https://a.test/x?sid={TOKEN}&t=3", "https://a.test/x?t=3"),
    (f"https://a.test/x?t=3&s={TOKEN}", "https://a.test/x?t=3"),
    ("https://a.test/x?utm_source=n&utm_campaign=w2&a=1", "https://a.test/x?a=1"),
    ("https://a.test/x?a=1&GCLID=z", "https://a.test/x?a=1"),
    ("https://a.test/x?a=1?utm_medium=mail", "https://a.test/x?a=1"),
    ("https://a.test/x?_ga=2.1&_gl=1*a&spm=a2&ref_src=t", "https://a.test/x"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_same_link(one: str, other: str) -> None:
    """Spellings of one link have the same digest and hashes, together and apart; both URLs are crawled as written."""
    assert links(one).digest == links(other).digest == links(one, other).digest
    assert links(one).hashes == links(other).hashes == links(other, one).hashes
    assert links(one).urls == (join(BASE, one),)


OTHER = [
    ("https://www.a.test/x", "https://a.test/x"),
    ("https://a.test:8080/x", "https://a.test/x"),
    ("https://a.test/X", "https://a.test/x"),
    ("https://a.test/x?a=1&b=2", "https://a.test/x?b=2&a=1"),
    ("https://a.test/x?sid=12", "https://a.test/x"),
    ("https://a.test/x?s=lamp", "https://a.test/x"),
    ("https://a.test/x?s=a-long-search-without-numbers", "https://a.test/x"),
    ("https://a.test/x?ref=1", "https://a.test/x"),
    ("https://a.test/x?utm_=1", "https://a.test/x"),
    ("https://a.test/x?gclid", "https://a.test/x"),
    ("https://a.test/x;v=1", "https://a.test/x"),
    ("https://a.test/utm_source=1", "https://a.test/"),
    ("https://a.test/x;gclid=1", "https://a.test/x"),
    ("https://a.test/(S(short))/x", "https://a.test/x"),
    ("https://a.test/y(S(lit3py55t21z5v55vlm25s55))", "https://a.test/y"),
    ("mailto:a@a.test", "mailto:b@a.test"),
    ("tel:123", "tel:124"),
]


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_other_link(one: str, other: str) -> None:
    """Links that may lead elsewhere are different."""
    assert links(one).digest != links(other).digest
    assert links(one).hashes != links(other).hashes


NAMES = [*sorted(TRACKING_PARAMETERS | SESSION_PARAMETERS | TOKEN_SESSION_PARAMETERS), "utm_x", "hsa_acc", "mtm_kwd",
         "matomo_a", "aspsessionidq", "aspsessionid", "id", "page", "x" * 33, "utm_" + "y" * 40, ""]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_name_in_both_kernels(name: str) -> None:
    """Both kernels have the same names of parameters, in any letter case, in the query and in the path."""
    for written in (name, name.upper()):
        links(f"/x?{written}=1&a=2&{written}={TOKEN}", f"/x;{written}=1;a=2;{written}={TOKEN}/y", f"?{written}&b")


SEGMENT = st.sampled_from(
    ["a", "b.html", "", "..", ";jsessionid=1", "x;sid=2;v", f"y;s={TOKEN}", "(S(abcdefgh))", "(S(a))", "()",
     "(S(abcdefgh));jsessionid=", "(S(abcdefgh)T(12345678))", "(S(abcdefgh)", ";", ";;jsessionid",
     ";jsess;jsessionid=1;ionid=2"]
)  # fmt: skip
PARAMETER = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["?", "&", "&&", ";"]),
    st.sampled_from(NAMES).flatmap(lambda name: st.sampled_from([name, name.upper()])),
    st.sampled_from(["=", "", "=="]),
    st.sampled_from(["", "1", TOKEN, TOKEN + "!", "http://b.test/?x=1", "a" * 24, "a" * 23, "%20"]),
)
ADDRESS = st.builds(
    "{}{}{}".format,
    st.sampled_from(
        ["", "http://a.test", "https://a.test:80", "http://a.test:443", "https://[::1]:8443", "//b.test:80"]
    ),
    st.lists(SEGMENT, max_size=4).map(lambda parts: "/" + "/".join(parts)),
    st.lists(PARAMETER, max_size=4).map("".join),
)
CONTACT = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", " ", "\t\n"]),
    st.sampled_from(["mailto:", "MailTo:", "tel:", "TEL:", "mail:", "tel"]),
    st.text(alphabet="aZé09%240@+-?#; \t\x7f\u212a", max_size=14) | st.text(max_size=8),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(ADDRESS | CONTACT, max_size=8))
def test_kernels_are_equal(hrefs: list[str]) -> None:
    """Both kernels give the same links, contacts, digests, hashes and rows for any address."""
    hrefs = [href.replace("\0", "\ufffd").encode("utf-8", "replace").decode() for href in hrefs]
    found = links(*hrefs)
    both = found.packed + found.packed_contacts
    assert KERNEL.link_rows(both) == python.link_rows(both)


@settings(max_examples=400, deadline=None)
@given(ADDRESS | CONTACT)
def test_idempotent(href: str) -> None:
    """The text of a link is its own text, and the text of a contact is a contact with the same text."""
    found = links(href.replace("\0", "\ufffd").encode("utf-8", "replace").decode())
    for url in found.urls:
        text = link_text(url)
        assert link_text(text) == text
    for text in found.contacts:
        assert links(text).contacts == (text,)


@pytest.mark.parametrize(
    ("href", "text"),
    [
        ("mailto:Me@A.test", "mailto:me@a.test"),
        ("MAILTO: me@a.test?subject=Hello&cc=x", "mailto:me@a.test"),
        (" mailto:%20me%40a.test%20", "mailto:me@a.test"),
        ("mailto:é@a.test", "mailto:é@a.test"),
        ("tel:+49 (30) 123-45", "tel:493012345"),
        ("tel:%2B49%2030;ext=7", "tel:49307"),
        ("tel:0#1", "tel:0"),
        ("mailto:", None),
        ("mailto:?subject=x", None),
        ("tel:call", None),
        ("mailto:" + "x" * 3000, None),
        ("skype:me", None),
    ],
)
def test_contacts(href: str, text: str | None) -> None:
    """E-mail addresses and telephone numbers are part of the digest in one spelling, and are never crawled."""
    found = links(href, "/x")
    assert found.contacts == ((text,) if text else ())
    assert found.urls == ("https://a.test/x",)
    assert found.count == 1
    assert (found.digest == links("/x").digest) == (text is None)
    assert (found.hashes == links("/x").hashes) == (text is None)


def test_contacts_are_limited() -> None:
    """Of many contacts the first `MAX_CONTACTS` are returned."""
    hrefs = [f"tel:{number}" for number in range(MAX_CONTACTS + 5, 0, -1)]
    assert links(*hrefs, *hrefs).contacts == tuple(hrefs[:MAX_CONTACTS])


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("https://a.test/news/2024/05/06/title-of-it", "https://a.test/news/0/0/0/title-of-it"),
        ("https://cdn12.a.test/page2", "https://cdn0.a.test/page0"),
        ("https://a.test/x?v=dQw4w9WgXcQ&n=17", "https://a.test/x?v=0&n=0"),
        ("https://a.test/550e8400-e29b-41d4-a716-446655440000/x", "https://a.test/0/x"),
        ("https://a.test/550e8400-e29b-41d4-a716-446655440000a", "https://a.test/0e0-e0b-0d0-a0-0a"),
        ("https://a.test/x?q=" + "word+" * 5, "https://a.test/x?q=0"),
        ("https://a.test/" + "word-" * 9, "https://a.test/" + "word-" * 9),
        ("https://a.test?b=" + "x" * 23, "https://a.test?b=" + "x" * 23),
        ("https://a.test/Bundesausbildungsgesetz", "https://a.test/Bundesausbildungsgesetz"),
        ("https://a.test/" + "aB" * 12, "https://a.test/0"),
        ("https://a.test/" + "a" * 31 + "1", "https://a.test/0"),
        ("https://a.test/covid19", "https://a.test/covid0"),
        ("mailto:me1@a.test", "mailto:me1@a.test"),
        ("tel:4930", "tel:4930"),
    ],
)
def test_shapes(text: str, shape: str) -> None:
    """Numbers, tokens and long values are masked; words and contacts are not. Both kernels agree."""
    assert link_shape(text) == shape
    rows = KERNEL.link_rows(text.encode() + b"\0")
    assert rows == python.link_rows(text.encode() + b"\0")
    assert rows[8:] == crc32(shape.encode()).to_bytes(4, "little")


@given(
    st.binary(max_size=80) | st.text(alphabet="aB1-/?=&.%0F", max_size=60).map(lambda text: f"https://{text}".encode())
)
def test_rows_of_any_text(text: bytes) -> None:
    """Rows are computed for any bytes; for ASCII both kernels agree."""
    rows = KERNEL.link_rows(text)
    assert len(rows) == 12 * len([one for one in text.split(b"\0") if one])
    if text.isascii():
        assert rows == python.link_rows(text)


HTML = """<html><body><nav><a href="/menu">Menu</a> <a href="/both/">Both</a></nav>
<main><p>A paragraph of the main content, long enough to be found: <a href="http://a.test/both">both</a>,
<a href="/x?sid=1a2b3c4d5e6f708192">x</a> and <a href="/x">x</a>, <a href="mailto:me@a.test">me</a>.</p></main>
<footer><a href="tel:+1">Call</a></footer></body></html>"""


def test_rows_of_a_page() -> None:
    """Rows stand in document order, one for each different link; those of the body part are marked."""
    content = observe(HTML.encode(), "text/html", "https://a.test/")
    texts = ["https://a.test/menu", "https://a.test/both", "https://a.test/x", "mailto:me@a.test", "tel:1"]
    expected = np.frombuffer(KERNEL.link_rows(packed(texts)), np.dtype([("value", "<u8"), ("shape", "<u4")]))
    rows = content.link_rows
    assert rows["value"].tolist() == expected["value"].tolist()
    assert rows["shape"].tolist() == expected["shape"].tolist()
    assert rows["main"].tolist() == [False, True, True, True, False]
    assert sorted(rows["value"].tolist()) == np.frombuffer(content.linked.hashes, "<u8").tolist()


def test_rows_without_links() -> None:
    """A page without links has no rows."""
    assert len(observe(b"<p>x</p>", "text/html", "https://a.test/").link_rows) == 0


def test_a_changed_contact_changes_the_main_links() -> None:
    """Another e-mail address in the main content is another digest of the main links."""
    one, other = (
        observe(HTML.replace("me@", name).encode(), "text/html", "https://a.test/") for name in ("me@", "us@")
    )
    assert one.fingerprint.main_links != other.fingerprint.main_links
    assert one.fingerprint.links != other.fingerprint.links
    assert one.fingerprint.link_count == other.fingerprint.link_count
