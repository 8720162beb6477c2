"""What tables of visits show in one cell: the outcome, the status or the reason of a failure, the change, the size."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import typer

from webstrata.cli.output import date_time, iso_or_none, size
from webstrata.records import FailingPage, Failure, Visit

_ERROR_STATUS = 400


def failure_class(status: int | None, failure: Failure) -> str:
    """The class of a failure, after the status if that is an error: `503 backoff`, `block-page`, `dns`."""
    shown = f"{status} " if status is not None and status >= _ERROR_STATUS else ""
    return f"{shown}{failure.kind}"


def failure_text(status: int | None, failure: Failure) -> str:
    """Why a visit failed: `503 server-error: status 503`, `block-page: DataDome block`, `dns: no such host`."""
    return failure_class(status, failure) + (f": {failure.detail}" if failure.detail else "")


MAX_CELL = 60
"""Characters of a reason in a table that ends with the URL."""


def cut(text: str) -> str:
    """A reason for a table that ends with the URL; `log URL` and JSON have it in full."""
    return text if len(text) <= MAX_CELL else f"{text[: MAX_CELL - 1]}…"


def result_text(visit: Visit) -> str:
    """The status of the response, or why the visit failed."""
    if visit.failure is not None:
        return failure_text(visit.status, visit.failure)
    return "" if visit.status is None else f"{visit.status}"


def status_text(visit: Visit) -> str:
    """The status of the response, in a column of its own."""
    return "-" if visit.status is None else f"{visit.status}"


def kind_text(visit: Visit) -> str:
    """`content 0.42`; `content 0.42 (back)` if the page had this content before; `new` for a first version."""
    if not visit.counts:
        return f"{visit.kind}"
    return f"{visit.kind} {visit.significance:.2f}" + (" (back)" if visit.reverted else "")


def changed_text(visit: Visit) -> str:
    """Kind and significance of a change; whether only the bytes differ."""
    if visit.counts:
        return kind_text(visit)
    return "bytes only" if visit.raw_changed else ""


def size_text(visit: Visit) -> str:
    """The size of what the visit received: `100.0 MB (cut)` if the body is incomplete."""
    return size(visit.bytes) + (" (cut)" if visit.truncated else "")


_CUT = {
    "length": "body cut at the size limit after {} (fetch.max_body)",
    "time": "body cut at the time limit after {} (fetch.total_timeout)",
    "disconnect": "body incomplete: the connection ended after {}",
}


def cut_note(visit: Visit) -> str:
    """Why the body of a visit is incomplete; empty if it is complete."""
    return _CUT.get(visit.truncated or "", "").format(size(visit.bytes))


def warn_of_cuts(visits: Iterable[Visit]) -> None:
    """Say on stderr which of the versions that are shown are incomplete."""
    for visit in visits:
        if note := cut_note(visit):
            typer.echo(f"The version of {date_time(visit.at)} is incomplete: {note}.", err=True)


def why_text(visit: Visit) -> str:
    """In words: why the visit failed, or why the change has its significance and what was learned."""
    if visit.failure is not None:
        return "; ".join(filter(None, (failure_text(None, visit.failure), cut_note(visit))))
    return "; ".join(filter(None, (*visit.reasons, *visit.learned, cut_note(visit)))) or "-"


def warc_text(visit: Visit) -> str:
    """File and offset of the record in the archive."""
    return f"{visit.position.file}:{visit.position.offset}" if visit.position else "-"


def failure_json(failing: FailingPage | None) -> dict[str, Any] | None:
    """The last failure of a page for JSON documents; None if its last visit did not fail."""
    if failing is None:
        return None
    return {
        "at": iso_or_none(failing.at),
        "since": iso_or_none(failing.since),
        "status": failing.status,
        "kind": failing.failure.kind,
        "detail": failing.failure.detail,
    }
