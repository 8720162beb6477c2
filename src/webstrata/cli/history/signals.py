"""How sources of signals are shown: what they said of a page, and how far they are trusted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from webstrata.cli.output import moment, when
from webstrata.clock import parse_instant, span
from webstrata.records import Announcement, SignalSource


def trust_json(source: SignalSource) -> dict[str, Any]:
    """How right a source was."""
    from webstrata.predict.source_trust import is_trusted, precision, recall

    return {
        "trusted": is_trusted(source.right, source.wrong),
        "precision": round(float(precision(source.right, source.wrong)), 4),
        "recall": round(float(recall(source.announced, source.silent)), 4),
        "right": round(source.right, 4),
        "wrong": round(source.wrong, 4),
        "announced": round(source.announced, 4),
        "silent": round(source.silent, 4),
        "mean_delay_s": round(source.delay_s / source.delays, 1) if source.delays > 0 else None,
        "reads": source.reads,
        "floods": source.floods,
        "last_read": when(source.read_at),
    }


def signals_json(said: Iterable[Announcement], sources: Sequence[SignalSource]) -> list[dict[str, Any]]:
    """The last word of each source on a page, with the trust in the source."""
    known = {source.id: source for source in sources}
    return [
        {
            "source": known[one.source_id].url,
            "kind": known[one.source_id].kind,
            "says": when(one.at),
            "read": when(one.seen_at),
            "news": one.news,
            **{name: value for name, value in trust_json(known[one.source_id]).items() if name in _SHOWN},
        }
        for one in said
        if one.source_id in known
    ]


_SHOWN = ("trusted", "precision", "recall", "right", "wrong", "mean_delay_s")


def spoken_signal(signal: dict[str, Any]) -> str:
    """One line for people."""
    said = moment(parse_instant(signal["says"])) if signal["says"] else "no time"
    news = "news since the last visit" if signal["news"] else "no news"
    return f"{signal['source']} says {said}: {news}; {spoken_trust(signal)}"


def spoken_trust(trust: dict[str, Any]) -> str:
    checked = trust["right"] + trust["wrong"]
    word = "trusted" if trust["trusted"] else "not trusted"
    if not checked:
        return f"{word}: no visit has checked it yet"
    late = "" if trust["mean_delay_s"] is None else f", read {span(trust['mean_delay_s'])} after"
    return f"{word}: its word is good for {trust['precision']:.0%}, tells {trust['recall']:.0%} of the changes{late}"
