"""XML: equal documents, different documents, and refused ones."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.observe.data.xml import MAX_EXPANDED_BYTES, xml_digest


def digest(text: str | bytes) -> str | None:
    return xml_digest(text if isinstance(text, bytes) else text.encode(), None, "").digest


SAME = [
    ("<a><b/><c/></a>", "<?xml version='1.0'?>\n<a>\n  <b></b>\n  <c />\n</a>\n"),
    ("<a x='1' y='2'/>", '<a y="2" x="1"></a>'),
    ('<p:a xmlns:p="http://e/"/>', '<a xmlns="http://e/"/>'),
    ("<a>x &amp; y</a>", "<a><![CDATA[x & y]]></a>"),
    ("<a>x</a>", "<!-- hello --><a>x<!-- there --></a>"),
    ("<a>\u00e9</a>", b"<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>"),
    ('<!DOCTYPE a [<!ENTITY e "http://e/">]><a x="&e;b"/>', '<a x="http://e/b"/>'),
]
DIFFERENT = [
    ("<a>x</a>", "<a>y</a>"),
    ("<a>x</a>", "<a> x</a>"),
    ("<a>x<b/>y</a>", "<a>xy<b/></a>"),
    ("<a><b/><c/></a>", "<a><c/><b/></a>"),
    ("<a><b/></a>", "<a/><!-- <b/> -->"),
    ("<a><b/></a>", "<a><b><b/></b></a>"),
    ("<a x='1'/>", "<a x='2'/>"),
    ("<a x='1'/>", "<a y='1'/>"),
    ('<a xmlns="http://e/"/>', "<a/>"),
    ("<a><b>x</b> <b>y</b>.</a>", "<a><b>x</b><b>y</b>.</a>"),
    ("<a xml:space='preserve'> <b/></a>", "<a xml:space='preserve'><b/></a>"),
    ("<a><?p 1?></a>", "<a><?p 2?></a>"),
    ("<a> </a>", "<a/>"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_document(one: str | bytes, other: str | bytes) -> None:
    """Layout, quotes, prefixes, order of attributes, comments, CDATA, encoding and simple entities do not count."""
    assert digest(one) == digest(other) is not None


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_documents(one: str, other: str) -> None:
    """Text, structure, order of elements, attributes, namespaces and white space in text count."""
    assert digest(one) != digest(other)


names = st.sampled_from(["a", "b", "c"])
trees = st.recursive(
    st.tuples(names, st.text("xy <&", max_size=4)),
    lambda children: st.tuples(names, st.lists(children, min_size=1, max_size=3)),
    max_leaves=10,
)


def shown(tree: tuple[str, object], indent: str = "") -> str:
    name, content = tree
    if isinstance(content, str):
        escaped = content.replace("&", "&amp;").replace("<", "&lt;")
        return f"{indent}<{name}>{escaped}</{name}>"
    assert isinstance(content, list)
    deeper = indent + "  " if indent else ""
    return indent + f"<{name}>" + "".join(shown(child, deeper) for child in content) + indent + f"</{name}>"


@given(trees, trees)
def test_digests_are_equal_exactly_for_equal_trees(one: tuple[str, object], other: tuple[str, object]) -> None:
    """Indentation does not change the digest; any other content does."""
    assert digest(shown(one)) == digest(shown(one, "\n"))
    assert (digest(shown(one)) == digest(shown(other))) == (shown(one) == shown(other))


@given(st.binary(max_size=300))
def test_any_bytes(body: bytes) -> None:
    """Any bytes give a digest or a note."""
    data = xml_digest(b"<a>" + body, None, "")
    assert (data.digest is None) == (data.note is not None)


BOMB = '<!DOCTYPE a [<!ENTITY x0 "x">' + "".join(f'<!ENTITY x{n} "{f"&x{n - 1};" * 10}">' for n in range(1, 10))
HOSTILE = {
    "bomb": BOMB + "]><a>&x9;</a>",
    "quadratic": f'<!DOCTYPE a [<!ENTITY x "{"y" * 10_000}">]><a>{"&x;" * (MAX_EXPANDED_BYTES // 10_000 + 1)}</a>',
    "file": '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
    "parameter": '<!DOCTYPE a [<!ENTITY % x SYSTEM "http://e/"> %x;]><a/>',
    "deep": "<a>" * 100_000 + "</a>" * 100_000,
    "attributes": "<a " + " ".join(f"x{n}='1'" for n in range(300_000)) + "/>" + "<",
    "broken": "<a><b></a>",
    "not xml": "a,b",
    "unknown encoding": "<?xml version='1.0' encoding='x-none'?><a/>",
    "empty": "",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_harmful_documents_are_refused(name: str) -> None:
    """Dangerous documents are refused quickly, with a note."""
    begun = time.process_time()
    data = xml_digest(HOSTILE[name].encode(), None, "")
    assert data.digest is None
    assert data.note
    assert time.process_time() - begun < 3.0
