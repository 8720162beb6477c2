"""A reference implementation of docs/reference/fingerprint.md: slow, without counters and NumPy.

It works differently from `webstrata.observe`: it recurses, every box collects its own lines and link texts, and all
hashing except MD5 is done number by number.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

INVISIBLE = "script style noscript template iframe noembed noframes area".split()  # noqa: SIM905
BOXES = "article aside body center dialog div figcaption footer form header main menu nav section td".split()  # noqa: SIM905
LINE_ENDS = """address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol optgroup option p pre
    search section select summary table tbody td textarea tfoot th thead title tr ul""".split()  # noqa: SIM905
REMARKS = "comment consent cookie disqus gdpr kommentar replies reply respond".split()  # noqa: SIM905
ADDITIONS = """addthis ads advert author banner breadcrumb byline caption categories complementary contentinfo copyright
    credit disclaimer follow footer gallery latest login masthead menu meta modal nav newsletter outbrain pager
    pagination popular popup print promo rating recent recommend related search share sharing sidebar signup similar
    social sponsor subscribe taboola tags toolbar trending""".split()  # noqa: SIM905
WHITE_SPACE = re.compile("[\t-\r \xa0]+")


def clean(text: str) -> str:
    return WHITE_SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip(" ")


def length(text: str) -> int:
    return sum(len(word.encode()) for word in text.split(" "))


class Element:
    """An element that is not inside an invisible element, with what the rules need."""

    def __init__(self, node: LexborNode, parent: Element | None) -> None:
        self.tag = node.tag or ""
        self.is_link = self.tag == "a" and "href" in node.attributes
        self.href = node.attributes.get("href") or ""
        values = [node.attributes.get(name) or "" for name in ("class", "id", "role")]
        self.names = [name.lower() for value in values for name in re.findall("[A-Za-z0-9]+", value)]
        self.parent = parent
        self.content: list[Element | str] = []
        if self.tag not in INVISIBLE:
            for child in node.iter(include_text=True):
                if child.is_text_node:
                    self.content.append(child.text_content or "")
                elif child.is_element_node:
                    self.content.append(Element(child, self))

    def elements(self) -> Iterator[Element]:
        yield self
        for child in self.content:
            if isinstance(child, Element):
                yield from child.elements()

    def texts(self) -> Iterator[tuple[Element, str]]:
        for child in self.content:
            if isinstance(child, Element):
                yield from child.texts()
            else:
                yield self, child

    def ancestors(self) -> Iterator[Element]:
        element = self.parent
        while element is not None:
            yield element
            element = element.parent

    def has_word(self, words: list[str]) -> bool:
        return any(name.startswith(word) for name in self.names for word in words)

    def events(self) -> Iterator[tuple[str, Element, str]]:
        yield "start", self, ""
        for child in self.content:
            if isinstance(child, Element):
                yield from child.events()
            else:
                yield "text", self, child
        yield "end", self, ""


class Line:
    def __init__(self, text: str, linked: list[str], elements: list[Element]) -> None:
        self.text = text
        self.own = length(text) - sum(length(clean(data)) for data in linked)
        self.inside = {id(element) for element in elements}


def lines_of(body: Element) -> list[Line]:
    found: list[Line] = []
    text, holder = "", body
    linked: list[str] = []
    passed: set[str] = set()
    for event, element, data in body.events():
        if event == "text":
            text += " " + data if {"start", "end"} <= passed else data
            passed = set()
            if clean(data):
                holder = element
                if any(one.is_link for one in (element, *element.ancestors())):
                    linked.append(data)
        else:
            passed.add(event)
            if element.tag in LINE_ENDS:
                if clean(text):
                    found.append(Line(clean(text), linked, [holder, *holder.ancestors()]))
                text, linked = "", []
    return found


def surrounding(boxes: list[Element], box: Element) -> Element | None:
    return next((outer for outer in box.ancestors() if outer in boxes), None)


class Page:
    """The parts of a page: `title`, and lists of lines."""

    def __init__(self, html: str) -> None:
        tree = LexborHTMLParser(html, scripting=True)
        titles = [node for node in tree.head.iter() if node.tag == "title"] if tree.head else []
        self.title = clean(titles[0].text()) if titles else ""
        self.header: list[str] = []
        self.body: list[str] = []
        self.side: list[str] = []
        self.footer: list[str] = []
        self.main: list[str] = []
        self.links: list[str] = []
        self.lines: list[Line] = []
        if tree.body is not None and tree.body.tag == "body":
            self._divide(Element(tree.body, None))

    def _divide(self, body: Element) -> None:
        self.lines = lines_of(body)
        boxes = [element for element in body.elements() if element.tag in BOXES]
        main, noise = self._main(body, boxes)
        kept = [id(main) in line.inside and not line.inside & noise for line in self.lines]
        is_body = self._body_lines(boxes, main, noise, kept)
        links = [element for element in body.elements() if element.is_link]
        if True not in kept:
            kept = is_body = [True] * len(kept)
            self.links = [link.href for link in links]
        else:
            for link in links:
                around = {id(element) for element in link.ancestors()}
                if id(main) in around and not around & noise:
                    self.links.append(link.href)
            if True not in is_body:
                is_body = kept
        for place, line in enumerate(self.lines):
            inside = self.body if is_body[place] else self.side
            outside = self.header if True not in kept[:place] else self.footer
            (inside if kept[place] else outside).append(line.text)
        self.main = [line.text for place, line in enumerate(self.lines) if kept[place]]

    def _body_lines(self, boxes: list[Element], main: Element, noise: set[int], kept: list[bool]) -> list[bool]:
        additions: set[int] = set()
        places = [place for place, line in enumerate(self.lines) if id(main) in line.inside]
        whole = sum(self.lines[place].own for place in places if kept[place])
        for box in boxes:
            around = {id(outer) for outer in box.ancestors()}
            inside = [place for place in places if id(box) in self.lines[place].inside]
            if inside and id(main) in around and not (around | {id(box)}) & (noise | additions):
                before = sum(self.lines[place].own for place in places if place < inside[0])
                if self._is_addition(box, whole, before):
                    additions.add(id(box))
        left = [is_kept and not line.inside & additions for is_kept, line in zip(kept, self.lines, strict=True)]
        paragraphs = [is_left and line.own >= 80 for is_left, line in zip(left, self.lines, strict=True)]

        def weight(box: Element) -> int:
            found = zip(self.lines, paragraphs, strict=True)
            return sum(line.own for line, is_long in found if is_long and id(box) in line.inside)

        text = main
        rest = sum(line.own for line, is_left in zip(self.lines, left, strict=True) if is_left)
        while weight(main) and 2 * weight(main) >= rest:
            inner = [box for box in boxes if id(box) not in noise | additions and surrounding(boxes, box) is text]
            heavy = [box for box in inner if 10 * weight(box) >= 7 * weight(main)]
            if not heavy:
                break
            text = heavy[0]
        first = next((place for place, line in enumerate(self.lines) if id(text) in line.inside), 0)
        return [
            left[place] if id(text) in line.inside else paragraphs[place] and place < first
            for place, line in enumerate(self.lines)
        ]

    def _is_addition(self, box: Element, whole: int, before: int) -> bool:
        own, text = self.own(box), self.text(box)
        links = sum(element.is_link for element in box.elements())
        is_remark, is_addition = box.has_word(REMARKS), box.has_word(ADDITIONS) and box.tag != "article"
        is_named = box.tag in ("aside", "dialog", "footer", "form", "menu", "nav") or is_remark or is_addition
        return (
            box.tag == "figcaption"
            or (is_remark and before >= 80 and box.tag not in ("article", "main"))
            or (3 * own <= whole and is_named)
            or (box.tag in ("div", "section") and 5 * own <= whole and links >= 2 and 3 * self.link_text(box) > text)
        )

    def text(self, box: Element) -> int:
        return sum(length(line.text) for line in self.lines if id(box) in line.inside)

    def link_text(self, box: Element) -> int:
        return sum(
            length(clean(data))
            for element, data in box.texts()
            if element.is_link or any(outer.is_link for outer in element.ancestors())
        )

    def own(self, box: Element) -> int:
        return self.text(box) - self.link_text(box)

    def _main(self, body: Element, boxes: list[Element]) -> tuple[Element, set[int]]:
        mains = [box for box in boxes if box.tag == "main"]
        start = mains[0] if len(mains) == 1 and 10 * self.own(mains[0]) >= self.own(body) else body
        inner = [box for box in boxes if start in box.ancestors()]
        noise: list[Element] = []
        for box in inner:
            if not any(outer in noise for outer in box.ancestors()) and self._is_noise(box, start):
                noise.append(box)
        left = [box for box in inner if box not in noise and not any(outer in noise for outer in box.ancestors())]
        return self._main_box(start, boxes, left, noise), {id(box) for box in noise}

    def _main_box(self, start: Element, boxes: list[Element], left: list[Element], noise: list[Element]) -> Element:
        def kept(box: Element) -> int:
            return self.own(box) - sum(self.own(part) for part in noise if box in part.ancestors())

        if start.tag == "main" or kept(start) <= 0:
            return start
        articles = [box for box in left if box.tag == "article" and kept(box) > 0]
        for article in articles:
            if 2 * kept(article) >= kept(start):
                around = surrounding(boxes, article)
                siblings = [box for box in articles if surrounding(boxes, box) is around]
                return article if siblings == [article] or around is None else around
        main = start
        while True:
            inside = [box for box in left if surrounding(boxes, box) is main]
            heavy = [box for box in inside if 20 * kept(box) >= 19 * kept(start)]
            if not heavy:
                return main
            main = heavy[0]

    def _is_noise(self, box: Element, start: Element) -> bool:
        whole, own, text, link_text = self.own(start), self.own(box), self.text(box), self.link_text(box)
        is_index = 4 * whole < self.text(start)
        links = sum(element.is_link for element in box.elements())
        around = list(box.ancestors())
        is_in_section = any(outer.tag in ("article", "main", "section") for outer in around[: around.index(start) + 1])
        if box.tag in ("dialog", "menu", "nav") or (box.tag in ("aside", "footer", "header") and not is_in_section):
            return 2 * own <= whole
        if box.tag in ("aside", "div", "form", "section") and not is_index and 5 * own <= whole and links >= 2:
            if is_in_section:
                return 4 * link_text > 3 * text and link_text < 30 * links
            return 2 * link_text > text or 20 * links > text
        return False

    def digests(self) -> list[str]:
        texts = [
            self.title,
            *(" ".join(lines) for lines in (self.header, self.body, self.side, self.footer, self.main)),
        ]
        return [hashlib.md5(text.encode()).hexdigest() for text in texts]

    def simhash(self) -> str | None:
        words = " ".join([self.title, *(line.text for line in self.lines)]).split(" ")
        value = simhash_of([word.encode() for word in words if word])
        return None if value is None else f"{value:016x}"


def simhash_of(words: list[bytes]) -> int | None:
    hashes = [polynomial(word, 0x9E3779B1) for word in words]
    if not hashes:
        return None
    size = min(3, len(hashes))
    shingles = [hashes[place : place + size] for place in range(len(hashes) - size + 1)]
    values = [
        mixed(polynomial(shingle, 0x85EBCA77)) << 32 | mixed(polynomial(shingle, 0xC2B2AE3D)) for shingle in shingles
    ]
    bits = [sum(value >> bit & 1 for value in values) * 2 > len(values) for bit in range(64)]
    return sum(1 << bit for bit in range(64) if bits[bit])


def polynomial(values: Iterable[int], factor: int) -> int:
    result = 0
    for value in values:
        result = (result * factor + value) & 0xFFFFFFFF
    return result


def mixed(value: int) -> int:
    """The last steps of MurmurHash3 (x86, 32 bits)."""
    value = (value ^ value >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    value = (value ^ value >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return value ^ value >> 16
