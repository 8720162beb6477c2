"""Display of signals: what feeds and sitemaps announce about a page, and how reliable these sources are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from webstrata.cli.output import date_time, iso_or_none
from webstrata.clock import DAY_S, parse_instant, span
from webstrata.records import Announcement, SignalSource


def trust_json(source: SignalSource) -> dict[str, Any]:
    """The reliability of a source, for JSON documents."""
    from webstrata.predict.source_quality import SourceQuality
    from webstrata.schedule.announcements import quality_rows

    quality, row = SourceQuality(), quality_rows([source])
    return {
        "trusted": bool(quality.trusted(row)[0]),
        "precision": round(float(quality.precision(row)[0]), 4),
        "recall": round(float(quality.recall(row)[0]), 4),
        "announced": round(source.announced, 4),
        "right": round(source.announced_changed, 4),
        "expected": round(source.announced_expected, 4),
        "silent": round(source.silent_changed, 4),
        "mean_delay_s": round(DAY_S * float(quality.delay_days(row)[0]), 1) if source.dated > 0 else None,
        "reads": source.reads,
        "floods": source.floods,
        "last_read": iso_or_none(source.read_at),
    }


def signals_json(announcements: Iterable[Announcement], sources: Sequence[SignalSource]) -> list[dict[str, Any]]:
    """The latest announcement of each source about a page, with the reliability of the source."""
    by_id = {source.id: source for source in sources}
    return [
        {
            "source": by_id[announcement.source_id].url,
            "kind": by_id[announcement.source_id].kind,
            "says": iso_or_none(announcement.at),
            "read": iso_or_none(announcement.seen_at),
            "news": announcement.news,
            **{name: value for name, value in trust_json(by_id[announcement.source_id]).items() if name in _SHOWN},
        }
        for announcement in announcements
        if announcement.source_id in by_id
    ]


_SHOWN = ("trusted", "precision", "recall", "announced", "right", "expected", "mean_delay_s")


def signal_text(signal: dict[str, Any]) -> str:
    """An item of `signals_json` in one line, for display."""
    when = f"change at {date_time(parse_instant(signal['says']))}" if signal["says"] else "no time given"
    news = "new since the last visit" if signal["news"] else "not new since the last visit"
    return f"{signal['source']}: {when}, {news}; {trust_text(signal)}"


def trust_text(trust: dict[str, Any]) -> str:
    """The reliability of a source (`trust_json`), for display."""
    word = "trusted" if trust["trusted"] else "not trusted"
    if not trust["announced"]:
        return f"{word}: no visit has checked it yet"
    delay = f", {span(trust['mean_delay_s'])} late" if trust["mean_delay_s"] else ""
    return (
        f"{word}: {trust['right']:.0f} of {trust['announced']:.0f} announcements were right, where chance explains "
        f"{trust['expected']:.1f}; it announces {trust['recall']:.0%} of the changes{delay}"
    )
