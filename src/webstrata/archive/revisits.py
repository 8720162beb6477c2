"""The contents of revisit records.

A revisit record has no payload of its own: its writer states that it was that of another record. The other record is
found by its identifier, else by its URL and date, else by the digest of its payload. If it is in none of the files, or
if its payload has another digest than the revisit declares, the content is known by the declared digest only.
"""

from __future__ import annotations

from collections.abc import Sequence

from webstrata.archive.seen_records import PayloadDigests, RevisitClaim, SeenRecord, capture_key, declared_content
from webstrata.digests import Digest

_AMBIGUOUS = -1


def resolve_revisits(seen: list[SeenRecord], digests: PayloadDigests) -> None:
    """Set the contents of all revisits. Takes time in proportion to the number of records, also for long chains."""
    claims = [one.claim for one in seen if one.claim is not None]
    by_record = _index(seen, [one.record for one in seen], {claim.record for claim in claims} - {None})
    keys = [capture_key(one.url, one.at) for one in seen]
    by_capture = _index(seen, keys, {claim.capture for claim in claims} - {None})

    def original(claim: RevisitClaim) -> SeenRecord | None:
        for found in (by_record.get(claim.record), by_capture.get(claim.capture)):
            if found is not None and found != _AMBIGUOUS:
                return seen[found]
        return None

    for one in seen:
        chain: dict[int, SeenRecord] = {}
        at: SeenRecord | None = one
        while at is not None and at.claim is not None:
            chain[id(at)] = at
            following = original(at.claim)
            at = None if following is not None and id(following) in chain else following  # a circle has no payload
        for revisit in reversed(chain.values()):
            _settle(revisit, at, digests)
            at = revisit


def _index(seen: Sequence[SeenRecord], keys: Sequence[int | None], wanted: set[int | None]) -> dict[int | None, int]:
    """The record for each wanted key. A record with a payload precedes revisits; several contents are ambiguous."""
    found: dict[int | None, int] = {}
    for index, (one, key) in enumerate(zip(seen, keys, strict=True)):
        if key not in wanted:
            continue
        before = found.get(key)
        if before is None or (before != _AMBIGUOUS and seen[before].claim is not None and one.claim is None):
            found[key] = index
        elif before != _AMBIGUOUS and (one.claim is None or seen[before].claim is not None):
            is_same = one.claim is None and one.content == seen[before].content and one.status == seen[before].status
            found[key] = before if is_same else _AMBIGUOUS
    return found


def _settle(revisit: SeenRecord, original: SeenRecord | None, digests: PayloadDigests) -> None:
    """Set the content of a revisit, whose original is settled; without an original, by the declared digest."""
    claim, revisit.claim = revisit.claim, None
    digest = claim.digest if claim is not None else None
    if revisit.target:
        revisit.evidence = "payload"  # its own head names the target
        return
    if original is not None and original.content and digest is not None:
        is_other = _is_other(digest, original, digests)
        revisit.has_wrong_digest = is_other
        original = None if is_other else original
    content = original.content if original is not None else ""
    content = content or (digests.content(digest) if digest is not None else None) or ""
    if content:
        revisit.content = content
        revisit.evidence = "declared" if original is not None and original.evidence == "declared" else "revisit"
    elif digest is not None:
        revisit.content, revisit.evidence = declared_content(digest), "declared"
    if original is not None:
        revisit.failure = revisit.failure or original.failure
        if revisit.status in (0, 304):
            revisit.status, revisit.target = original.status, original.target


def _is_other(digest: Digest, original: SeenRecord, digests: PayloadDigests) -> bool:
    """Whether the payload of the original certainly has another digest than the revisit declares."""
    if original.target:
        return False  # the content of a redirect is its target, not its payload
    if original.evidence == "declared":
        return original.content != declared_content(digest)
    return digests.contradicts(digest, original.content)
