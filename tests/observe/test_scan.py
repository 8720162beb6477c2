from __future__ import annotations

from webstrata.observe.html.tree import scan_metadata
from webstrata.observe.html.tree import without_invisible
from webstrata.observe.kernel.choice import KERNEL
from webstrata.observe.html.tree import plain_lines
from webstrata.observe.page import observe

URL = "https://a.test/dir/"

HTML = """<html><head><title>A &amp; B</title><style>x</style></head><body><!-- no --><p>One <b>bold</b> word</p>
<script>if (a < b) "no"</script><a href="x?a=1&amp;b=2">L</a><a class=c HREF=/y>M</a><a name=z>N</a>1 < 2
<ul><li>i<li>ii</ul></body></html>"""


def test_reads_as_the_tree_does() -> None:
    """On honest markup both ways of reading agree."""
    seen = observe(HTML.encode(), "text/html; charset=utf-8", URL)
    heard = without_invisible(HTML)
    assert plain_lines(KERNEL.scan_text(heard)) == seen.text
    points = scan_metadata(heard, URL)
    assert (b" ".join(points.title).decode(), points.links) == (seen.title, seen.linked)


def test_giant_pages_keep_their_layers() -> None:
    """A page too large for a tree still has text and links, and a word more is seen."""
    giant = "<p>word <a href=x>l</a>" * 20_000
    before, after = (observe(html.encode(), "text/html", URL).fingerprint for html in (giant, giant + "more"))
    assert before.link_count == 1
    assert before.links == after.links
    assert before.text != after.text
