"""The requisites of pages: every element that loads a file, lazily loaded files, styles, scripts and frames."""

from __future__ import annotations

import pytest

from webstrata.observe.page import observe
from webstrata.observe.requisites.page import page_requisites

URL = "http://a.test/dir/page"


@pytest.mark.parametrize(
    ("html", "paths"),
    [
        ('<img src=a.png srcset="b.png 1x, c.png 2x">', "a.png b.png c.png"),
        (
            '<picture><source srcset="a.avif, b.avif 2x" type=image/avif><img src=c.png></picture>',
            "a.avif b.avif c.png",
        ),
        ("<video src=v.mp4 poster=p.png><source src=w.webm><track src=t.vtt></video>", "v.mp4 p.png w.webm t.vtt"),
        ("<audio src=a.ogg><source src=b.mp3></audio>", "a.ogg b.mp3"),
        ('<input type=image src="b.png"><body background=bg.gif><td background=td.gif>', "b.png bg.gif td.gif"),
        ('<object data=o.pdf></object><embed src="e.svg">', "o.pdf e.svg"),
        ("<iframe src=/f.html></iframe><frame src=g.html>", "/f.html g.html"),
        (
            "<iframe srcdoc=\"<img src='in.png'><iframe srcdoc='&lt;img src=deep.png&gt;'></iframe>\"></iframe>",
            "in.png deep.png",
        ),
        (
            "<img src=data:image/gif;base64,AA data-src=a.png data-srcset='b.png 2x' data-original=c.png>",
            "a.png c.png b.png",
        ),
        (
            "<img data-lazy-src=a.png data-lazy-srcset='b.png 1x'><iframe data-src=f.html></iframe>",
            "a.png b.png f.html",
        ),
        ('<link rel=preload as=image href=a.png imagesrcset="b.png 1x, c.png 2x">', "a.png b.png c.png"),
        ("<link rel=modulepreload href=m.js><link rel='alternate stylesheet' href=s.css>", "m.js s.css"),
        ("<link rel=manifest href=app.webmanifest><link rel='shortcut icon' href=i.ico>", "app.webmanifest i.ico"),
        ("<link rel=canonical href=no><link rel=prefetch href=no><link rel=next href=no><a href=no>", ""),
        (
            "<svg><image href=a.png /><use xlink:href='s.svg#x'/><use href='#y'/><feImage href=b.png /></svg>",
            "a.png s.svg b.png",
        ),
        ("<script src=a.js></script><script src=b.js type=module>import './no.js'</script>", "a.js b.js"),
        (
            "<script type=module>import './m.js'; import('/n.js')</script><script>import('./c.js')</script>",
            "m.js /n.js c.js",
        ),
        (
            '<script type=application/json>{"x": "import \'./no\'"}</script><script type=text/x><img src=no></script>',
            "",
        ),
        (
            '<script type=importmap>{"imports":{"a":"./a.js","lib/":"./lib/"},"scopes":{"/x/":{"b":"/b.js"}}}</script>',
            "a.js /b.js",
        ),
        ('<script type=importmap>[1</script><script type=importmap>{"imports": 3}</script>', ""),
        (
            '<style>@import "s.css"; p{background:url(a.png)}</style><p style="background:url(&quot;b.png&quot;)">',
            "s.css a.png b.png",
        ),
        ("<noscript><img src=a.png></noscript><template><img src=b.png></template>", "a.png b.png"),
        ("<!-- <img src=no> --><textarea><img src=no></textarea><title><img src=no></title><img src=yes>", "yes"),
        ("<base href=/other/><img src=a.png><style>p{background:url(b.png)}</style>", "/other/a.png /other/b.png"),
        ("<IMG SRC=\"a&amp;b.png\" src=second><img\nsrc = 'c d.png'><img/src=e.png>", "a&b.png c%20d.png e.png"),
        ("<img src='mailto:x@y'><img src=javascript:1><iframe src=about:blank></iframe><img src><img src=''>", ""),
    ],
)
def test_files(html: str, paths: str) -> None:
    """The files of a page in the order of appearance, resolved against its base."""
    expected = [
        f"http://a.test{path}" if path.startswith("/") else f"http://a.test/dir/{path}" for path in paths.split()
    ]
    assert list(page_requisites(html, URL).files) == expected


def test_frames() -> None:
    """Frames, objects and embedded files are marked, because they may be pages."""
    found = page_requisites("<img src=a><iframe src=b></iframe><object data=c></object><embed src=d><frame src=e>", URL)
    assert {url.removeprefix("http://a.test/dir/") for url in found.frames} == set("bcde")
    assert len(found.files) == 5


def test_pages_without_a_tree() -> None:
    """The requisites of a page that is too large for a tree are found as well."""
    page = b"<p>" * 30_000 + b"<img src=/a.png>"
    assert observe(page, "text/html", URL).requisites.files == ("http://a.test/a.png",)


@pytest.mark.parametrize(
    "html",
    [
        "<style " * 100_000,
        " style=" * 100_000,
        "<!--" * 200_000,
        "<img " * 200_000,
        "<img src='" * 100_000,
        "<a" * 300_000,
        "<p " + "a=b " * 200_000,
        "<p " + "=" * 300_000,
        "<script>" * 100_000,
        "<p style='" + "url(" * 50_000 + "'>",
        '<iframe srcdoc="' + "<iframe srcdoc='" * 50_000,
        "<script type=importmap>" + "[" * 300_000,
    ],
    ids=lambda html: html[:12],
)
def test_hostile_pages(html: str) -> None:
    """Pages made to be slow are read in ordinary time."""
    assert len(page_requisites(html, URL).files) <= 1
