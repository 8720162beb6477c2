"""What a family of conformance cases says of us."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Verdict:
    """Counts one family. `contested` and `failed` name the case and say what differed."""

    passed: int = 0
    contested: list[str] = field(default_factory=list)
    """Sources disagree about this case; our choice is documented in docs/decisions or docs/reference."""
    failed: list[str] = field(default_factory=list)

    def check(self, name: str, expected: object, actual: object, *, contested: bool = False) -> None:
        """Count one case. A contested case that agrees with its source anyway counts as passed."""
        if expected == actual:
            self.passed += 1
            return
        line = f"{name}: expected {expected!r}, got {actual!r}"
        (self.contested if contested else self.failed).append(line)
