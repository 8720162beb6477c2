"""An honest package is valid; a package with one false statement is not, although its signature is."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from isal import isal_zlib
from msgspec.structs import replace

from tests.flows.verify.packages import (
    GONE,
    HOME,
    OLD,
    RESPONSES,
    STYLE,
    A,
    B,
    Sent,
    certificate_of,
    contents,
    entry,
    failures,
    make_package,
    page,
    repacked,
)
from webstrata.archive.wacz.reader import WaczReader
from webstrata.clock import iso, parse_instant
from webstrata.errors import ArchiveError
from webstrata.flows.verify.content_process import ContentProcess
from webstrata.flows.verify.recomputed_content import ContentJob
from webstrata.flows.verify.verification import verify

Certificate = dict[str, Any]


@pytest.mark.parametrize("layer", ["visible", "raw", "links", "main", "auto"])
def test_an_honest_package(tmp_path: Path, layer: str) -> None:
    """All statements hold, by whichever layer pages are compared."""
    path = make_package(tmp_path, layer=layer)
    assert failures(path) == []
    with WaczReader(path) as package:
        report = verify(package).report()
    stated = {name: report[name] for name in ("valid", "signature", "trusted", "pages", "sharp", "layer", "failures")}
    expected = {"valid": True, "signature": "valid", "trusted": None, "pages": 6, "sharp": 3, "layer": layer}
    assert stated == expected | {"failures": []}


def test_a_repeated_content_is_a_revisit_record(tmp_path: Path) -> None:
    """The test package has revisit records, whose content is that of the record to which they refer."""
    with WaczReader(make_package(tmp_path)) as package:
        kinds = [record.kind for record in package.kept() if not isinstance(record, str)]
    assert kinds.count("revisit") >= 3


def test_every_altered_byte(tmp_path: Path) -> None:
    """One altered byte anywhere in the file makes it invalid, or no WACZ file at all."""
    path = make_package(tmp_path)
    whole = path.read_bytes()
    rng = random.Random(7)
    for offset in sorted(rng.sample(range(len(whole)), 120)):
        altered = bytearray(whole)
        altered[offset] ^= 1 << rng.randrange(8)
        path.write_bytes(altered)
        try:
            assert failures(path), offset
        except ArchiveError:
            continue


# ── false certificates ──────────────────────────────────────────────────────────────────────────────────────


def _copied_digests(certificate: Certificate) -> None:
    """A page that changed: the digests of its visit are copied to its revisit."""
    changed = entry(certificate, HOME)
    first, last = changed["observations"]
    last["layers"] = dict(first["layers"])
    _call_sharp(certificate, HOME, ("visible_text", "links"))


def _moved_to_2019(certificate: Certificate) -> None:
    """All times are moved by the same number of seconds."""
    moved_s = parse_instant(certificate["instant"]["from"]) - parse_instant("2019-01-01")

    def moved(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: moved(one) for name, one in value.items()}
        if isinstance(value, list):
            return [moved(one) for one in value]
        is_time = isinstance(value, str) and value.startswith("2026-") and value.endswith("Z")
        return iso(parse_instant(value) - moved_s) if is_time else value

    certificate.update(moved(certificate))


def _without_blurred(certificate: Certificate) -> None:
    certificate["pages"] = [one for one in certificate["pages"] if one["verdict"] != "blurred"]
    certificate["counts"] |= {"blurred": 0, "pages": len(certificate["pages"]), "expected_sharp": "2.5"}


def _without_error(certificate: Certificate) -> None:
    """The 500 between the visit and the successful revisit is left out."""
    blurred = entry(certificate, B)
    del blurred["observations"][1]
    _call_sharp(certificate, B, ("visible_text", "links"))


def _error_as_original(certificate: Certificate) -> None:
    record = entry(certificate, B)["observations"][1]["record"]
    _without_error(certificate)
    certificate["archive"]["originals"].append(record)


def _error_as_other(certificate: Certificate) -> None:
    hidden = entry(certificate, B)["observations"][1]
    _without_error(certificate)
    certificate["others"].append({"url": B, "observations": [hidden]})


def _error_as_content(certificate: Certificate) -> None:
    entry(certificate, B)["observations"][1]["kind"] = "content"


def _absent_as_failure(certificate: Certificate) -> None:
    entry(certificate, GONE)["observations"][0]["kind"] = "failure"


def _swapped_layers(certificate: Certificate) -> None:
    layers = entry(certificate, A)["observations"][0]["layers"]
    layers["visible_text"], layers["links"] = layers["links"], layers["visible_text"]


def _false_main(certificate: Certificate) -> None:
    for seen in entry(certificate, HOME)["observations"]:
        seen["layers"]["main"] = "0" * 64


def _left_out_layer(certificate: Certificate) -> None:
    for seen in entry(certificate, A)["observations"]:
        del seen["layers"]["links"]


def _more_sharp(certificate: Certificate) -> None:
    certificate["counts"]["sharp"] += 1


def _more_by_bytes(certificate: Certificate) -> None:
    certificate["counts"]["sharp_by"]["raw"] += 1


def _wider_instant(certificate: Certificate) -> None:
    certificate["instant"]["to"] = iso(parse_instant(certificate["instant"]["to"]) + 1)


def _narrower_instant(certificate: Certificate) -> None:
    certificate["instant"]["to"] = iso(parse_instant(certificate["instant"]["to"]) - 1)


def _without_parts(certificate: Certificate) -> None:
    home = entry(certificate, HOME)
    home["parts"], home["composite"]["verdict"] = [], "sharp"
    certificate["counts"]["composite"] = {"sharp": 3, "coherent": 0, "violative": 0, "unknown": 0}


def _better_requisite(certificate: Certificate) -> None:
    entry(certificate, STYLE)["verdict"] = "sharp"


def _older_requisite(certificate: Certificate) -> None:
    entry(certificate, STYLE)["observations"][0]["last_modified"] = "2020-01-01T00:00:00Z"


def _not_cached(certificate: Certificate) -> None:
    cached = entry(certificate, A)
    del cached["observations"][0]["age_s"]
    cached["cached"] = False
    certificate["counts"]["cached"] = 0


def _other_target(certificate: Certificate) -> None:
    for seen in entry(certificate, OLD)["observations"]:
        seen["target"] = B


def _other_record(certificate: Certificate) -> None:
    seen = entry(certificate, A)["observations"]
    seen[1]["record"] = seen[0]["record"]


def _later_end(certificate: Certificate) -> None:
    entry(certificate, A)["observations"][0]["ended"] = certificate["instant"]["to"]


def _equal(certificate: Certificate) -> None:
    entry(certificate, A)["equal"]["raw"] = True


def _unknown_field(certificate: Certificate) -> None:
    certificate["endorsed_by"] = "everybody"


def _fraction(certificate: Certificate) -> None:
    certificate["sequence"] = 1.5


def _second_of_chain(certificate: Certificate) -> None:
    certificate["sequence"] = 2


def _other_title(certificate: Certificate) -> None:
    certificate["title"] = "Another title"


def _better_chance(certificate: Certificate) -> None:
    entry(certificate, A)["rate_per_day"] = "5000"


def _call_sharp(certificate: Certificate, url: str, compared: tuple[str, ...]) -> None:
    """Give a page all that a sharp page has."""
    called = entry(certificate, url)
    first, last = called["observations"][0], called["observations"][-1]
    called |= {"verdict": "sharp", "visit": 0, "revisit": len(called["observations"]) - 1, "compared": list(compared)}
    called["equal"] = {name: digest == last["layers"][name] for name, digest in first["layers"].items()}
    called |= {"changed_and_back": "0", "composite": {"verdict": "sharp", "contradicting": [], "unknown": []}}
    counts = certificate["counts"]
    counts["sharp"], counts["blurred"] = counts["sharp"] + 1, counts["blurred"] - 1
    counts["composite"]["sharp"] += 1
    counts["sharp_by"] = {name: number + 1 for name, number in counts["sharp_by"].items()}


@pytest.mark.parametrize(
    ("lie", "what"),
    [
        (_moved_to_2019, "its record"),
        (_without_blurred, "the certificate leaves it out"),
        (_without_error, "the certificate leaves it out"),
        (_error_as_original, "called an original"),
        (_error_as_other, "two entries for this URL"),
        (_error_as_content, "its record shows: error"),
        (_absent_as_failure, "its record shows: absent"),
        (_swapped_layers, "its layer 'visible_text' is not that of its content"),
        (_false_main, "its layer 'main' is not that of its content"),
        (_left_out_layer, "its layer 'links' is left out"),
        (_more_sharp, "the count 'sharp' is 4"),
        (_more_by_bytes, "the count 'sharp_by'"),
        (_wider_instant, "its verdict is 'sharp'"),
        (_narrower_instant, "the instant is not the time"),
        (_without_parts, "leaves it out of the page's parts"),
        (_better_requisite, "its verdict is 'sharp', but its observations give 'coherent'"),
        (_older_requisite, "its time of modification"),
        (_not_cached, "its age is '7'"),
        (_other_target, "the redirect leads to"),
        (_other_record, "that of another observation"),
        (_later_end, "its verdict is 'sharp'"),
        (_equal, "what is said about equal layers"),
        (_unknown_field, "endorsed_by"),
        (_fraction, "sequence"),
        (_second_of_chain, "its number in the chain"),
        (_other_title, "its title is not the certified one"),
        (_better_chance, "changed_and_back does not follow"),
    ],
)
def test_a_signed_lie(tmp_path: Path, lie: Callable[[Certificate], None], what: str) -> None:
    """A certificate that does not follow from its archive is refused, although its signature is valid."""
    path = repacked(make_package(tmp_path), lie)
    with WaczReader(path) as package:
        result = verify(package)
    assert result.signer.signature == "valid"
    assert any(what in failure.what for failure in result.failures), result.failures


def test_copied_digests(tmp_path: Path) -> None:
    """The digests of the first download, copied to the second one of a page that changed, are refused."""
    changed = [Sent(HOME, 23, page("another home")) if one[:2] == (HOME, 23) else one for one in RESPONSES]
    path = make_package(tmp_path, responses=tuple(changed))
    assert failures(path) == []
    assert entry(certificate_of(path), HOME)["verdict"] == "blurred"

    repacked(path, _copied_digests)
    assert any("its layer 'visible_text' is not that of its content" in failure.what for failure in failures(path))


def test_content_codings(tmp_path: Path) -> None:
    """Layers are those of the content without its coding."""
    path = make_package(tmp_path)
    layers = entry(certificate_of(path), HOME)["observations"][0]["layers"]
    body = next(one.body for one in RESPONSES if one.url == HOME)
    plain = ContentJob(url=HOME, body=body, content_type="text/html")
    coded = replace(plain, body=isal_zlib.compress(body, 1, 31), content_encoding="gzip")
    with ContentProcess() as process:
        assert process.recompute(plain).layers == process.recompute(coded).layers == layers
        assert process.recompute(replace(coded, body=coded.body[:-20])).problem


LIMITED = """
from webstrata.flows.verify.content_process import ContentProcess
from webstrata.flows.verify.recomputed_content import ContentJob

