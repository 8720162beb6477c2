"""The verdict: what happened to a page between two observations.

| before | now | outcome | counts |
|---|---|---|---|
| never seen | content | new | no: there is nothing to compare it with |
| never seen | gone | gone | no |
| content | content, deciding layer equal | same | no |
| content | content, deciding layer differs | changed | yes |
| content | gone | gone | yes |
| gone | gone | same | no |
| gone, or gone since first asked for | content | back | yes |

The deciding layer is the useful text where both sides have one, the bytes otherwise.
"""

from __future__ import annotations

from webstrata.detect.answer import Answer, read_answer
from webstrata.records import Change, Fingerprint, Observation, Outcome


def judge(before: Fingerprint | None, was_gone: bool, after: Observation) -> Change:
    """Compare what was last seen (`before`: the last content; `was_gone`: it had then disappeared) with what is now."""
    now = after.fingerprint
    if now is None or read_answer(after.status) is Answer.GONE:  # a 404's body is no content of the page
        return _gone(before, was_gone)
    if before is None:
        # A page that was gone from the first visit on, and now exists, is back as far as anyone watching it can tell.
        if was_gone:
            return Change(outcome=Outcome.BACK, counts=True, layer="status")
        return Change(outcome=Outcome.NEW, layer=layer_of(now))
    raw = before.raw != now.raw
    text = raw and _differ(before.text, now.text)
    links = raw and _differ(before.links, now.links)
    layer = "text" if before.text is not None and now.text is not None else "raw"
    counts = text if layer == "text" else raw
    if was_gone:
        return Change(outcome=Outcome.BACK, raw=raw, text=text, links=links, counts=True, layer="status")
    outcome = Outcome.CHANGED if counts else Outcome.SAME
    return Change(outcome=outcome, raw=raw, text=text, links=links, counts=counts, layer=layer)


def layer_of(fingerprint: Fingerprint) -> str:
    """The layer by which this content will be compared with the next."""
    return "raw" if fingerprint.text is None else "text"


def _gone(before: Fingerprint | None, was_gone: bool) -> Change:
    if was_gone:
        return Change(outcome=Outcome.SAME, layer="status")
    return Change(outcome=Outcome.GONE, counts=before is not None, layer="status")


def _differ(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one != other
