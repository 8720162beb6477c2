"""`python -m tests.attacks.forgery`: make every forgery, and print what both verifiers say, as a table in Markdown.

The exit code is 1 if a verifier accepts a forgery.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.attacks.forgery import every_attack
from tests.attacks.forgery.attack_list import outcome
from tests.attacks.forgery.honest_capture import make_honest_capture


def main() -> int:
    accepted = False
    print("| attack | first verifier | second verifier |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        honest = make_honest_capture(Path(folder))
        for forgery in every_attack():
            results = [outcome(forgery, honest, verifier, Path(folder)) for verifier in ("first", "second")]
            accepted = accepted or any(not result.startswith(forgery.expected) for result in results)
            print(f"| {forgery.summary} |", " | ".join(result.partition(":")[0] for result in results), "|", flush=True)
    return 1 if accepted else 0


if __name__ == "__main__":
    sys.exit(main())
