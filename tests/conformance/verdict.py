"""The result of one family of conformance cases: rows passed, contested by a written rule, failed and unplayed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Verdict:
    """Counts one family. Each row that did not pass is named, with what differed or why it was not played."""

    passed: int = 0
    contested: list[dict[str, str]] = field(default_factory=list)
    """`case`, `difference`, `rule`: our result differs on purpose; the rule says for which kind of case, and why."""
    failed: list[str] = field(default_factory=list)
    unplayed: list[dict[str, str]] = field(default_factory=list)
    """`case`, `reason`: the runner cannot play the row, so that nothing is known about the product."""

    def check(self, name: str, expected: object, actual: object, *, contested: str | None = None) -> None:
        """Count one case. `contested` is the sentence of a rule; a case that agrees all the same counts as passed."""
        if expected == actual:
            self.passed += 1
            return
        difference = f"expected {expected!r}, got {actual!r}"
        if contested:
            self.contested.append({"case": name, "difference": difference, "rule": contested})
        else:
            self.failed.append(f"{name}: {difference}")

    def leave_out(self, name: str, reason: str) -> None:
        """Count one row that was not played."""
        self.unplayed.append({"case": name, "reason": reason})

    def add(self, other: Verdict) -> None:
        """Add the counts of another verdict."""
        self.passed += other.passed
        self.contested += other.contested
        self.failed += other.failed
        self.unplayed += other.unplayed


def sentence_of(rules: Iterable[Callable[..., bool]], *case: Any) -> str | None:
    """The docstring of the first rule that holds for a case; None if no rule holds.

    A rule is a predicate on the content of a case. Its docstring is the written rule, which the output shows.
    """
    for rule in rules:
        if rule(*case):
            return " ".join((rule.__doc__ or "").split())
    return None
