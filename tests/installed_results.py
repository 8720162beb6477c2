"""Prints fingerprints, links, texts and forecasts of the installed package as JSON (`… installed_results.py FOLDER`).

FOLDER holds the published vectors (tests/data/fingerprint). `test_hatch_build.py` runs this with different wheels, and
the build of the released wheels runs it, too. The exit code is 1 if a fingerprint is not the published one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import webstrata
from webstrata.observe.html.links import LinkResolver
from webstrata.observe.kernel.choice import KERNEL
from webstrata.observe.page import fingerprint
from webstrata.predict.activity import Activity
from webstrata.predict.poisson import irregular_rate
from webstrata.predict.visit_history import visit_history

BASE = "https://a.test/x/"
HREFS = b"a\0/b?utm_source=c\0http://d.test\0../e.pdf\0#f\0"


def main() -> None:
    folder = Path(sys.argv[1])
    random = np.random.default_rng(1)
    activity = Activity()
    beliefs = random.dirichlet(np.ones(activity.width), 50).astype(np.float32)
    lengths, changed = random.uniform(0.01, 90, 600), random.random(600) < 0.4
    results = {
        "package": str(Path(webstrata.__file__).parent),
        "mismatches": [case["name"] for case in json.loads((folder / "vectors.json").read_text("utf-8"))
                       if not is_as_published(case, folder)],
        "links": repr(LinkResolver(BASE).links(HREFS, BASE)),
        "text": KERNEL.scan_text("<p>one<br>two<b>three</b>&amp;<img>four"),
        "forecast": np.column_stack(activity.forecast(beliefs, random.uniform(0, 500, 50))).tobytes().hex(),
        "rates": irregular_rate(visit_history(range(0, 601, 20), lengths, changed)).tolist(),
    }  # fmt: skip
    print(json.dumps(results))
    sys.exit(1 if results["mismatches"] else 0)


def is_as_published(case: dict[str, Any], folder: Path) -> bool:
    html = case["html"].encode() if "html" in case else (folder / case["file"]).read_bytes()
    computed = fingerprint(html, "text/html", "utf-8", BASE)
    simhash = None if computed.simhash is None else f"{computed.simhash:016x}"
    return (list(computed.parts or ()), simhash) == (case["parts"], case["simhash"])


if __name__ == "__main__":
    main()
