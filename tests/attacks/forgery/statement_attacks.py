"""Attacks on what the certificate states: verdicts, times, layers, marks and counts, signed with the real key."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from tests.attacks.forgery.attack_list import attack
from tests.attacks.forgery.forged_package import Depth, ForgedPackage
from webstrata.verifier.verify_capture import when


def _later(text: str, **span: float) -> str:
    return (when(text) + timedelta(**span)).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _call_sharp(page: Any) -> None:
    page |= {"verdict": "sharp", "visit": 0, "revisit": len(page["observations"]) - 1}


# ── verdicts ────────────────────────────────────────────────────────────────────────────────────────────────────────


@attack("sharp|verdict|blurred")
def blurred_called_sharp(forged: ForgedPackage) -> bytes:
    """A page that changed is called sharp, and counted so."""
    _call_sharp(forged.page("changing"))
    forged.recount()
    return forged.pack(Depth.SIGNER)


@attack("layer|content|digest")
def copied_layers(forged: ForgedPackage) -> bytes:
    """The layers of the visit are copied to the revisit of a changed page, which is called sharp."""
    page = forged.page("changing")
    first, last = page["observations"][0], page["observations"][-1]
    last["layers"] = dict(first["layers"])
    page["equal"] = dict.fromkeys(first["layers"], True)
    _call_sharp(page)
    forged.recount()
    return forged.pack(Depth.SIGNER)


@attack("absent|sharp|verdict|status|kind")
def absent_called_sharp(forged: ForgedPackage) -> bytes:
    """A missing page is called sharp."""
    _call_sharp(forged.page("gone"))
    forged.recount()
    return forged.pack(Depth.SIGNER)


@attack("kind|status|content|called|absent")
def absent_called_content(forged: ForgedPackage) -> bytes:
    """The 404 of a page is called content, so that the page can be sharp."""
    page = forged.page("gone")
    for seen in page["observations"]:
        seen["kind"] = "content"
    _call_sharp(page)
    forged.recount()
    return forged.pack(Depth.SIGNER)


@attack("kind|status|called|error|content")
def error_called_content(forged: ForgedPackage) -> bytes:
    """The 500 of a page is called content."""
    forged.page("flaky")["observations"][1]["kind"] = "content"
    return forged.pack(Depth.SIGNER)


@attack("status")
def other_status(forged: ForgedPackage) -> bytes:
    """The 500 of a page is stated as 200."""
    forged.page("flaky")["observations"][1] |= {"status": 200, "kind": "content"}
    return forged.pack(Depth.SIGNER)


@attack("sharp|verdict|error|instant|blurred")
def error_as_the_instant(forged: ForgedPackage) -> bytes:
    """The page with the 500 is called the instant itself."""
    page = forged.page("flaky")
    seen = page["observations"][1]
    page |= {"verdict": "sharp", "visit": 1, "revisit": None}
    forged.certificate["instant"] = {"from": seen["started"], "to": seen["ended"]}
    forged.recount()
    return forged.pack(Depth.SIGNER)


@attack("verdict|sharp|it is|unvisited|observation")
def blurred_called_unvisited(forged: ForgedPackage) -> bytes:
    """A blurred page is called unvisited, which sounds like a limit of the capture."""
    forged.page("changing")["verdict"] = "unvisited"
    forged.recount()
    return forged.pack(Depth.SIGNER)


@attack("record|response|failure|named|status")
def response_called_failure(forged: ForgedPackage) -> bytes:
    """The contrary response of a page is called a failure without a response."""
    page = forged.page("flaky")
    seen = page["observations"][1]
    page["observations"][1] = {
        "started": seen["started"],
        "ended": seen["ended"],
        "status": 0,
        "kind": "failure",
        "why": "reset",
    }
    return forged.pack(Depth.SIGNER)


@attack("count")
def raised_counts(forged: ForgedPackage) -> Iterator[bytes]:
    """A count is raised: of sharp pages, of pages, or of pages that are sharp by their bytes."""
    for name in ("sharp", "pages", "raw", "visible", "composite"):
        other = ForgedPackage(forged.honest)
        counts = other.certificate["counts"]
        holder = {"raw": counts["sharp_by"], "visible": counts["sharp_by"], "composite": counts["composite"]}.get(
            name, counts
        )
        holder["sharp" if name == "composite" else name] += 1
        yield other.pack(Depth.SIGNER)


@attack("composite|part")
def composite_lies(forged: ForgedPackage) -> bytes:
    """A page whose image nobody can date is called sharp as a whole."""
    forged.page("")["composite"] = {"verdict": "sharp", "contradicting": [], "unknown": []}
    return forged.pack(Depth.SIGNER)


@attack("verdict|it is|coherent|unknown|sharp")
def requisite_called_sharp(forged: ForgedPackage) -> bytes:
    """A requisite that was downloaded once is called sharp."""
    forged.page("i.png")["verdict"] = "sharp"
    return forged.pack(Depth.SIGNER)


@attack("last_modified|modifi")
def forged_last_modified(forged: ForgedPackage) -> bytes:
    """A requisite is said to be unmodified since 2019, so that it looks coherent."""
    forged.page("i.png")["observations"][0]["last_modified"] = "2019-01-01T00:00:00Z"
    return forged.pack(Depth.SIGNER)


@attack("target|location|redirect")
def other_redirect_target(forged: ForgedPackage) -> bytes:
    """A redirect is said to lead elsewhere."""
    for seen in forged.page("moved")["observations"]:
        seen["target"] = forged.url("other")
    return forged.pack(Depth.SIGNER)


@attack("order|started|observation")
def observations_in_another_order(forged: ForgedPackage) -> bytes:
    """The observations of a page are in another order."""
    page = forged.page("changing")
    page["observations"].reverse()
    return forged.pack(Depth.SIGNER)


@attack("visit|around|instant")
def visit_and_revisit_swapped(forged: ForgedPackage) -> bytes:
    """Visit and revisit of a page are swapped."""
    page = forged.page("steady")
    page["visit"], page["revisit"] = page["revisit"], page["visit"]
    return forged.pack(Depth.SIGNER)


@attack("twice|two|listed|both|repeated|more than|records")
def page_listed_twice(forged: ForgedPackage) -> bytes:
    """A sharp page is listed twice, which raises the share of sharp pages."""
    forged.certificate["pages"].append(dict(forged.page("steady")))
    forged.recount()
    return forged.pack(Depth.SIGNER)


# ── times ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@attack("started|time|date|instant")
def times_moved_to_2019(forged: ForgedPackage) -> bytes:
    """All times of the certificate are moved to 2019; the records have the real ones."""
    text = forged.certificate
    for entry in [*text["pages"], *text["requisites"], *text["others"]]:
        for seen in entry["observations"]:
            seen |= {name: "2019" + seen[name][4:] for name in ("started", "ended")}
    text["instant"] = {name: "2019" + value[4:] for name, value in text["instant"].items()}
    return forged.pack(Depth.SIGNER)


@attack("started|time|date")
def visit_moved_before_the_instant(forged: ForgedPackage) -> bytes:
    """The revisit of a page is said to have been before the instant."""
    seen = forged.page("changing")["observations"][-1]
    seen |= {"started": _later(seen["started"], hours=-1), "ended": _later(seen["ended"], hours=-1)}
    return forged.pack(Depth.SIGNER)


@attack("instant")
def widened_instant(forged: ForgedPackage) -> bytes:
    """The instant is said to be an hour longer."""
    forged.certificate["instant"]["to"] = _later(forged.certificate["instant"]["to"], hours=1)
    return forged.pack(Depth.SIGNER)


@attack("instant")
def moved_instant(forged: ForgedPackage) -> bytes:
    """The instant is moved by an hour."""
    forged.certificate["instant"] = {
        name: _later(text, hours=-1) for name, text in forged.certificate["instant"].items()
    }
    return forged.pack(Depth.SIGNER)


@attack("instant")
def narrowed_instant(forged: ForgedPackage) -> bytes:
    """The instant is narrowed by a microsecond, as if it were known better."""
    forged.certificate["instant"]["from"] = _later(forged.certificate["instant"]["from"], microseconds=1)
    return forged.pack(Depth.SIGNER)


@attack("instant|ended|time")
def shortened_download(forged: ForgedPackage) -> bytes:
    """The last visit before the instant is said to have ended earlier, so that the instant could be longer."""
    instant = forged.certificate["instant"]
    for page in forged.certificate["pages"]:
        for seen in page["observations"]:
            if seen["ended"] == instant["from"] or seen["ended"] == instant["to"]:
                seen["ended"] = seen["started"]
    return forged.pack(Depth.SIGNER)


@attack("ended|time|before")
def ended_before_it_started(forged: ForgedPackage) -> bytes:
    """A download is said to have ended before it started."""
    seen = forged.page("steady")["observations"][0]
    seen["ended"] = _later(seen["started"], seconds=-1)
    return forged.pack(Depth.SIGNER)


@attack("issued|future|time|clock")
def issued_in_the_future(forged: ForgedPackage) -> bytes:
    """The certificate is said to be issued in a hundred years."""
    forged.certificate["issued"] = _later(forged.certificate["issued"], days=36_500)
    return forged.pack(Depth.SIGNER)


@attack("issued|before|time")
def issued_before_the_capture(forged: ForgedPackage) -> bytes:
    """The certificate is said to be issued before the last download."""
    forged.certificate["issued"] = "2019" + forged.certificate["issued"][4:]
    return forged.pack(Depth.SIGNER)


# ── marks, layers and rules ─────────────────────────────────────────────────────────────────────────────────────────


@attack("age|cache")
def hidden_cache(forged: ForgedPackage) -> bytes:
    """The age of a cached response is left out, and the mark of its page removed."""
    page = forged.page("cached")
    for seen in page["observations"]:
        seen.pop("age_s")
        seen.pop("cache")
    page["cached"] = False
    forged.certificate["counts"]["cached"] -= 1
    return forged.pack(Depth.SIGNER)


@attack("cache")
def hidden_mark_of_a_cached_page(forged: ForgedPackage) -> bytes:
    """The observations state the cache, but the page is not marked."""
    forged.page("cached")["cached"] = False
    forged.certificate["counts"]["cached"] -= 1
    return forged.pack(Depth.SIGNER)


@attack("script")
def hidden_script_shell(forged: ForgedPackage) -> bytes:
    """A page that is empty without its scripts is not marked so."""
    page = forged.page("shell")
    for seen in page["observations"]:
        seen.pop("script_shell")
    page["script_shell"] = False
    forged.certificate["counts"]["script_shells"] -= 1
    return forged.pack(Depth.SIGNER)


@attack("content_type|type")
def other_content_type(forged: ForgedPackage) -> bytes:
    """A page is said to be of another type, so that another layer is compared."""
    for seen in forged.page("changing")["observations"]:
        seen["content_type"] = "text/plain"
    return forged.pack(Depth.SIGNER)


@attack("layer")
def left_out_layer(forged: ForgedPackage) -> bytes:
    """The layers by which a changed page differs are left out."""
    page = forged.page("changing")
    for seen in page["observations"]:
        seen["layers"] = {name: value for name, value in seen["layers"].items() if name == "links"}
    return forged.pack(Depth.SIGNER)


@attack("layer|content")
def hidden_rule(forged: ForgedPackage) -> bytes:
    """A rule that ignores the changing number was applied to the visible text, and is left out."""
    page = forged.page("changing")
    first, last = page["observations"][0], page["observations"][-1]
    last["layers"]["visible_text"] = first["layers"]["visible_text"]
    last["layers"]["links"] = first["layers"]["links"]
    page["equal"] |= {"visible_text": True, "links": True}
    _call_sharp(page)
    forged.recount()
    forged.certificate["counts"]["sharp_by"]["visible"] += 1
    return forged.pack(Depth.SIGNER)


@attack("rules|layer|selected")
def rule_without_its_words(forged: ForgedPackage) -> bytes:
    """The layer `selected` decides, and the rules by which it selects are left out."""
    forged.certificate["policy"]["layer"] = "selected"
    for page in forged.certificate["pages"]:
        for seen in page["observations"]:
            if "visible_text" in seen.get("layers", {}):
                seen["layers"]["selected"] = "0" * 64
        if page["compared"] == ["visible_text", "links"]:
            page["compared"] = ["selected"]
            if len(page["observations"]) > 1:
                page["equal"]["selected"] = True
    return forged.pack(Depth.SIGNER)


@attack("layer|content")
def other_layer_as_visible(forged: ForgedPackage) -> bytes:
    """The digests of the main content are stated as those of the visible text."""
    for page in forged.certificate["pages"]:
        for seen in page["observations"]:
            if "main" in seen.get("layers", {}):
                seen["layers"]["visible_text"] = seen["layers"]["main"]
    return forged.pack(Depth.SIGNER)


@attack("compared|layer|verdict|sharp|key")
def other_policy(forged: ForgedPackage) -> bytes:
    """The policy names a layer that ignores more than the one by which pages were compared, or less."""
    forged.certificate["policy"]["layer"] = "links"
    return forged.pack(Depth.SIGNER)


@attack("chain|previous|sequence")
def broken_chain(forged: ForgedPackage) -> Iterator[bytes]:
    """The certificate claims to be a later one of its site without naming the one before, or the other way round."""
    for sequence, previous in ((7, None), (1, {"capture": "x", "certificate": "sha256:" + "0" * 64}), (0, None)):
        forged.certificate |= {"sequence": sequence, "previous": previous}
        yield forged.pack(Depth.SIGNER)


@attack("version|type")
def other_version(forged: ForgedPackage) -> bytes:
    """The certificate states another version, whose rules a verifier does not know."""
    forged.certificate["version"] = 3
    return forged.pack(Depth.SIGNER)


@attack("")
def malformed_values(forged: ForgedPackage) -> Iterator[bytes]:
    """Fields have values of another type, which a verifier must not take for valid, and must survive."""
    for name in ("pages", "instant", "counts", "policy", "issued"):
        values: list[Any] = [None, 7, "x", [], {}, [[]], "9" * 5000]
        for value in values:
            other = ForgedPackage(forged.honest)
            other.certificate[name] = value
            yield other.pack(Depth.SIGNER)
    nested = ForgedPackage(forged.honest)
    nested.repair(Depth.SIGNER)
    nested.files["proof/certificate.json"] = b"[" * 100_000
    nested.repair(Depth.DIGESTS)
    yield nested.zipped()
