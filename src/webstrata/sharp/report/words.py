"""The sentences of a report: what is proved, and what is not."""

from __future__ import annotations

from datetime import UTC, datetime

from webstrata.sharp.proof.stated_certificate import StatedCertificate, StatedInterval
from webstrata.wording import agreeing, counted

WITH = {
    "visible": "with exactly this text and these links",
    "raw": "with exactly these bytes",
    "links": "with exactly these links",
    "main": "with exactly this useful content",
    "data": "with exactly these data",
    "selected": "with exactly this content in the parts that their rules select",
    "auto": "with exactly this content, as far as it decides about changes of each page",
}
_NOT_COMPARED = {
    "visible": "Compared were the whole visible text and all links of pages, and the bytes of other files. Not "
    "compared was how pages look: styles, the pixels of images, and what scripts do after a page is loaded.",
    "raw": "All bytes of each page were compared. The files that a page loads are judged separately.",
    "links": "Only the links of pages were compared, and the bytes of other files. Their text may have been different.",
    "main": "Only the useful content of pages was compared. Menus, advertisements and other text around it may have "
    "been different.",
    "data": "The data of files were compared, not their form; of pages without data, the visible text and the links.",
    "selected": "Of pages with rules, only the parts that the rules select were compared; of other pages, the visible "
    "text and the links. The rules are below, word for word.",
    "auto": "For each page, what decides about its changes was compared: the parts that its rules select, its data or "
    "its useful content. Other parts may have been different.",
}


def pages(number: int) -> str:
    """A number of pages."""
    return counted(f"{number:,}", "page")


def moment(at: str) -> datetime | None:
    """A time of a certificate; None if it is none."""
    try:
        read = datetime.fromisoformat(at)
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def instant_words(instant: StatedInterval) -> str:
    """`at 10:17:57 UTC on 18 November 2026`."""
    start, end = moment(instant.start), moment(instant.end)
    if start is None or end is None:
        return f"from {instant.start} to {instant.end}"
    if (end - start).total_seconds() < 1:
        return f"at {start:%H:%M:%S} UTC on {_date(start)}"
    if start.date() == end.date():
        return f"from {start:%H:%M:%S} to {end:%H:%M:%S} UTC on {_date(start)}"
    return f"from {start:%H:%M:%S} UTC on {_date(start)} to {end:%H:%M:%S} UTC on {_date(end)}"


def _date(at: datetime) -> str:
    return f"{at.day} {at:%B %Y}"


def proof(capture: StatedCertificate) -> str:
    """The statement of the certificate in one sentence."""
    counts = capture.counts
    if not capture.policy.sharp:
        return (
            f"Each page ({pages(counts.pages)} in all) was downloaded once. This proves of no two of them that they "
            "existed together."
        )
    if not capture.is_sharp_capture or capture.instant is None:
        return f"Of none of the pages ({pages(counts.pages)} in all) is it proved that it existed at one instant."
    which = f"These {pages(counts.sharp)} existed together" if counts.sharp > 1 else "This page existed"
    with_what = WITH.get(capture.policy.layer, "with this content")
    if counts.sharp == 1:
        with_what = with_what.replace("their rules", "its rules")
    return f"{which} {instant_words(capture.instant)} {with_what}."


def limits(capture: StatedCertificate, *, is_stamped: bool) -> list[str]:
    """What the proof does not cover, one paragraph each."""
    counts, policy = capture.counts, capture.policy
    if not capture.is_sharp_capture:
        return [_clock(is_stamped), _key()]
    found = [_NOT_COMPARED.get(capture.policy.layer, f"Compared was the layer {capture.policy.layer}.")]
    if policy.rendered:
        found.append("Pages were compared as they were after their scripts had run in a browser.")
    if policy.conditional_requests:
        found.append(
            "Servers were allowed to answer a revisit with “not modified”. Equality is then the server's statement."
        )
    if counts.cached:
        found.append(
            f"{pages(counts.cached)} came from a cache whose copy was older than the request (mark "
            "“cached”). The proof is about what the cache sent; the site itself may have been ahead of it."
        )
    if counts.script_shells:
        found.append(
            f"{pages(counts.script_shells)} {agreeing(counts.script_shells, 'consists', 'consist')} of scripts that "
            "load what readers see (mark “script shell”). The proof does not cover what they load."
        )
    found.append(_changed_and_back(capture))
    if counts.pages > counts.sharp:
        rest = counts.pages - counts.sharp
        which = agreeing(rest, "other page", f"other {pages(rest)}")
        found.append(f"Nothing is proved about the {which} of the capture.")
    violative = counts.composite.get("violative", 0)
    if violative:
        found.append(
            f"{pages(violative)} of the proved ones {agreeing(violative, 'loads', 'load')} files that are known to be "
            "from another time."
        )
    return [*found, _clock(is_stamped), _key()]


def _changed_and_back(capture: StatedCertificate) -> str:
    chances = [number(page.changed_and_back or "0") for page in capture.pages if page.verdict == "sharp"]
    return (
        "A page may have changed and changed back between its visit and its revisit. By the pages' rates of change, "
        f"{_small(sum(chances))} of the {pages(len(chances))} are expected to have done so."
    )


def _small(value: float) -> str:
    return f"{value:.2g}" if value >= 0.001 or not value else "less than 0.001"


def _clock(is_stamped: bool) -> str:
    stamp = (
        "A time-stamp authority confirms that the package existed when it was signed."
        if is_stamped
        else "No time-stamp authority confirms when it was signed."
    )
    return f"All times are those of the clock of the computer that made the capture. {stamp}"


def _key() -> str:
    return (
        "The signature proves that nothing was altered after the signing. Whether you believe the signer is for you to "
        "decide: compare the fingerprint of the key with one that you got from the signer in another way."
    )


def number(text: str) -> float:
    """A decimal string as a number; 0 if it is none."""
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if 0 <= value < 1e12 else 0.0
