"""`capture --resume`: the options of the first run are used again; some may be given anew, others may not differ."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from webstrata.errors import UsageError

if TYPE_CHECKING:
    from webstrata.flows.capture.events import CaptureOrder, CaptureRun
    from webstrata.node import Node

LAST = "last"
"""The word for the latest capture that did not reach its end."""
_NOT_RECORDED = ("store.",)
"""Settings that may contain a password: they are given again, or set in the file or the environment."""


class CaptureFiles(Struct, frozen=True, kw_only=True):
    """The files that the command writes."""

    out: Path | None
    picture: Path | None
    report: Path | None

    def extended(self, recorded: CaptureRun) -> CaptureFiles:
        """These files and, where none is given, those of the first run."""
        return replace(
            self,
            out=self.out or _path(recorded.out),
            picture=self.picture or _path(recorded.picture),
            report=self.report or _path(recorded.report),
        )


def recorded_run(flags: list[str], files: CaptureFiles) -> CaptureRun:
    """What the journal keeps of the command besides the order: settings, and files with their whole paths."""
    from webstrata.flows.capture.events import CaptureRun

    out, picture, report = (
        None if file is None else str(file.absolute()) for file in (files.out, files.picture, files.report)
    )
    kept = tuple(flag for flag in flags if not flag.strip().startswith(_NOT_RECORDED))
    return CaptureRun(settings=kept, out=out, picture=picture, report=report)


def resumed_name(node: Node, name: str) -> str:
    """The capture to resume; `last` is the latest one that did not reach its end."""
    if name != LAST:
        return name
    unfinished = node.unfinished_captures()
    if not unfinished:
        raise UsageError(
            "there is no capture that did not reach its end. --resume ID repeats nothing of a finished one."
        )
    return unfinished[-1]


def require_same(order: CaptureOrder, given: Mapping[str, Any]) -> None:
    """Raise UsageError if an option that cannot change differs from the order of the first run.

    `given`: by option, the value that the order must have; None if the option was not given.
    """
    recorded = {
        "--sharp": order.sharp,
        "--tau": order.tau,
        "--scope": order.scope,
        "--layer": order.layer,
        "--max-pages": order.max_pages,
        "--weights": order.weights,
        "--seeds": order.listed,
        "--sitemap": order.use_sitemap,
        "--render": order.render,
        "--requisites": order.max_requisites > 0,
    }
    for option, value in given.items():
        if value is not None and value != recorded[option]:
            raise UsageError(
                f"{option} is not as in the capture that is to be resumed ({_shown(recorded[option])}). Leave it out, or "
                "start a new capture. --delay, --set, --max-time, --repair, --out, --picture and --report may be given."
            )


def _shown(value: Any) -> str:
    match value:
        case bool():
            return "given" if value else "not given"
        case tuple() | dict():
            return f"{len(value)} lines"
        case None:
            return "not given"
        case _:
            return str(value)


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)
