"""Everything that a browser loads with a page is in the file of its capture, from which alone it is replayed."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.cli.conftest import Call, LocalServer
from webstrata.archive.wacz.reader import WaczReader
from webstrata.archive.warc.members import DamagedBytes
from webstrata.fetch.handlers.browser import find_chromium, missing_software

needs_chromium = pytest.mark.skipif(bool(missing_software(find_chromium())), reason="no Chromium or no Playwright")

PAGE = """<!doctype html><html><head><title>page</title><meta charset=utf-8>
<link rel=stylesheet href=/css/main.css><link rel=icon href=/icon.png><link rel=manifest href=/app.webmanifest>
<link rel=preload as=image imagesrcset="/set1.png 1x, /set2.png 2x">
<link rel=modulepreload href=/js/preloaded.js>
<script type=importmap>{"imports": {"mapped": "/js/mapped.js"}}</script>
<script type=module src=/js/main.js></script>
<script type=module>import "./js/inline.js"; import("mapped")</script>
<script>addEventListener("load", () => {
  for (const image of document.querySelectorAll("[data-src]")) image.src = image.dataset.src;
  for (const image of document.querySelectorAll("[data-srcset]")) image.srcset = image.dataset.srcset;
  import("./js/classic.js");
})</script>
<style>@import "/css/inline.css" supports(display: grid); h1 { background: url(/style.png) }</style></head>
<body background=/body.png><main><h1>A page with everything</h1><p class=a>one<p class=b>two<p class=c>three</main>
<img src=/image.png srcset="/image2.png 2x"><img data-src=/lazy.png><img data-srcset="/lazy-set.png 1x">
<picture><source srcset=/source.png><img src=/fallback.png></picture>
<video src=/video.mp4 poster=/poster.png preload=auto><track src=/track.vtt default></video>
<audio src=/audio.mp3 preload=auto></audio><input type=image src=/button.png alt=go>
<object data=/object.svg></object><embed src=/embed.svg><iframe src="http://HOST/frame.html"></iframe>
<svg><image href=/svg-image.png width=9 height=9 /><use href="/sprite.svg#mark"/></svg>
<p style="background: url(/attribute.png)">styled</p></body></html>"""

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{}</svg>'
FILES = {
    "css/main.css": '@import "layered.css" layer(base) screen; @import url(supported.css) supports(color: red);'
    "@font-face { font-family: f; src: url(/font.woff2) } .a { font-family: f; background: url('/sheet.png') }"
    '.b { background: image-set("/one.png" 1x, "/two.png" 2x) }',
    "css/layered.css": '@import "deep.css"; .c { background: url(/layered.png) }',
    "css/supported.css": "main { background: url(/supported.png) }",
    "css/deep.css": "h1 { border-image: url(/deep.png) 1 }",
    "css/inline.css": "body { color: black }",
    "js/main.js": 'import { a } from "./a.js"; export * from "./b.js";'
    'new Image().src = new URL("asset.png", import.meta.url)',
    "js/a.js": 'import "./deeper/c.js"; export const a = 1',
    "js/b.js": 'export const b = await import("./dynamic.js")',
    "js/deeper/c.js": 'import "../d.js"',
    "js/d.js": 'import "./e.js"',
    "js/e.js": "export {} // NAME",
    "js/dynamic.js": "export {} // NAME",
    "js/inline.js": "export {} // NAME",
    "js/mapped.js": 'import "./of-mapped.js"',
    "js/of-mapped.js": "export {} // NAME",
    "js/classic.js": "export {} // NAME",
    "js/preloaded.js": "export {} // NAME",
    "app.webmanifest": '{"icons": [{"src": "/app-icon.png"}]}',
    "object.svg": SVG.format('<style>rect { fill: red }</style><image href="/in-object.png" width="9" height="9"/>'),
    "embed.svg": SVG.format("<rect width='9' height='9'/>"),
    "sprite.svg": SVG.format("<g id='mark'><rect width='9' height='9'/></g>"),
    "frame.html": "<!doctype html><title>frame</title><link rel=stylesheet href=/frame.css><img src=/frame.png>",
    "frame.css": "body { background: url(/frame-bg.png) }",
    "track.vtt": "WEBVTT\n\n00:00.000 --> 00:01.000\nwords\n",
}
TYPES = {
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
    "png": "image/png",
    "html": "text/html",
    "webmanifest": "application/manifest+json",
    "vtt": "text/vtt",
    "woff2": "font/woff2",
    "mp4": "video/mp4",
    "mp3": "audio/mpeg",
}
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc0000003010100c9fe92ef"
    "0000000049454e44ae426082"
)


def name_files(server: LocalServer) -> None:
    server.pages["/"] = ("text/html; charset=utf-8", PAGE.replace("HOST", f"127.0.0.1:{server.port}").encode())
    for name, text in FILES.items():
        server.pages[f"/{name}"] = (TYPES[name.rpartition(".")[2]], text.replace("NAME", name).encode())
    for name, kind in re.findall(r"/([\w-]+\.(png|woff2|mp4|mp3))", f"{PAGE} {FILES}"):
        server.pages[f"/{name}"] = (TYPES[kind], PNG + name.encode())
    server.pages["/js/asset.png"] = ("image/png", PNG + b"asset")


async def loaded(url: str, archive: dict[str, tuple[int, dict[str, str], bytes]] | None = None) -> set[str]:
    """The paths that Chromium requests for a page; with an archive, every response comes from there."""
    from playwright.async_api import Request, Route, async_playwright

    asked: set[str] = set()

    def note(request: Request) -> None:
        if request.url.startswith("http"):
            asked.add(urlsplit(request.url).path)

    async def replay(route: Route) -> None:
        assert archive is not None
        status, headers, body = archive.get(route.request.url, (404, {}, b""))
        await route.fulfill(status=status, headers=headers, body=body)

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium())
        context = await browser.new_context()
        context.on("request", note)
        if archive is not None:
            await context.route("**/*", replay)
        page = await context.new_page()
        await page.goto(url, wait_until="load")
        await page.wait_for_load_state("networkidle")
        await browser.close()
    return asked


def archived(file: Path) -> dict[str, tuple[int, dict[str, str], bytes]]:
    """The responses in a WACZ file by URL."""
    found = {}
    with WaczReader(file) as package:
        for item in package.records():
            assert not isinstance(item, DamagedBytes)
            record = item[0]
            if record.kind == "response":
                head, _, body = record.block.partition(b"\r\n\r\n")
                status, *lines = head.decode("latin-1").split("\r\n")
                headers = dict(line.split(": ", 1) for line in lines)
                found[record.url] = (int(status.split()[1]), headers, body)
    return found


@needs_chromium
def test_everything_that_a_browser_loads(home: Path, server: LocalServer, call: Call) -> None:
    """Every URL that Chromium requests from the site is in the capture with status 200, and replay needs no other."""
    name_files(server)
    truth = asyncio.run(loaded(server.url()))
    assert len(truth) > 45, "the page uses every kind of requisite"
    result = call(
        *("--home", home, "capture", server.url(), "--delay", "0.01s", "--max-pages", 1, "--json", "--quiet"),
        **server.settings,
    )
    (one,) = result.json["captures"]
    archive = archived(Path(one["file"]))
    captured = {urlsplit(url).path for url, (status, _, _) in archive.items() if status == 200}
    assert truth - captured == set()
    assert {"/app-icon.png", "/set2.png", "/two.png", "/frame-bg.png"} <= captured, (
        "also what this browser did not need"
    )
    replayed = asyncio.run(loaded(server.url(), archive))
    assert replayed - captured == set()
    assert replayed == truth