bomb = ContentJob(url="http://example.com/", body=bytes(50_000_000), content_type="text/html")
with ContentProcess(memory_bytes=30_000_000) as process:
    print(process.recompute(bomb).problem)
"""


def test_limits_of_contents() -> None:
    """A content that takes too much memory has no layers, and the next content is parsed again."""
    # In a process of its own: a fork of this one could use the memory that other tests have freed.
    limited = subprocess.run([sys.executable, "-c", LIMITED], check=True, capture_output=True, text=True)
    assert "memory or time" in limited.stdout
    with ContentProcess() as process:
        job = ContentJob(url=HOME, body=b"<p>text", content_type="text/html")
        assert process.recompute(job).layers.keys() >= {"raw", "visible_text", "links"}


# ── false packages ──────────────────────────────────────────────────────────────────────────────────────────


def test_an_added_index(tmp_path: Path) -> None:
    """A second index, or a line for a URL that was never captured, is refused, although all digests are right."""
    path = make_package(tmp_path)
    index = isal_zlib.decompress(contents(path)["indexes/index.cdx.gz"], 31)
    false = (
        index.splitlines(keepends=True)[0].replace(b"example.com", b"example.net").replace(b"com,example", b"net,ex")
    )
    added = isal_zlib.compress(index + false, 3, 31)
    block = contents(path)["indexes/index.idx"].splitlines(keepends=True)
    key = block[1].partition(b" {")[0]
    blocks = block[0] + key + b' {"offset": 0, "length": %d}\n' % len(added)

    repacked(path, files={"indexes/index.cdx.gz": added, "indexes/index.idx": blocks})
    assert "a line of the index has no record: http://example.net/" in failures(path)[0].what

    (tmp_path / "second").mkdir()
    path = repacked(make_package(tmp_path / "second"), files={"indexes/other.cdxj": false})
    assert [(one.page, one.what) for one in failures(path)] == [
        ("indexes/other.cdxj", "packages of captures have no such file")
    ]


def test_a_second_archive(tmp_path: Path) -> None:
    """A second WARC file with altered records under the same ids is refused."""
    path = make_package(tmp_path)
    whole = contents(path)["archive/data.warc.gz"]
    repacked(path, files={"archive/more.warc.gz": whole})
    assert any("two records have the id" in failure.what for failure in failures(path))


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"url": "http://example.com/never", "ts": "2026-09-21T14:13:21Z"}, "not a page of the certificate"),
        ({"url": A, "ts": "2019-01-01T00:00:00Z"}, "of none of its records"),
        ({"url": A, "ts": "2026-09-21T14:13:24Z", "title": "Another title"}, "its title is not"),
        ({"url": A, "ts": "2026-09-21T14:13:24Z", "title": "a", "text": "Another text"}, "its text is not"),
    ],
)
def test_page_lists(tmp_path: Path, row: dict[str, str], what: str) -> None:
    """A list of pages names captured pages only, with their own times, titles and texts."""
    path = make_package(tmp_path)
    header = contents(path)["pages/extraPages.jsonl"].splitlines(keepends=True)[0]
    repacked(path, files={"pages/extraPages.jsonl": header + json.dumps(row | {"id": "1"}).encode() + b"\n"})
    assert any(what in failure.what for failure in failures(path)), failures(path)


def test_the_description_of_the_package(tmp_path: Path) -> None:
    """Title and main page of the package are those of the certificate."""
    path = repacked(make_package(tmp_path), about={"title": "Another", "mainPageUrl": A})
    assert [failure.what for failure in failures(path)] == [
        "its title is not the certified one",
        "its main page is not the certified one",
    ]
